/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hints are asked for first, call by call; finishing then sets the bits around all decision calls, as only then it is
 * known whether any hint needs them. Where a bit may be set on entry, the word is saved at the start of the function
 * and restored. */
#include "lower.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "array.h"
#include "hearth/ir_facts.h"
#include "hearth/lowered_calls.h"
#include "shim.h"

/* Where a call comes last, the code generator would make it a jump, but for the bits that are to be cleared behind
 * it: the frames of a state machine that lives by jumps would pile up. So such a site sets only bits that are clear,
 * and none while as many others do as the word's highest bits can count. Its own bits do not bound that, since other
 * sites may clear them. */
#define ONE_KEPT_FRAME  (UINT64_C(1) << HEARTH_PLAN_SITES_MAX)
#define ALL_KEPT_FRAMES (UINT64_MAX - ONE_KEPT_FRAME + 1)

bool hearth_context_word_open(hearth_context_word *word, LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_error err = {HEARTH_OK, ""};
  uint64_t wanted = 0;
  memset(word, 0, sizeof *word);
  word->options = *options;
  if (!*options->profile && hearth_lto_read_plan(module, &word->profile, &wanted) && word->profile)
    word->options.profile = word->profile;
  if (!hearth_session_open(&word->session, module, &word->options) || !word->session.matcher)
    return false;
  if (hearth_profile_get_plan(word->session.matcher->profile, &word->plan, &err) != HEARTH_OK)
    return hearth_session_fail(&word->session, &err);
  if (word->session.matcher->placer.by_plan) /* bits that the plan does not know: as without a profile */
    word->options.hints[HEARTH_CLASS_UNKNOWN] = word->options.hints[HEARTH_CLASS_NOTCOLD];
  if (wanted == 0 || wanted == word->plan.id)
    return word->plan.id != 0;
  hearth_error_set(&err, HEARTH_E_MISMATCH,
                   "%s: its plan is not the one that the module was compiled with: compile anew", word->profile);
  return hearth_session_fail(&word->session, &err);
}

void hearth_context_word_close(hearth_context_word *word) {
  free(word->calls);
  free(word->switches);
  hearth_session_close(&word->session);
  free(word->profile);
}

static LLVMContextRef context_word_context_of(const hearth_context_word *word) {
  return LLVMGetModuleContext(word->session.module);
}

/* Any module's definition will do; the linker keeps one, and the loader takes the program's for libraries, too. */
static LLVMValueRef get_variable(hearth_context_word *word) {
  char name[48];
  LLVMModuleRef module = word->session.module;
  if (word->variable)
    return word->variable;
  snprintf(name, sizeof name, "__hearth_contexts.%016" PRIx64, word->plan.id);
  word->variable = LLVMGetNamedGlobal(module, name);
  if (!word->variable) {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(context_word_context_of(word));
    word->variable = LLVMAddGlobal(module, i64, name);
    LLVMSetInitializer(word->variable, LLVMConstNull(i64));
    LLVMSetThreadLocalMode(word->variable, hearth_thread_model(module));
    LLVMSetLinkage(word->variable, LLVMWeakODRLinkage);
    LLVMSetComdat(word->variable, LLVMGetOrInsertComdat(module, name));
  }
  return word->variable;
}

/* ------------------------------------------------- allocations ------------------------------------------------- */

/* The table of the innermost frame that has one, and the bits of the frames outside of it: decision sites that the call
 * was inlined through. */
static const hearth_plan_table *context_word_find_table(const hearth_context_word *word, LLVMValueRef call,
                                                        uint64_t *ret_bits) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  const hearth_plan_table *table = NULL;
  *ret_bits = 0;
  for (size_t i = 0, n = hearth_locate(word->session.locator, call, chain); i < n; i++) {
    const hearth_plan_site *site = table ? hearth_plan_find_site(&word->plan, chain[i].id) : NULL;
    if (!table)
      table = hearth_plan_find_table(&word->plan, chain[i].id);
    else if (site)
      *ret_bits |= UINT64_C(1) << site->bit;
  }
  return table;
}

static LLVMValueRef context_word_constant(LLVMTypeRef type, uint64_t value) { return LLVMConstInt(type, value, false); }

/* The placement that a table concludes while some bit of its mask is set, or none. */
static hearth_placement concluded(const hearth_context_word *word, const hearth_plan_table *table, bool is_set) {
  return hearth_placer_of_plan(&word->session.matcher->placer, table->placements[is_set]);
}

