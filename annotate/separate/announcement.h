/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tells the allocator about a plan as the program starts, by constructors of the concerned modules. */
#ifndef HEARTH_ANNOUNCEMENT_H
#define HEARTH_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* That there are decision sites, in a module that has some. The loader finds it for libraries, as it does the word:
 *
 *   define weak_odr ptr @__hearth_sites.PLAN() comdat { return &word; } */
void hearth_announce_sites(LLVMModuleRef module, uint64_t plan, LLVMValueRef word);

/* In a module whose allocations heed a plan's bits: where it reads them, and whether anything sets them, there or in
 * a word of its own, as where a version script hides the library's.
 *
 *   define linkonce_odr hidden void @__hearth_need_sites.PLAN() comdat {   ; in llvm.global_ctors
 *     if (&hearth_malloc_need_sites) hearth_malloc_need_sites(PLAN, &__hearth_sites.PLAN, &word);
 *   } */
void hearth_announce_need_of_sites(LLVMModuleRef module, uint64_t plan, LLVMValueRef word);

/* The plan of a module that sets or heeds its bits, or has pools, and the pool of each of its ids (HEARTH_POOLS_MAX;
 * 0: the main one; NULL: each has its own). All of a process are to have one: an object file that make did not renew
 * after the profile changed has another, or a library that dlopen loads.
 *
 *   define linkonce_odr hidden void @__hearth_plan.PLAN() comdat {   ; in llvm.global_ctors
 *     if (&hearth_malloc_plan) hearth_malloc_plan(PLAN, LAYOUT);
 *   } */
void hearth_announce_plan(LLVMModuleRef module, uint64_t plan, const uint8_t *layout);

/* Calls of the module get their hints in the link. If that does not load the plugin, the program says so as it starts. */
void hearth_announce_need_of_link(LLVMModuleRef module);
/* The link does: the module's constructor of the former has nothing to say. True if there was one. */
bool hearth_announce_link(LLVMModuleRef module);

#endif
