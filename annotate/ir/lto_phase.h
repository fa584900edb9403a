/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module carries the options that the linker's plugin must know from compiler to linker: lld reads -mllvm before it
 * loads plugins, so options do not reach a link. It is the module flag
 *
 *   !{i32 6, !"memprof.hints", !{!{i8 222, i8 0, i8 128, i8 254, i32 0, i32 1}}}
 *
 * the hints of ambiguous, cold, notcold and hot calls, whether calls that are no builtins get hints, and whether the plan
 * places contexts. Linking modules that differ makes a list of these; the first holds, and the plugin warns. */
#ifndef HEARTH_LTO_PHASE_H
#define HEARTH_LTO_PHASE_H

#include "passes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Another flag names the profile by whose plan the module's contexts are to be told apart in the link (context_word.h):
 *
 *   !{i32 6, !"memprof.plan", !{!{!"/home/me/app.prof", i64 PLAN}}}
 *
 * PLAN is the plan's id: a profile that was changed since is refused. Of several profiles the first one's plan holds, and a
 * warning names two. */

/* Where LLVM does not tell (19 and older): a module with that flag is behind a link or in it, another one that clang gave
 * the flags of LTO is before it, but before LLVM 19, whose links take no plugins: there compiling does all. */
hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module);

/* hearth_md_fit_summary for all calls: to be called last before a link. Without `clones`, a thin link plans none for
 * the module's allocation calls: the call removes the data that LLVM plans them by. True if the module changed. */
bool hearth_lto_fit_summary(LLVMModuleRef module, bool clones);

/* Add the flag, unless there is one. */
void hearth_lto_write_options(LLVMModuleRef module, const hearth_pass_options *options);
/* False, and nothing written, if there is none. Sets these options and no others. */
bool hearth_lto_read_options(LLVMModuleRef module, hearth_pass_options *ret);

/* Add the flag of a plan, unless there is one. `profile`: made absolute if it can be. */
void hearth_lto_write_plan(LLVMModuleRef module, const char *profile, uint64_t plan);
/* False, and nothing written, if there is none. *ret_profile: malloc'd; NULL if out of memory. */
bool hearth_lto_read_plan(LLVMModuleRef module, char **ret_profile, uint64_t *ret_plan);

#ifdef __cplusplus
}
#endif
#endif
