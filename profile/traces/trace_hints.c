/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace_hints.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/hints.h"
#include "hearth/trace_stack_keys.h"
#include "known_stacks.h"

static uint8_t hint_of(const hearth_known_stack *known) {
  static const uint8_t hints[] = {[HEARTH_CLASS_UNKNOWN] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_COLD] = HEARTH_HINT_COLD,
                                  [HEARTH_CLASS_NOTCOLD] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_HOT] = HEARTH_HINT_HOT};
  return known ? hearth_hint_of(known->placement, hints) : HEARTH_HINT_NOTCOLD;
}

static hearth_status find_hints(const hearth_known_stacks *known, const char *trace, hearth_trace_hints *hints,
                                hearth_error *err) {
  uint64_t *keys;
  HEARTH_TRY(hearth_trace_stack_keys(trace, NULL, &keys, &hints->count, err));
  hearth_status status = hearth_array_create(&hints->rows, hints->count, sizeof *hints->rows, err);
  for (size_t i = 0; status == HEARTH_OK && i < hints->count; i++) {
    const hearth_known_stack *stack = keys[i] ? hearth_known_stacks_find(known, keys[i]) : NULL;
    hints->rows[i] = hint_of(stack);
    hints->is_known_stack |= stack != NULL;
  }
  free(keys);
  return status;
}

hearth_status hearth_trace_hints_read(const char *profile, const char *trace, hearth_trace_hints *ret,
                                      hearth_error *err) {
  hearth_profile *opened;
  hearth_known_stacks known;
  *ret = (hearth_trace_hints){0};
  HEARTH_TRY(hearth_profile_open_stream(profile, &opened, err));
  hearth_status status = hearth_known_stacks_read(opened, &known, err);
  if (status == HEARTH_OK)
    status = find_hints(&known, trace, ret, err);
  hearth_known_stacks_free(&known);
  hearth_profile_close(opened);
  return status;
}

void hearth_trace_hints_free(hearth_trace_hints *hints) {
  free(hints->rows);
  *hints = (hearth_trace_hints){0};
}