/* The hint of more bytes is the select's last operand: hearth_context_word_usual. */
static LLVMValueRef build_hint(hearth_context_word *word, LLVMValueRef call, const hearth_plan_table *table) {
  LLVMContextRef context = context_word_context_of(word);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i8 = LLVMInt8TypeInContext(context);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  const bool usual = table->bytes[true] > table->bytes[false];
  LLVMValueRef hints[2];
  for (int is_set = 0; is_set < 2; is_set++)
    hints[is_set] = context_word_constant(i8, hearth_hint_of(concluded(word, table, is_set), word->options.hints));
  LLVMPositionBuilderBefore(builder, call);
  word->heeds = true;
  LLVMValueRef value = LLVMBuildLoad2(builder, i64, get_variable(word), "contexts");
  LLVMValueRef bits = LLVMBuildAnd(builder, value, context_word_constant(i64, table->mask), "");
  LLVMValueRef is_seldom =
      LLVMBuildICmp(builder, usual ? LLVMIntEQ : LLVMIntNE, bits, context_word_constant(i64, 0), "");
  LLVMValueRef hint = LLVMBuildSelect(builder, is_seldom, hints[!usual], hints[usual], "hint");
  LLVMDisposeBuilder(builder);
  return hint;
}

LLVMValueRef hearth_context_word_hint(hearth_context_word *word, LLVMValueRef call, hearth_placement *ret_placement) {
  uint64_t inlined_bits;
  const hearth_plan_table *table = context_word_find_table(word, call, &inlined_bits);
  *ret_placement = HEARTH_CLASS_UNKNOWN;
  if (table && table->mask && !(table->mask & inlined_bits))
    return build_hint(word, call, table);
  if (table)
    *ret_placement = concluded(word, table, table->mask != 0);
  return NULL;
}

LLVMValueRef hearth_context_word_usual(LLVMValueRef hint) {
  return LLVMIsASelectInst(hint) ? LLVMGetOperand(hint, 2) : hint;
}

bool hearth_context_word_is_open(hearth_context_word *word, LLVMValueRef call, hearth_placement *ret_placement) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  hearth_contexts contexts = {0};
  hearth_error err;
  size_t leaf, end, n = hearth_locate(word->session.locator, call, chain);
  *ret_placement = HEARTH_CLASS_UNKNOWN;
  if (hearth_match_allocation(word->session.matcher, chain, n, &contexts, &leaf, &end, &err) != HEARTH_OK)
    return false;
  bool differ = hearth_contexts_differ(&contexts);
  if (contexts.count > 0 && !differ)
    *ret_placement = contexts.items[0].placement;
  hearth_contexts_free(&contexts);
  return differ;
}

/* ----------------------------------------------- control switches ----------------------------------------------- */

/* Calls at which control goes elsewhere, or comes back from elsewhere, than calls and returns do: past decision
 * calls whose bits were to be cleared, or into another coroutine, whose bits are others.
 *
 *   saved = load word
 *   setjmp(...)                     ; returns once more, from wherever longjmp was called
 *   store saved, word
 *
 * A context that control is given to has its own bits: it sets them itself, behind the call by which it once gave
 * control away. If that is in code without a plan, or there was none, it has no bits:
 *
 *   saved = load word
 *   store saved & lasting, word
 *   swapcontext(...)
 *   store saved, word
 *
 * Before longjmp the word is cleared in the same way: setjmp may have been called by a library that knows of no
 * plan. */
typedef enum switch_kind {
  SWITCH_NONE,
  SWITCH_RETURNS_TWICE, /* setjmp, getcontext, vfork */
  SWITCH_LEAVES,        /* swapcontext, setcontext, longjmp */
} switch_kind;

static bool returns_twice(LLVMValueRef call, LLVMValueRef function) {
  unsigned kind = LLVMGetEnumAttributeKindForName("returns_twice", strlen("returns_twice"));
  return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
         (function && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind));
}

static switch_kind switch_of(LLVMValueRef instruction) {
  /* Of the C library, and of Boost.Context. */
  static const char *const leave[] = {"swapcontext",   "setcontext",    "longjmp",        "_longjmp", "siglongjmp",
                                      "__longjmp_chk", "jump_fcontext", "ontop_fcontext", NULL};
  if (!hearth_ir_is_call(instruction) || hearth_ir_call_is_musttail(instruction) ||
      LLVMGetInstructionOpcode(instruction) == LLVMCallBr)
    return SWITCH_NONE;
  LLVMValueRef function = LLVMIsAFunction(LLVMGetCalledValue(instruction));
  if (returns_twice(instruction, function))
    return SWITCH_RETURNS_TWICE;
  return function && LLVMIsDeclaration(function) && hearth_is_named(function, leave) ? SWITCH_LEAVES : SWITCH_NONE;
}

