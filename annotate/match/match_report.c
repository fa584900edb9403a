/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One JSON object on one line, made in memory and appended under a file lock: compilers run at the same time. */
#include "match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "hearth/json_writer.h"
#include "shim.h"

static void print_numbers(hearth_json *json, const char *key, const char *const names[3], const uint64_t numbers[3]) {
  hearth_json_key(json, key);
  hearth_json_open(json, '{');
  for (unsigned i = 0; i < 3; i++)
    hearth_json_key_uint(json, names[i], numbers[i]);
  hearth_json_close(json, '}');
}

static void match_report_print_sums(hearth_json *json, const char *key, const hearth_coverage_sums *sums) {
  print_numbers(json, key, (const char *[]){"functions", "contexts", "bytes"},
                (uint64_t[]){sums->functions, sums->contexts, sums->bytes});
}

static void print_callsites(hearth_json *json, const char *key, const hearth_callsite_sums *sums) {
  print_numbers(json, key, (const char *[]){"all", "matched", "salvaged"},
                (uint64_t[]){sums->all, sums->matched, sums->salvaged});
}

static hearth_status print_unmatched(hearth_json *json, hearth_profile *profile, const hearth_unmatched *unmatched,
                                     hearth_error *err) {
  hearth_frame_info frame;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  size_t length;
  HEARTH_TRY(hearth_profile_get_frame(profile, unmatched->frame, &frame, err));
  HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
  HEARTH_TRY(hearth_profile_get_path(profile, function.path, path, sizeof path, err));
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "function", function.name);
  hearth_json_key_string(json, "file", path);
  hearth_json_key_uint(json, "line", function.start_line ? function.start_line + frame.line : 0);
  hearth_json_key_uint(json, "column", frame.column);
  hearth_json_key_uint(json, "discriminator", frame.discriminator);
  hearth_json_key_uint(json, "contexts", unmatched->contexts);
  hearth_json_key_uint(json, "bytes", unmatched->bytes);
  hearth_json_key_string(json, "reason", hearth_unmatched_name(unmatched->reason));
  if (unmatched->callee)
    hearth_json_key_string(json, "callee", LLVMGetValueName2(unmatched->callee, &length));
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status match_report_print(FILE *stream, hearth_session *session, const hearth_coverage *coverage,
                                        hearth_error *err) {
  hearth_json json = {.stream = stream};
  size_t length;
  hearth_json_open(&json, '{');
  hearth_json_key_string(&json, "format", "hearth-match-report");
  hearth_json_key_uint(&json, "version", 1);
  hearth_json_key_string(&json, "module", LLVMGetSourceFileName(session->module, &length));
  hearth_json_key_string(&json, "profile", session->options->profile);
  match_report_print_sums(&json, "all", &coverage->all);
  match_report_print_sums(&json, "matched", &coverage->matched);
  match_report_print_sums(&json, "salvaged", &coverage->salvaged);
  match_report_print_sums(&json, "elsewhere", &coverage->elsewhere);
  match_report_print_sums(&json, "libraries", &coverage->library);
  print_callsites(&json, "callsites", &coverage->callsites);
  print_callsites(&json, "decision_sites", &coverage->decision_sites);
  hearth_json_key_array(&json, "unmatched");
  for (size_t i = 0; i < coverage->n_unmatched; i++)
    HEARTH_TRY(print_unmatched(&json, session->matcher->profile, &coverage->unmatched[i], err));
  hearth_json_close(&json, ']');
  hearth_json_close(&json, '}');
  fputc('\n', stream);
  return HEARTH_OK;
}

static hearth_status match_report_append(const char *path, const char *bytes, size_t size, hearth_error *err) {
  FILE *file = fopen(path, "ae");
  /* Not every file can be locked; appending short lines works without. */
  bool ok = file && (flock(fileno(file), LOCK_EX) == 0 || errno != EINTR) && fwrite(bytes, 1, size, file) == size;
  ok = file && fclose(file) == 0 && ok;
  return ok ? HEARTH_OK : hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
}

hearth_status hearth_match_report_append(const char *path, hearth_session *session, const hearth_coverage *coverage,
                                         hearth_error *err) {
  char *line = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&line, &size);
  if (!stream)
    return hearth_error_nomem(err);
  hearth_status status = match_report_print(stream, session, coverage, err);
  bool complete = fclose(stream) == 0 && line;
  if (status == HEARTH_OK && !complete)
    status = hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = match_report_append(path, line, size, err);
  free(line);
  return status;
}

/* ------------------------------------------------ context remarks ------------------------------------------------ */

/* Sums contexts by placement; the sums become the text of a remark. */

static uint64_t saturated(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static void match_report_add(hearth_context_sums *sums, hearth_placement placement, uint64_t bytes) {
  sums->count++;
  sums->of_placement[placement]++;
  sums->bytes = saturated(sums->bytes, bytes);
  if (placement == HEARTH_CLASS_COLD)
    sums->cold_bytes = saturated(sums->cold_bytes, bytes);
}

hearth_context_sums hearth_sum_contexts(const hearth_contexts *contexts) {
  hearth_context_sums sums = {0};
  for (size_t i = 0; i < contexts->count; i++)
    match_report_add(&sums, contexts->items[i].placement, contexts->items[i].mib.TotalSize);
  return sums;
}

/* "3 contexts (1 cold, 2 pool 0)": of at most 20 digits for each placement */
#define DESCRIPTION (64 + HEARTH_PLACEMENTS * 32)
static void match_report_describe(const hearth_context_sums *sums, char *buffer, size_t size) {
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
  match_report_describe(found, contexts, sizeof contexts);
  snprintf(what, sizeof what, "found in the heap profile%s: %s, %" PRIu64 " of %" PRIu64 " bytes cold",
           salvaged ? ", by its callee in the changed function" : "", contexts, found->cold_bytes, found->bytes);
  remark(call, salvaged ? "Salvaged" : "Matched", what);
}

void hearth_remark_promoted(LLVMValueRef call, const hearth_context_sums *found, const char *function) {
  char contexts[DESCRIPTION], what[DESCRIPTION + 128];
  match_report_describe(found, contexts, sizeof contexts);
  snprintf(what, sizeof what, "compared with %s, for which it stands in the heap profile: %s", function, contexts);
  remark(call, "Promoted", what);
}
