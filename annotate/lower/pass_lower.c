/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For each allocation call: a verdict from its attribute and contexts, then the hint as a constant or computed from the
 * context word, then a call of the dispatch function in its place. Before a link, ambiguous calls are left alone, and
 * flags of the module tell the link how to go on. */
#include <stdio.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "hearth/lowered_calls.h"
#include "lower.h"
#include "salvage.h"
#include "shim.h"

typedef struct lowering {
  LLVMModuleRef module;
  const hearth_pass_options *options;
  hearth_md *md;
  hearth_context_word *word; /* NULL: contexts are not told apart as the program runs */
  hearth_fast_calls frequent;
  const uint8_t *layout; /* of the profile's plan: the pool of each id; NULL: not known */
  size_t left_to_link;
  bool has_pools; /* a call has the hint of a pool, whose number another plan has for other contexts */
  bool changed;
} lowering;

/* Why a call with a hint keeps its plain form, or NULL. */
static const char *obstacle(const lowering *l, LLVMValueRef call) {
  if (!l->options->nobuiltin && hearth_alloc_is_by_name(call))
    return "the call is not a builtin (-fno-builtin, or operator new called by name)";
  if (hearth_ir_call_is_musttail(call))
    return "the call is musttail: its parameters cannot change";
  return NULL;
}

/* The hint that a call is to get. */
typedef struct verdict {
  hearth_placement placement; /* UNKNOWN: the hint is that of ambiguous calls, if it is one */
  bool ambiguous;
  bool may_be_cold;
  LLVMValueRef value; /* i8 */
  bool by_word;       /* it is computed as the program runs */
} verdict;

/* Contexts that nothing told apart share one hint. */
static verdict verdict_of_call(lowering *l, LLVMValueRef call) {
  verdict v = {0};
  hearth_class hint = hearth_md_get_hint(call, &v.ambiguous);
  hearth_placement pool = hearth_md_get_pool(call);
  v.placement = hint >= HEARTH_CLASS_NOTCOLD && pool ? pool : (hearth_placement)hint;
  /* The link's optimiser puts one call in the place of others, as calloc for malloc and memset, without what they
   * carried: the profile knows the place. */
  if (l->word && l->options->lto_phase == HEARTH_LTO_POSTLINK && hint == HEARTH_CLASS_UNKNOWN && !v.ambiguous)
    v.ambiguous = hearth_context_word_is_open(l->word, call, &v.placement);
  v.may_be_cold = v.ambiguous;
  if (v.placement == HEARTH_MD_POOL_AMBIGUOUS) {
    v.placement = HEARTH_CLASS_UNKNOWN;
    v.ambiguous = true;
  }
  return v;
}

/* LLVM's inliner leaves contexts of a link that are not surely cold as notcold, hot or not. */
static bool is_open(const lowering *l, LLVMValueRef call, const verdict *v, hearth_placement *ret_known) {
  *ret_known = HEARTH_CLASS_UNKNOWN;
  return v->ambiguous ||
         (v->placement == HEARTH_CLASS_NOTCOLD && hearth_context_word_is_open(l->word, call, ret_known));
}

static void choose_value(lowering *l, LLVMValueRef call, verdict *v) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(l->module));
  hearth_placement common = HEARTH_CLASS_UNKNOWN, known = HEARTH_CLASS_UNKNOWN;
  if (l->word && is_open(l, call, v, &common))
    v->value = hearth_context_word_hint(l->word, call, &known);
  v->by_word = v->value != NULL;
  if (v->by_word)
    return;
  known = known == HEARTH_CLASS_UNKNOWN ? common : known;
  bool is_warm = known >= HEARTH_CLASS_HOT && known != HEARTH_PLACEMENT_DORMANT;
  if (v->may_be_cold ? known != HEARTH_CLASS_UNKNOWN : is_warm) /* LLVM saw no cold one */
    v->placement = known;
  if (v->placement == HEARTH_CLASS_UNKNOWN && !v->may_be_cold)
    v->placement = HEARTH_CLASS_NOTCOLD;
  if (v->placement == HEARTH_CLASS_COLD && hearth_alloc_is_dormant(call))
    v->placement = HEARTH_PLACEMENT_DORMANT;
  v->value = LLVMConstInt(i8, hearth_hint_of(v->placement, l->options->hints), false);
  l->has_pools |= v->placement >= HEARTH_PLACEMENT_POOL;
}

