/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What lowering a call is made of: the word that tells contexts apart as the program runs, what the allocator is told
 * as it starts, and the allocator's fast path in place of a call. */
#ifndef HEARTH_LOWER_H
#define HEARTH_LOWER_H

#include "match.h"

/* ------------------------------------------------ context word ------------------------------------------------ */

/* Tells contexts apart as the program runs, by the profile's plan (hearth/plan.h): around the call of a decision
 * site its bit is set in the context word, which is thread-local, and an allocation that serves cold contexts and
 * others is cold while some bit is set that proves it.
 *
 *   store i64 (load i64, ptr @__hearth_contexts.PLAN | bit), ptr @__hearth_contexts.PLAN
 *   call ...
 *   store i64 (load i64, ptr @__hearth_contexts.PLAN & ~bit), ptr @__hearth_contexts.PLAN
 *
 * The last of these is where it unwinds to, too. A bit that may have been set before, because its site calls
 * itself, is restored instead, from the word's value at the start of the function.
 *
 * A call that the code generator may make a jump is divided: it is one if its bit is set, or as many calls of this
 * kind as the word's highest bits can count are in progress.
 *
 * The context word is named after the plan: modules that were compiled with other plans have context words of their
 * own, and know nothing of these bits. It is one for the program and the libraries that it was linked with. */

typedef struct hearth_decision_call {
  LLVMValueRef call;
  uint64_t bits; /* that are set around it */
  bool is_alone; /* they are clear before it */
  bool may_jump; /* the code generator may make the call a jump */
} hearth_decision_call;

typedef struct hearth_context_word {
  hearth_session session;
  hearth_pass_options options; /* the session's */
  char *profile;               /* that compiling named */
  hearth_plan plan;            /* `id` 0: there is none */
  LLVMValueRef variable;       /* the context word of the plan; made when it is first needed */
  hearth_decision_call *calls; /* those of one function together */
  size_t count, room;
  LLVMValueRef *switches; /* calls that control leaves otherwise */
  size_t switch_count, switch_room;
  bool heeds;         /* a hint is computed from the bits */
  bool inlined_sites; /* allocations were inlined into decision sites, which need no bit there */
  bool failed;        /* out of memory: no more sites */
} hearth_context_word;

/* The profile is that of the options, or in a link the one that compiling named (hearth_lto_write_plan). False if
 * the module is to do without: no profile, one without plan, or one that cannot be read or was changed (the user has
 * been told). Close in either case. */
bool hearth_context_word_open(hearth_context_word *word, LLVMModuleRef module, const hearth_pass_options *options);
void hearth_context_word_close(hearth_context_word *word);

/* The hint (i8) of an allocation call, computed in front of it; NULL if no bit tells placements apart there.
 * *ret_placement: then the placement that the call has all the same, or UNKNOWN. */
LLVMValueRef hearth_context_word_hint(hearth_context_word *word, LLVMValueRef call, hearth_placement *ret_placement);

/* The constant that a hint is for half of the bytes or more; a constant hint is its own. */
LLVMValueRef hearth_context_word_usual(LLVMValueRef hint);

/* Are there contexts of several placements that the call can have where it was inlined to?
 * *ret_placement: the one that they have otherwise; UNKNOWN if there are none. */
bool hearth_context_word_is_open(hearth_context_word *word, LLVMValueRef call, hearth_placement *ret_placement);

/* When all hints are asked for, set the bits around all decision calls of the module, and keep them past setjmp and
 * the like; have the allocator know of them. Whether the module is changed by that. */
bool hearth_context_word_finish(hearth_context_word *word);

/* ------------------------------------------------ announcements ------------------------------------------------ */

/* Tells the allocator about a plan as the program starts, by constructors of the concerned modules. */

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

/* ------------------------------------------------ fast path ------------------------------------------------ */

/* The allocator's fast path in the program (hearth/lowered_calls.h), at frequent calls whose blocks usually lie in the
 * main pool: a freed block is taken in place, or else the allocator goes on from there. The hinted function is
 * called without that pool, or if the hint that was computed is not the usual one:
 *
 *   if (hint == USUAL && pool->list[class])
 *     block = ...
 *   else
 *     block = hint == USUAL && pool->key ? hearth_fast_malloc_3(pool, class) : __hearth_malloc_hot_cold(bytes, hint)
 *
 * The same for realloc of NULL, by which programs allocate that have one function for all. */

typedef struct hearth_fast_call {
  LLVMValueRef call;
  const hearth_alloc_function *row;
  uint8_t hint;     /* that it has, or usually has */
  bool is_in_place; /* the code replaces the call; else a function has it */
} hearth_fast_call;

typedef struct hearth_fast_calls {
  hearth_fast_call *items;
  size_t count, room;
} hearth_fast_calls;

/* Note a call of the row's hinted form, whose hint usually is this constant, for the main pool; it stays as it is if
 * it cannot have the fast path. Where control seldom comes, a function of the module has it, or the code around the
 * call would lack registers. Inlining goes through the module's instructions, so it waits until nobody else does. */
void hearth_fast_note(hearth_fast_calls *calls, LLVMValueRef call, const hearth_alloc_function *row, LLVMValueRef hint);

/* Give all of them their fast path, and forget them. */
void hearth_fast_inline(LLVMModuleRef module, hearth_fast_calls *calls);

#endif
