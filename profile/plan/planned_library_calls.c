/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of a plan that the allocator adapter reads, as text: a line for each function, sorted by name.
 * docs/formats/library-calls.md describes it: change both in one commit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/hints.h"
#include "hearth/library_calls.h"
#include "hearth/plan.h"

typedef struct call {
  const char *name;
  const hearth_plan_table *table;
} call;

static int compare_names(const void *a, const void *b) {
  return strcmp(((const call *)a)->name, ((const call *)b)->name);
}

/* Functions that no symbol names are called FILE+0xBEGIN. */
static bool is_linkage_name(const char *name) {
  for (const char *at = name; *at; at++)
    if (*at <= ' ' || *at > '~' || *at == '+' || *at == '#')
      return false;
  return *name;
}

/* The tables of functions without source; *ret_count of them, the named ones. */
static hearth_status find_calls(hearth_profile *profile, const hearth_plan *plan, call *calls, uint32_t *ret_count,
                                uint32_t *ret_unhinted, hearth_error *err) {
  *ret_count = *ret_unhinted = 0;
  for (uint32_t i = 0; i < plan->table_count; i++) {
    hearth_frame_info frame;
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_frame(profile, plan->tables[i].frame, &frame, err));
    HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
    if (frame.stack_id || !hearth_library_call_id(function.id, function.start_line, frame.line))
      continue;
    if (is_linkage_name(function.name))
      calls[(*ret_count)++] = (call){function.name, &plan->tables[i]};
    else
      ++*ret_unhinted;
  }
  return HEARTH_OK;
}

static bool has_hint(const hearth_plan *plan, const call *c) {
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(plan, c->table, &count);
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].placement != HEARTH_CLASS_UNKNOWN)
      return true;
  return false;
}

static void write_call(const hearth_plan *plan, const call *c, FILE *stream) {
  static const uint8_t hints[] = {[HEARTH_CLASS_COLD] = HEARTH_HINT_COLD,
                                  [HEARTH_CLASS_NOTCOLD] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_HOT] = HEARTH_HINT_HOT};
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(plan, c->table, &count);
  fprintf(stream, "%s %" PRIx64, c->name, c->table->mask);
  for (uint32_t i = 0; i < count; i++)
    if (entries[i].placement != HEARTH_CLASS_UNKNOWN)
      fprintf(stream, " %" PRIx64 "=%d", entries[i].bits,
              hearth_hint_of((hearth_placement)entries[i].placement, hints));
  fputc('\n', stream);
}

/* By name; of names that several libraries have, none. */
static void write_calls(const hearth_plan *plan, call *calls, uint32_t count, FILE *stream, uint32_t *ret_written,
                        uint32_t *ret_unhinted) {
  qsort(calls, count, sizeof *calls, compare_names);
  *ret_written = 0;
  for (uint32_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && strcmp(calls[end].name, calls[i].name) == 0; end++)
      ;
    if (end == i + 1 && !has_hint(plan, &calls[i]))
      continue;
    if (end > i + 1 || *ret_written == HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX) {
      *ret_unhinted += end - i;
      continue;
    }
    write_call(plan, &calls[i], stream);
    ++*ret_written;
  }
}

hearth_status hearth_plan_write_library_calls(hearth_profile *profile, FILE *stream, uint32_t *ret_written,
                                              uint32_t *ret_unhinted, hearth_error *err) {
  hearth_plan plan;
  uint32_t count;
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  call *calls = calloc(plan.table_count + (size_t)1, sizeof *calls);
  if (!calls)
    return hearth_error_nomem(err);
  hearth_status status = find_calls(profile, &plan, calls, &count, ret_unhinted, err);
  if (status == HEARTH_OK && count == 0)
    status = hearth_error_set(
        err, HEARTH_E_EMPTY,
        "no function without source has blocks with a placement ('hearth index --symbols' names them)");
  if (status == HEARTH_OK) {
    fprintf(stream, HEARTH_LIBRARY_CALLS_HEAD "\n" HEARTH_LIBRARY_CALLS_PLAN " %016" PRIx64 "\n", plan.id);
    fputs("# function, bits that it heeds, hint by the bits that are set\n", stream);
    write_calls(&plan, calls, count, stream, ret_written, ret_unhinted);
    status = hearth_stream_flush(stream, err);
  }
  free(calls);
  return status;
}
