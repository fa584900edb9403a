/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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
#ifndef HEARTH_CONTEXT_WORD_H
#define HEARTH_CONTEXT_WORD_H

#include "hearth/plan.h"
#include "session.h"

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
 * the like; have the allocator know
 * of them (announcement.h). Whether the module is changed by that. */
bool hearth_context_word_finish(hearth_context_word *word);

#endif
