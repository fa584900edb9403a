/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The passes, their order, and what a module carries on to a link. Each pass takes a module and the options, returns
 * whether it changed the module, may be run anywhere and any number of times, and leaves the module as it was when the
 * profile is missing, stale or corrupt (one warning says so, or an error where the options have the profile's id and
 * another one or none is there). */
#ifndef HEARTH_PASSES_H
#define HEARTH_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "hearth/classify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opaque here; kept from one pass to the next, by one thread. NULL when out of memory; destroy accepts NULL. */
struct hearth_matcher *hearth_matcher_create(void);
void hearth_matcher_destroy(struct hearth_matcher *matcher);

/* Which counter updates the instrumentation makes one. Each block's number of accesses is the same in all modes. */
typedef enum hearth_coalesce_mode {
  HEARTH_COALESCE_BLOCK,   /* near each other in one block; which of its granules they are in may be taken wrongly */
  HEARTH_COALESCE_GRANULE, /* certainly in one granule: the counter of each granule is exact */
  HEARTH_COALESCE_OFF      /* none */
} hearth_coalesce_mode;

/* Where in a link-time optimised build a module is. */
typedef enum hearth_lto_phase {
  HEARTH_LTO_AUTO,     /* as LLVM says, else as the module shows (hearth_lto_phase_of); -memprof-lto-phase */
  HEARTH_LTO_NONE,     /* not link-time optimised */
  HEARTH_LTO_PRELINK,  /* compiled, to be linked as bitcode: contexts may yet be told apart */
  HEARTH_LTO_POSTLINK, /* linked, or imported into */
} hearth_lto_phase;

typedef struct hearth_pass_options {
  const char *profile;            /* -memprof-use; "" if not given */
  uint64_t profile_id;            /* -memprof-profile-id: of the profile that the flags are for; 0: any will do */
  struct hearth_matcher *matcher; /* data that the passes of a pipeline have read; unused without a profile */
  const char *library_accesses;   /* -memprof-library-accesses; "" if not given */
  const char *report;             /* -memprof-report; "" if not given */
  bool salvage;                   /* -memprof-salvage: align functions that have changed with the profile */
  unsigned coverage_threshold;    /* -memprof-coverage-threshold: per cent; 0: no warning */
  bool full_contexts;             /* -memprof-contexts=full: no trimming */
  bool by_plan;                   /* -memprof-classify=plan: contexts are placed by the profile's plan, if it has one */
  hearth_classify_options classify; /* else, or without one, by class */
  uint8_t hints[4];                 /* by hearth_class; [HEARTH_CLASS_UNKNOWN] is for ambiguous calls */
  bool nobuiltin;     /* -optimize-nobuiltin-hot-cold-new-new: calls that are no builtins are lowered, too */
  unsigned fast_path; /* -memprof-fast-path: share of all allocations, per cent, from which a call gets it; 0: none */
  hearth_lto_phase lto_phase;    /* AUTO: LLVM does not tell; never at the start of a pipeline, nor alone */
  bool link_has_plugin;          /* -memprof-link-plugin: 'hearth flags use --lto' gave the flags of the link */
  bool by_word;                  /* -memprof-contexts-by has word: contexts are told apart as the program runs, too */
  hearth_coalesce_mode coalesce; /* -memprof-coalesce */
  bool atomic_counters;          /* -memprof-atomic: no thread's count is lost */
  bool globals;                  /* -memprof-globals: accesses of global variables are counted, too */
  bool global_stores;            /* -memprof-global-stores: the stores among them, too */
  bool histogram;                /* -memprof-histogram: a counter of 8 bits for each 8 bytes */
} hearth_pass_options;

/* Match calls with the profile by debug location; attach contexts to allocation calls and ids to their callers. */
bool hearth_pass_annotate(LLVMModuleRef module, const hearth_pass_options *options);
/* Narrow the contexts of allocation calls to those that are possible where the calls now are: from the profile if it is
 * at hand, else from the metadata alone. */
bool hearth_pass_prune(LLVMModuleRef module, const hearth_pass_options *options);
/* Replace annotated allocation calls by their hinted forms; before a link only those whose contexts agree, and the
 * module then tells the link which hints the others are to get. */
