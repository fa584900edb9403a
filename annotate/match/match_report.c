/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One JSON object on one line, made in memory and appended under a file lock: compilers run at the same time. */
#include "match_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "hearth/json_writer.h"

static void print_sums(hearth_json *json, const char *key, const hearth_coverage_sums *sums) {
  hearth_json_key(json, key);
  hearth_json_open(json, '{');
  hearth_json_key_uint(json, "functions", sums->functions);
  hearth_json_key_uint(json, "contexts", sums->contexts);
  hearth_json_key_uint(json, "bytes", sums->bytes);
  hearth_json_close(json, '}');
}

static void print_callsites(hearth_json *json, const char *key, const hearth_callsite_sums *sums) {
  hearth_json_key(json, key);
  hearth_json_open(json, '{');
  hearth_json_key_uint(json, "all", sums->all);
  hearth_json_key_uint(json, "matched", sums->matched);
  hearth_json_key_uint(json, "salvaged", sums->salvaged);
  hearth_json_close(json, '}');
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

static hearth_status print(FILE *stream, hearth_session *session, const hearth_coverage *coverage, hearth_error *err) {
  hearth_json json = {.stream = stream};
  size_t length;
  hearth_json_open(&json, '{');
  hearth_json_key_string(&json, "format", "hearth-match-report");
  hearth_json_key_uint(&json, "version", 1);
  hearth_json_key_string(&json, "module", LLVMGetSourceFileName(session->module, &length));
  hearth_json_key_string(&json, "profile", session->options->profile);
  print_sums(&json, "all", &coverage->all);
  print_sums(&json, "matched", &coverage->matched);
  print_sums(&json, "salvaged", &coverage->salvaged);
  print_sums(&json, "elsewhere", &coverage->elsewhere);
  print_sums(&json, "libraries", &coverage->library);
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

static bool write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, bytes, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    bytes += n;
    size -= (size_t)n;
  }
  return true;
}

static hearth_status append(const char *path, const char *bytes, size_t size, hearth_error *err) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  /* Not every file can be locked; appending short lines works without. */
  bool ok = fd >= 0 && (flock(fd, LOCK_EX) == 0 || errno != EINTR) && write_all(fd, bytes, size);
  hearth_status status = ok ? HEARTH_OK : hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  if (fd >= 0)
    close(fd);
  return status;
}

hearth_status hearth_match_report_append(const char *path, hearth_session *session, const hearth_coverage *coverage,
                                         hearth_error *err) {
  char *line = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&line, &size);
  if (!stream)
    return hearth_error_nomem(err);
  hearth_status status = print(stream, session, coverage, err);
  bool complete = fclose(stream) == 0 && line;
  if (status == HEARTH_OK && !complete)
    status = hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = append(path, line, size, err);
  free(line);
  return status;
}
