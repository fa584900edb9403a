/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of the module that the profile has, sorted by file and first line: the next one shows by how many lines the
 * end of a function moved. */
#include "spacing.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "compare.h"
#include "hearth/ir_facts.h"

static int spacing_compare(const void *a, const void *b) {
  const hearth_spaced_function *x = a, *y = b;
  return x->path != y->path ? (x->path > y->path) - (x->path < y->path) : (x->then > y->then) - (x->then < y->then);
}

/* Equal ones are before the key. */
static int compare_or_before(const void *key, const void *item) { return spacing_compare(key, item) < 0 ? -1 : 1; }

static hearth_status spacing_add(hearth_spacing *spacing, LLVMValueRef f, hearth_profile *profile,
                                 hearth_locator *locator, hearth_error *err) {
  uint64_t id;
  uint32_t row;
  hearth_function_info function;
  if (LLVMIsDeclaration(f) || !hearth_locate_function(locator, f, &id))
    return HEARTH_OK;
  hearth_status status = hearth_profile_find_function(profile, id, &row, err);
  if (status != HEARTH_OK)
    return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
  HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
  if (!function.start_line || function.path == HEARTH_NONE)
    return HEARTH_OK;
  if (!hearth_array_grow(&spacing->items, &spacing->room, spacing->count, sizeof *spacing->items))
    return hearth_error_nomem(err);
  spacing->items[spacing->count++] =
      (hearth_spaced_function){function.path, function.start_line, hearth_ir_subprogram_line(LLVMGetSubprogram(f))};
  return HEARTH_OK;
}

hearth_status hearth_spacing_find(hearth_spacing *spacing, LLVMModuleRef module, hearth_profile *profile,
                                  hearth_locator *locator, hearth_error *err) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    HEARTH_TRY(spacing_add(spacing, f, profile, locator, err));
  if (spacing->count)
    qsort(spacing->items, spacing->count, sizeof *spacing->items, spacing_compare);
  return HEARTH_OK;
}

void hearth_spacing_free(hearth_spacing *spacing) {
  free(spacing->items);
  memset(spacing, 0, sizeof *spacing);
}

bool hearth_spacing_behind(const hearth_spacing *spacing, const hearth_function_info *function, uint32_t now,
                           uint32_t *ret) {
  const hearth_spaced_function key = {function->path, function->start_line, now};
  size_t next = hearth_lower_bound(&key, spacing->items, spacing->count, sizeof key, compare_or_before);
  if (!function->start_line || next == spacing->count || spacing->items[next].path != function->path ||
      spacing->items[next].now <= now)
    return false;
  *ret = (spacing->items[next].now - now) - (spacing->items[next].then - function->start_line);
  return true;
}
