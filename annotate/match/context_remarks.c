/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums contexts by placement; the sums become the text of a remark. */
#include "context_remarks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "alloc_functions.h"
#include "shim.h"

static uint64_t saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static void add(hearth_context_sums *sums, hearth_placement placement, uint64_t bytes) {
  sums->count++;
  sums->of_placement[placement]++;
  sums->bytes = saturated(sums->bytes, bytes);
  if (placement == HEARTH_CLASS_COLD)
    sums->cold_bytes = saturated(sums->cold_bytes, bytes);
}

hearth_context_sums hearth_sum_contexts(const hearth_contexts *contexts) {
  hearth_context_sums sums = {0};
  for (size_t i = 0; i < contexts->count; i++)
    add(&sums, contexts->items[i].placement, contexts->items[i].mib.TotalSize);
  return sums;
}

hearth_context_sums hearth_sum_carried_contexts(hearth_md *md, LLVMValueRef call) {
  hearth_context_sums sums = {0};
  hearth_md_mibs carried;
  if (hearth_md_get_mibs(md, call, &carried))
    for (size_t i = 0; i < carried.count; i++)
      add(&sums, hearth_md_placement(&carried.mibs[i]), hearth_md_mib_bytes(&carried.mibs[i]));
  hearth_md_mibs_free(&carried);
  return sums;
}

bool hearth_is_mostly_cold(const hearth_context_sums *sums, unsigned percent) {
  return sums->cold_bytes && (double)sums->cold_bytes * 100 >= (double)sums->bytes * percent;
}

/* "3 contexts (1 cold, 2 pool 0)": of at most 20 digits for each placement */
#define DESCRIPTION (64 + HEARTH_PLACEMENTS * 32)
static void describe(const hearth_context_sums *sums, char *buffer, size_t size) {
  const char *separator = " (";
  size_t used = (size_t)snprintf(buffer, size, "%zu context%s", sums->count, sums->count == 1 ? "" : "s");
  for (hearth_placement i = 0; i < HEARTH_PLACEMENTS; i++)
    if (sums->of_placement[i]) {
      used += (size_t)snprintf(buffer + used, size - used, "%s%zu %s", separator, sums->of_placement[i],
                               hearth_placement_name(i));
      separator = ", ";
    }
  snprintf(buffer + used, size - used, ")");
}

/* A call through a pointer has no callee. */
static void remark(LLVMValueRef call, const char *name, const char *what) {
  char where[256], message[1800];
  LLVMValueRef callee = hearth_alloc_callee(call);
  size_t length = strlen("pointer");
  const char *function = callee ? LLVMGetValueName2(callee, &length) : "pointer";
  hearth_describe_inlining(call, where, sizeof where);
  snprintf(message, sizeof message, "%.*s call%s %s", (int)length, function, where, what);
  hearth_shim_remark(call, false, name, message);
}

void hearth_remark_matched(LLVMValueRef call, const hearth_context_sums *found, bool salvaged) {
  char contexts[DESCRIPTION], what[DESCRIPTION + 208];
  describe(found, contexts, sizeof contexts);
  snprintf(what, sizeof what, "found in the heap profile%s: %s, %" PRIu64 " of %" PRIu64 " bytes cold",
           salvaged ? ", by its callee in the changed function" : "", contexts, found->cold_bytes, found->bytes);
  remark(call, salvaged ? "Salvaged" : "Matched", what);
}

void hearth_remark_promoted(LLVMValueRef call, const hearth_context_sums *found, const char *function) {
  char contexts[DESCRIPTION], what[DESCRIPTION + 128];
  describe(found, contexts, sizeof contexts);
  snprintf(what, sizeof what, "compared with %s, for which it stands in the heap profile: %s", function, contexts);
  remark(call, "Promoted", what);
}

void hearth_remark_pruned(LLVMValueRef call, size_t before, const hearth_context_sums *left) {
  char contexts[DESCRIPTION], what[DESCRIPTION + 128];
  if (left->count == 0 || left->count >= before)
    return;
  describe(left, contexts, sizeof contexts);
  snprintf(what, sizeof what, "keeps, of %zu contexts, %s", before, contexts);
  remark(call, "Pruned", what);
}
