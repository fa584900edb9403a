/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which accesses are worth a version that counts is asked of the collection that counts them later. */
#include "burst_versions.h"

#include <stdio.h>
#include <stdlib.h>

#include "accesses.h"
#include "library_accesses.h"
#include "shim.h"
#include "versions.h"

/* Calls of libraries that may allocate are in no version: return addresses would be two. */
static bool is_in_versions(LLVMValueRef instruction) {
  return !(LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction)) || !hearth_library_is_call(instruction) ||
         hearth_library_is_leaf(instruction);
}

/* NULL: no memory. */
static LLVMValueRef *list_instructions(const hearth_accesses *accesses, size_t *ret_count) {
  LLVMValueRef *list = malloc((accesses->count + accesses->n_calls + 1) * sizeof *list);
  *ret_count = 0;
  for (size_t i = 0; list && i < accesses->count; i++)
    if (is_in_versions(accesses->items[i].instruction))
      list[(*ret_count)++] = accesses->items[i].instruction;
  for (size_t i = 0; list && i < accesses->n_calls; i++)
    if (is_in_versions(accesses->calls[i]))
      list[(*ret_count)++] = accesses->calls[i];
  return list;
}

static void tell_obstacle(LLVMValueRef function, const char *obstacle) {
  LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  char message[160];
  if (!hearth_shim_wants_remarks(first))
    return;
  snprintf(message, sizeof message, "accesses of this function are not counted, as it cannot have two versions: %s",
           obstacle);
  hearth_shim_remark(first, true, "NoBursts", message);
}

static bool make_versions(LLVMValueRef function, const hearth_accesses *accesses) {
  size_t count;
  LLVMValueRef *list = list_instructions(accesses, &count);
  const char *obstacle = count > 0 ? hearth_versions_obstacle(function) : NULL;
  if (obstacle)
    tell_obstacle(function, obstacle);
  else if (count > 0)
    hearth_versions_make(function, list, count, hearth_library_is_leaf);
  free(list);
  return list != NULL;
}

bool hearth_bursts_prepare(LLVMValueRef function, const hearth_pass_options *options) {
  hearth_pass_options each = *options;
  hearth_accesses accesses;
  each.coalesce = HEARTH_COALESCE_OFF;
  hearth_versions_prepare(function);
  bool ok = hearth_accesses_collect(function, &each, NULL, false, &accesses) && make_versions(function, &accesses);
  hearth_accesses_free(&accesses);
  return ok;
}