/* ------------------------------------------------ decision calls ------------------------------------------------ */

/* With the bits of the sites that the call is in progress at while it is: its own, and those it was inlined through.
 * None for calls that no context goes through. */
static hearth_decision_call decision_at(hearth_context_word *word, LLVMValueRef call) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  hearth_error err;
  hearth_decision_call decision = {.call = call, .is_alone = true, .may_jump = hearth_may_jump(call)};
  size_t n = hearth_locate(word->session.locator, call, chain);
  for (size_t i = 0; i < n; i++) {
    const hearth_plan_site *site = hearth_plan_find_site(&word->plan, chain[i].id);
    decision.bits |= site ? UINT64_C(1) << site->bit : 0;
    decision.is_alone &= !site || site->is_alone;
  }
  if (decision.bits && hearth_match_callsite(word->session.matcher, chain, n, &err) != HEARTH_OK)
    decision.bits = 0;
  return decision;
}

/* Also once it has its hint. */
static bool is_allocation(LLVMValueRef instruction) {
  LLVMValueRef function = hearth_ir_is_call(instruction) ? LLVMIsAFunction(LLVMGetCalledValue(instruction)) : NULL;
  return function && (hearth_alloc_function_of(instruction) || hearth_is_dispatch(function));
}

/* Calls of a compiler's own functions cannot allocate; behind a musttail call there is no place. */
static bool may_be_decision_call(LLVMValueRef instruction) {
  return hearth_ir_is_caller(instruction) && LLVMGetInstructionOpcode(instruction) != LLVMCallBr &&
         !hearth_ir_call_is_musttail(instruction) && !is_allocation(instruction) &&
         !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction));
}

static void collect_switch(hearth_context_word *word, LLVMValueRef call) {
  word->failed = !hearth_array_grow(&word->switches, &word->switch_room, word->switch_count, sizeof *word->switches);
  if (word->failed)
    return;
  word->switches[word->switch_count++] = call;
}

static void context_word_collect(LLVMValueRef instruction, void *data) {
  hearth_context_word *word = data;
  uint64_t inlined_bits;
  if (is_allocation(instruction) && context_word_find_table(word, instruction, &inlined_bits))
    word->inlined_sites |= inlined_bits != 0;
  if (!word->failed && switch_of(instruction) != SWITCH_NONE) {
    collect_switch(word, instruction);
    return;
  }
  if (word->failed || !may_be_decision_call(instruction))
    return;
  hearth_decision_call decision = decision_at(word, instruction);
  if (!decision.bits)
    return;
  word->failed = !hearth_array_grow(&word->calls, &word->room, word->count, sizeof *word->calls);
  if (word->failed)
    return;
  word->calls[word->count++] = decision;
  char message[96];
  snprintf(message, sizeof message, "decision site: the call sets bits %#" PRIx64 " of the thread's contexts",
           decision.bits);
  hearth_shim_remark(instruction, false, "DecisionSite", message);
}

static LLVMValueRef context_word_load(const hearth_context_word *word, LLVMBuilderRef builder) {
  return LLVMBuildLoad2(builder, LLVMInt64TypeInContext(context_word_context_of(word)), word->variable, "contexts");
}

/* The value that the word gets behind a call. */
typedef struct ending {
  const hearth_context_word *word;
  LLVMValueRef saved; /* NULL: its value at that time, without `bits` */
  uint64_t bits;
} ending;

static void end_call(LLVMBuilderRef builder, void *data) {
  const ending *e = data;
  if (e->saved) {
    LLVMBuildStore(builder, e->saved, e->word->variable);
    return;
  }
  LLVMValueRef now = context_word_load(e->word, builder);
  LLVMValueRef rest = LLVMBuildAnd(builder, now, context_word_constant(LLVMTypeOf(now), ~e->bits), "");
  LLVMBuildStore(builder, rest, e->word->variable);
}

/* The word at the start of the function: there it dominates all places it is restored at. */
static LLVMValueRef load_early(const hearth_context_word *word, LLVMBuilderRef builder, LLVMValueRef function) {
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  while (LLVMIsAAllocaInst(first))
    first = LLVMGetNextInstruction(first);
  LLVMPositionBuilderBefore(builder, first);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  return context_word_load(word, builder);
}

/* Read where it is needed the bits are set by one instruction, which needs no register. */
static void context_word_begin_call(const hearth_context_word *word, LLVMBuilderRef builder,
                                    hearth_decision_call decision) {
  LLVMPositionBuilderBefore(builder, decision.call);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef now = context_word_load(word, builder);
  LLVMValueRef set = LLVMBuildOr(builder, now, context_word_constant(LLVMTypeOf(now), decision.bits), "");
  LLVMBuildStore(builder, set, word->variable);
}