static void report(LLVMValueRef call, const char *function, verdict v) {
  char where[256], why[96], message[800];
  hearth_describe_inlining(call, where, sizeof where);
  snprintf(why, sizeof why, v.ambiguous ? "%s, though its contexts differ: nothing tells them apart" : "%s",
           hearth_placement_name(v.placement));
  if (v.by_word)
    snprintf(message, sizeof message, "%s call%s given the hint of the decision sites that are being called", function,
             where);
  else if (v.placement != HEARTH_CLASS_UNKNOWN)
    snprintf(message, sizeof message, "%s call%s given the hint %u (%s)", function, where,
             (unsigned)LLVMConstIntGetZExtValue(v.value), why);
  else
    snprintf(
        message, sizeof message,
        "%s call%s left to the ordinary allocator: it serves hot and cold contexts alike, which are told apart only "
        "where it is inlined into them",
        function, where);
  bool lowered = v.by_word || v.placement != HEARTH_CLASS_UNKNOWN;
  hearth_shim_remark(call, !lowered, lowered ? "Lowered" : "Ambiguous", message);
}

static bool lies_in_main_pool(const lowering *l, LLVMValueRef hint) {
  unsigned value = (unsigned)LLVMConstIntGetZExtValue(hint);
  if (value < HEARTH_HINT_POOL || value >= HEARTH_HINT_HOT)
    return value >= HEARTH_HINT_NOTCOLD;
  return l->layout && !l->layout[value - HEARTH_HINT_POOL];
}

static void lower_visit(LLVMValueRef call, void *data) {
  lowering *l = data;
  const hearth_alloc_function *function = hearth_alloc_function_of(call);
  if (!function)
    return;
  verdict v = verdict_of_call(l, call);
  bool is_left = v.ambiguous && l->options->lto_phase == HEARTH_LTO_PRELINK;
  l->left_to_link += is_left;
  if (is_left || (v.placement == HEARTH_CLASS_UNKNOWN && !v.ambiguous))
    return;
  char name[64];
  size_t length;
  LLVMValueRef callee = hearth_alloc_callee(call);
  const char *symbol = LLVMGetValueName2(callee, &length), *why;
  snprintf(name, sizeof name, "%.*s", (int)length, symbol); /* a dispatch may take its place */
  why = obstacle(l, call);
  LLVMValueRef hinted = why ? NULL : hearth_dispatch_for(call, function);
  if (!hinted) {
    char message[512];
    const char *hint = v.placement == HEARTH_CLASS_UNKNOWN ? "ambiguous" : hearth_placement_name(v.placement);
    snprintf(message, sizeof message, "%s call not given the hint %s: %s", name, hint,
             why ? why : "the module uses the hinted function's name for something else");
    hearth_shim_remark(call, true, "NotLowered", message);
    return;
  }
  choose_value(l, call, &v);
  LLVMValueRef lowered = hearth_ir_call_append_argument(call, hinted, v.value);
  report(lowered, name, v);
  LLVMValueRef usual = hearth_context_word_usual(v.value);
  if (lies_in_main_pool(l, usual) && hearth_alloc_is_frequent(lowered))
    hearth_fast_note(&l->frequent, lowered, function, usual);
  l->changed = true;
}

/* Whether the link loads the plugin, compiling only knows if flags say so; otherwise the program finds out as it
 * starts. */
static void leave_to_link(const lowering *l) {
  char message[400];
  if (!l->left_to_link)
    return;
  hearth_announce_need_of_link(l->module);
  if (l->options->link_has_plugin || !*l->options->profile)
    return;
  snprintf(message, sizeof message,
           "%zu allocation calls get their hints in the link, and none if that does not load the plugin: compile and "
           "link with the flags of 'hearth flags use --lto=thin' (or full), which silence this",
           l->left_to_link);
  hearth_shim_warn(l->module, l->options->profile, message);
}

bool hearth_pass_lower(LLVMModuleRef module, const hearth_pass_options *options) {
  lowering l = {.module = module, .options = options, .md = hearth_md_create(module)};
  if (!l.md)
    return false;
  hearth_context_word word;
  bool opened = options->by_word && hearth_context_word_open(&word, module, options);
  bool by_word = opened && options->lto_phase != HEARTH_LTO_PRELINK;
  l.word = by_word ? &word : NULL;
  l.layout = opened ? word.plan.pools : NULL;
  hearth_ir_for_each_instruction(module, lower_visit, &l);
  if (by_word)
    l.changed |= hearth_context_word_finish(&word);
  hearth_fast_inline(module, &l.frequent);
  if (l.has_pools && opened)
    hearth_announce_plan(module, word.plan.id, word.plan.pools);
  if (options->lto_phase == HEARTH_LTO_POSTLINK)
    l.changed |= hearth_announce_link(module);
  if (options->lto_phase == HEARTH_LTO_PRELINK) {
    leave_to_link(&l);
    hearth_lto_fit_summary(module);
    hearth_lto_write_options(module, options);
    if (options->matcher && options->matcher->salvage)
      hearth_moved_calls_write(module, &options->matcher->salvage->moved);
    if (opened)
      hearth_lto_write_plan(module, options->profile, word.plan.id);
    l.changed = true;
  }
  if (options->by_word)
    hearth_context_word_close(&word);
  hearth_md_destroy(l.md);
  return l.changed;
}
