/* Contexts told apart as the program runs, by the profile's plan (hearth/plan.h): around the call of a decision site its bit
 * is set in a word of the thread, and an allocation that serves several classes takes its hint by the bits.
 *
 *   %saved = load i64, ptr @__hearth_contexts.PLAN          once a function
 *   store i64 (%saved | bit), ptr @__hearth_contexts.PLAN
 *   call ...
 *   store i64 %saved, ptr @__hearth_contexts.PLAN           behind it, and where it unwinds to
 *
 * The word is named after the plan: modules that were compiled with other plans have words of their own, and know nothing of
 * these bits. It is one for the program and the libraries that it was linked with. */
#ifndef HEARTH_CONTEXT_WORD_H
#define HEARTH_CONTEXT_WORD_H

#include "hearth/plan.h"
#include "session.h"

typedef struct hearth_decision_call {
  LLVMValueRef call;
  uint64_t bits; /* that are set around it */
} hearth_decision_call;

typedef struct hearth_context_word {
  hearth_session session;
  hearth_plan plan;            /* `id` 0: there is none */
  LLVMValueRef word;           /* made when it is first needed */
  hearth_decision_call *calls; /* those of one function together */
  size_t count, room;
  bool failed; /* out of memory: no more sites */
} hearth_context_word;

/* False if the module is to do without: no profile, one without plan, or one that cannot be read (the user has been told).
 * Close in either case. */
bool hearth_context_word_open(hearth_context_word *word, LLVMModuleRef module, const hearth_options *options);
void hearth_context_word_close(hearth_context_word *word);

/* The hint (i8) of an allocation call, computed in front of it; NULL if the plan tells no classes apart there. */
LLVMValueRef hearth_context_word_hint(hearth_context_word *word, LLVMValueRef call);

/* Set the bits around all decision calls of the module; whether there is one. */
bool hearth_context_word_set_bits(hearth_context_word *word);

#endif
