/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes are sorted by function, line, column and discriminator of the innermost frame. At the end of the link, a call
 * without metadata gets the note of its innermost frame that shares most outer frames with it; if such notes differ in
 * their hint, the call is ambiguous. */
#include "replaced_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "alloc_functions.h"
#include "array.h"
#include "compare.h"
#include "hearth/ir_facts.h"
#include "hearth/md.h"
#include "lto_phase.h"
#include "shim.h"

static const char *const kind_names[] = {"memprof", "memprof.mib", "callsite"};
#define KINDS (sizeof kind_names / sizeof kind_names[0])

typedef struct noted_call {
  LLVMMetadataRef location; /* when it was noted */
  LLVMMetadataRef carried[KINDS];
  hearth_class hint;
  hearth_placement pool;
  bool ambiguous;
} noted_call;

/* Nodes belong to the context, which outlives the pipeline. */
struct hearth_noted_calls {
  noted_call *items; /* sorted by the innermost frame once all are noted */
  size_t count, room;
};

hearth_noted_calls *hearth_noted_calls_create(void) { return calloc(1, sizeof(hearth_noted_calls)); }

static void replaced_call_forget(hearth_noted_calls *noted) {
  free(noted->items);
  *noted = (hearth_noted_calls){0};
}

void hearth_noted_calls_destroy(hearth_noted_calls *noted) {
  if (noted)
    replaced_call_forget(noted);
  free(noted);
}

static int replaced_call_compare_numbers(uintptr_t a, uintptr_t b) { return (a > b) - (a < b); }

/* The frame of a location without those that it was inlined into. Not by scope: passes renew those of lexical blocks. Clones
 * have subprograms of their own. */
static int replaced_call_compare_frames(LLVMMetadataRef a, LLVMMetadataRef b) {
  LLVMMetadataRef function_a = hearth_ir_scope_subprogram(LLVMDILocationGetScope(a));
  LLVMMetadataRef function_b = hearth_ir_scope_subprogram(LLVMDILocationGetScope(b));
  int order = replaced_call_compare_numbers((uintptr_t)function_a, (uintptr_t)function_b);
  if (order == 0)
    order = replaced_call_compare_numbers(LLVMDILocationGetLine(a), LLVMDILocationGetLine(b));
  if (order == 0)
    order = replaced_call_compare_numbers(LLVMDILocationGetColumn(a), LLVMDILocationGetColumn(b));
  return order
             ? order
             : replaced_call_compare_numbers(hearth_ir_location_discriminator(a), hearth_ir_location_discriminator(b));
}

static int compare_notes(const void *a, const void *b) {
  return replaced_call_compare_frames(((const noted_call *)a)->location, ((const noted_call *)b)->location);
}

/* How many frames `before` has, if they are the innermost ones of `now`; else 0. */
static size_t frames_in_common(LLVMMetadataRef before, LLVMMetadataRef now) {
  size_t n = 0;
  for (; before; n++) {
    if (!now || replaced_call_compare_frames(before, now) != 0)
      return 0;
    before = LLVMDILocationGetInlinedAt(before);
    now = LLVMDILocationGetInlinedAt(now);
  }
  return n;
}

/* --- noting --- */

static bool replaced_call_read_call(LLVMValueRef call, noted_call *ret) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  bool any = false;
  *ret = (noted_call){.location = hearth_ir_instruction_location(call)};
  for (size_t i = 0; i < KINDS; i++) {
    unsigned kind = LLVMGetMDKindIDInContext(context, kind_names[i], (unsigned)strlen(kind_names[i]));
    ret->carried[i] = hearth_ir_attachment(call, kind);
    any |= ret->carried[i] != NULL;
  }
  ret->hint = hearth_md_get_hint(call, &ret->ambiguous);
  ret->pool = hearth_md_get_pool(call);
  return any || ret->ambiguous || ret->hint != HEARTH_CLASS_UNKNOWN;
}

static void replaced_call_note(LLVMValueRef call, void *data) {
  hearth_noted_calls *noted = data;
  noted_call found;
  if (hearth_alloc_function_of(call) && replaced_call_read_call(call, &found) && found.location &&
      hearth_array_grow(&noted->items, &noted->room, noted->count, sizeof *noted->items))
    noted->items[noted->count++] = found;
}

void hearth_noted_calls_note(hearth_noted_calls *noted, LLVMModuleRef module) {
  if (!noted || hearth_lto_phase_of(module) != HEARTH_LTO_POSTLINK)
    return;
  replaced_call_forget(noted);
  hearth_ir_for_each_instruction(module, replaced_call_note, noted);
  if (noted->count)
    qsort(noted->items, noted->count, sizeof *noted->items, compare_notes);
}

/* --- giving back --- */

static size_t first_at(const hearth_noted_calls *noted, LLVMMetadataRef location) {
  const noted_call key = {.location = location};
  return hearth_lower_bound(&key, noted->items, noted->count, sizeof key, compare_notes);
}

/* The call that had most of the frames: one that was inlined before the link had fewer contexts than its function. */
static const noted_call *replaced_call_find(const hearth_noted_calls *noted, LLVMMetadataRef location,
                                            bool *ret_agree) {
  const noted_call *found = NULL;
  size_t most = 0;
  for (size_t i = first_at(noted, location); i < noted->count; i++) {
    const noted_call *item = &noted->items[i];
    if (replaced_call_compare_frames(item->location, location) != 0)
      break;
    size_t n = frames_in_common(item->location, location);
    if (n == most && found)
      *ret_agree &= item->hint == found->hint && item->pool == found->pool;
    if (n <= most)
      continue;
    found = item;
    most = n;
    *ret_agree = true;
  }
  return found;
}

typedef struct giving {
  const hearth_noted_calls *noted;
  hearth_md *md;
  bool changed;
} giving;

static void replaced_call_report(LLVMValueRef call) {
  char message[256];
  size_t length;
  const char *name = LLVMGetValueName2(hearth_alloc_callee(call), &length);
  snprintf(message, sizeof message,
           "%.*s call has the contexts of the allocation call that the link's optimiser replaced by it",
           (int)(length < 100 ? length : 100), name);
  hearth_shim_remark(call, false, "Replaced", message);
}

static void replaced_call_give_back(LLVMValueRef call, void *data) {
  giving *g = data;
  noted_call own;
  bool agree = true;
  if (!hearth_alloc_function_of(call) || replaced_call_read_call(call, &own) || !own.location)
    return;
  const noted_call *found = replaced_call_find(g->noted, own.location, &agree);
  if (!found)
    return;
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  if (found->ambiguous || found->hint != HEARTH_CLASS_UNKNOWN)
    hearth_md_resolve(g->md, call, agree ? found->hint : HEARTH_CLASS_UNKNOWN);
  if (found->pool)
    hearth_md_set_pool(g->md, call, agree ? found->pool : HEARTH_MD_POOL_AMBIGUOUS);
  for (size_t i = 0; i < KINDS; i++)
    if (found->carried[i])
      LLVMSetMetadata(call, LLVMGetMDKindIDInContext(context, kind_names[i], (unsigned)strlen(kind_names[i])),
                      LLVMMetadataAsValue(context, found->carried[i]));
  replaced_call_report(call);
  g->changed = true;
}

bool hearth_noted_calls_give_back(hearth_noted_calls *noted, LLVMModuleRef module) {
  giving g = {.noted = noted};
  if (!noted || !noted->count || !(g.md = hearth_md_create(module)))
    return false;
  hearth_ir_for_each_instruction(module, replaced_call_give_back, &g);
  hearth_md_destroy(g.md);
  replaced_call_forget(noted);
  return g.changed;
}