bool hearth_pass_lower(LLVMModuleRef module, const hearth_pass_options *options);
/* Put hot and untouched global variables into sections of their own. */
bool hearth_pass_globals(LLVMModuleRef module, const hearth_pass_options *options);
/* Make the schemas of a module that was linked from several one; a warning if that cannot be done without guessing. */
bool hearth_pass_unify(LLVMModuleRef module, const hearth_pass_options *options);
/* Count loads, stores, atomics, memory intrinsics and the accesses of library functions, in shadow memory. */
bool hearth_pass_instrument(LLVMModuleRef module, const hearth_pass_options *options);
/* Write down which type each allocation call allocates, as far as the code shows it, for `hearth index`. */
bool hearth_pass_types(LLVMModuleRef module, const hearth_pass_options *options);
/* In a profiling build, which forbids jumps in place of calls: allow the optimiser to find them; instrumenting says
 * which stay (instrument.h). */
bool hearth_pass_tail_calls(LLVMModuleRef module, const hearth_pass_options *options);
/* Where the compiler tracks locations without writing them down, have it write line tables. Profiles need at least
 * these to match, and they take nothing from a user's -g (`hearth flags` can therefore do without -gmlt, which
 * would). */
bool hearth_pass_line_tables(LLVMModuleRef module, const hearth_pass_options *options);
/* Sign the module with the build that it is of (hearth/program_tables.h). */
bool hearth_pass_mark(LLVMModuleRef module, const hearth_pass_options *options);
/* Forbid the merging of calls that are told apart by their location only: all calls (for the profiling build), or
 * allocation calls only (for the optimised build, where annotation marks the others that matter). */
bool hearth_pass_nomerge(LLVMModuleRef module, bool all_calls);

/* ------------------------------------------------ pipeline ------------------------------------------------ */

/* Which passes run where in LLVM's pipeline, and in which order. plugin.cpp registers LLVM's callbacks and asks here. */

typedef struct hearth_pass {
  const char *name; /* as in -passes= */
  bool (*run)(LLVMModuleRef module, const hearth_pass_options *options);
} hearth_pass;

/* The pass of this name; NULL if there is none that can be asked for. */
const hearth_pass *hearth_pass_by_name(const char *name, size_t length);
/* The settings of a pipeline from the command line. */
typedef struct hearth_pipeline {
  bool optimises;   /* not -O0 */
  bool uses;        /* a profile */
  bool instruments; /* accesses */
  bool is_link;     /* the pipeline of a full link, which gets bitcode */
} hearth_pipeline;

#define HEARTH_PIPELINE_MOST 8

/* Write the passes at the start and at the end of a pipeline, in order; return their number. */
size_t hearth_pipeline_start(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]);
size_t hearth_pipeline_end(const hearth_pipeline *pipeline, const hearth_pass *ret[HEARTH_PIPELINE_MOST]);

/* ------------------------------------ link-time optimisation ------------------------------------ */

/* A module carries the options that the linker's plugin must know from compiler to linker: lld reads -mllvm before it
 * loads plugins, so options do not reach a link. It is the module flag
 *
 *   !{i32 6, !"memprof.hints", !{!{i8 222, i8 0, i8 128, i8 254, i32 0, i32 1}}}
 *
 * the hints of ambiguous, cold, notcold and hot calls, whether calls that are no builtins get hints, and whether the
 * plan places contexts. Linking modules that differ makes a list of these; the first holds, and the plugin warns. */

/* Another flag names the profile by whose plan the module's contexts are to be told apart in the link (lower.h):
 *
 *   !{i32 6, !"memprof.plan", !{!{!"/home/me/app.prof", i64 PLAN}}}
 *
 * PLAN is the plan's id: a profile that was changed since is refused. Of several profiles the first one's plan holds,
 * and a warning names two. */

/* Where LLVM does not tell (19 and older): a module with that flag is behind a link or in it, another one that clang
 * gave the flags of LTO is before it, but before LLVM 19, whose links take no plugins: there compiling does all. */
hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module);

/* hearth_md_fit_summary for all calls: to be called last before a link. Removes the data that LLVM plans clones by. */
void hearth_lto_fit_summary(LLVMModuleRef module);

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