/* A call that may become a jump. One that lacks its bit tells of no other bits either: they alone would be another
 * context. */
static void surround_jump(hearth_context_word *word, LLVMBuilderRef builder, const hearth_decision_call *decision) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context_word_context_of(word));
  LLVMBasicBlockRef pad = NULL;
  LLVMValueRef full = context_word_constant(i64, ALL_KEPT_FRAMES), one = context_word_constant(i64, ONE_KEPT_FRAME);
  LLVMPositionBuilderBefore(builder, decision->call);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  ending e = {.word = word, .saved = context_word_load(word, builder)};
  LLVMValueRef set = LLVMBuildOr(builder, e.saved, context_word_constant(i64, decision->bits), "");
  LLVMValueRef is_set = LLVMBuildICmp(builder, LLVMIntEQ, set, e.saved, "");
  LLVMValueRef is_full = LLVMBuildICmp(builder, LLVMIntUGE, e.saved, full, "");
  LLVMValueRef jumps = LLVMBuildOr(builder, is_set, is_full, "");
  if (!hearth_jump_if(decision->call, jumps))
    return;
  LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(jumps)));
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef unless_set = LLVMBuildSelect(builder, is_full, full, LLVMBuildAdd(builder, set, one, ""), "");
  LLVMBuildStore(builder, LLVMBuildSelect(builder, is_set, set, unless_set, ""), word->variable);
  hearth_after_call(decision->call, &pad, end_call, &e);
}

/* The decision calls [first, end) of one function. Bits that were clear before are cleared, which needs nothing
 * elsewhere: most times the function runs it may not come there. */
static void surround_all(hearth_context_word *word, LLVMBuilderRef builder, size_t first, size_t end) {
  LLVMValueRef saved = NULL;
  LLVMBasicBlockRef pad = NULL;
  ending last = {.word = word};
  for (size_t i = first; i < end; i++) {
    hearth_decision_call decision = word->calls[i];
    if (decision.may_jump) {
      surround_jump(word, builder, &decision);
      continue;
    }
    if (!decision.is_alone && !saved)
      saved = load_early(word, builder, hearth_ir_function_of(decision.call));
    context_word_begin_call(word, builder, decision);
    ending e = {.word = word, .saved = decision.is_alone ? NULL : saved, .bits = decision.is_alone ? decision.bits : 0};
    if (e.saved != last.saved || e.bits != last.bits)
      pad = NULL; /* it does something else */
    hearth_after_call(decision.call, &pad, end_call, &e);
    last = e;
  }
}

/* Bits that control takes along wherever it goes stay. */
static void surround_switch(const hearth_context_word *word, LLVMBuilderRef builder, LLVMValueRef call) {
  LLVMBasicBlockRef pad = NULL;
  LLVMPositionBuilderBefore(builder, call);
  ending e = {.word = word, .saved = context_word_load(word, builder)};
  if (switch_of(call) == SWITCH_LEAVES) {
    LLVMValueRef lasting = context_word_constant(LLVMTypeOf(e.saved), ALL_KEPT_FRAMES);
    LLVMBuildStore(builder, LLVMBuildAnd(builder, e.saved, lasting, ""), word->variable);
  }
  hearth_after_call(call, &pad, end_call, &e);
}

static void announce(hearth_context_word *word) {
  LLVMModuleRef module = word->session.module;
  if (word->count > 0 || word->heeds)
    hearth_announce_plan(module, word->plan.id, word->plan.pools);
  if (word->count > 0 || word->inlined_sites)
    hearth_announce_sites(module, word->plan.id, get_variable(word));
  else if (word->heeds)
    hearth_announce_need_of_sites(module, word->plan.id, get_variable(word));
}

bool hearth_context_word_finish(hearth_context_word *word) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context_word_context_of(word));
  hearth_ir_for_each_instruction(word->session.module, context_word_collect, word);
  if (word->count + word->switch_count > 0)
    get_variable(word);
  for (size_t i = 0, end; i < word->count; i = end) {
    LLVMValueRef function = hearth_ir_function_of(word->calls[i].call);
    for (end = i; end < word->count && hearth_ir_function_of(word->calls[end].call) == function; end++)
      ;
    surround_all(word, builder, i, end);
  }
  for (size_t i = 0; i < word->switch_count; i++)
    surround_switch(word, builder, word->switches[i]);
  LLVMDisposeBuilder(builder);
  announce(word);
  return word->count + word->switch_count > 0;
}
