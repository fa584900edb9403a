/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints the text form: one statement a line, in the order of the tables, so that equal profiles give equal texts. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "file.h"
#include "hearth/builder.h"
#include "hearth/classify.h"
#include "hearth/global.h"
#include "hearth/ids.h"
#include "hearth/profile.h"

static bool needs_quotes(const char *string) {
  if (!*string || *string == '#' || *string == '?' || strncmp(string, "0x", 2) == 0)
    return true;
  for (; *string; string++)
    if (*string <= ' ' || *string > '~' || *string == '"' || *string == '\\') /* bytes from 128 may be negative */
      return true;
  return false;
}

static void print_string(FILE *stream, const char *string) {
  if (!needs_quotes(string)) {
    fputs(string, stream);
    return;
  }
  fputc('"', stream);
  for (; *string; string++) {
    unsigned char c = (unsigned char)*string;
    if (c == '"' || c == '\\')
      fprintf(stream, "\\%c", c);
    else if (c == '\n' || c == '\t')
      fputs(c == '\n' ? "\\n" : "\\t", stream);
    else if (c < ' ' || c > '~')
      fprintf(stream, "\\x%02x", c);
    else
      fputc(c, stream);
  }
  fputc('"', stream);
}

static void print_hex(const uint8_t *bytes, uint32_t size, FILE *stream) {
  for (uint32_t i = 0; i < size; i++)
    fprintf(stream, "%02x", bytes[i]);
}

static hearth_status text_printer_print_binaries(hearth_profile *profile, FILE *stream, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    HEARTH_TRY(hearth_profile_get_binary(profile, i, &name, &build_id, &size, err));
    fputs("binary ", stream);
    print_string(stream, name);
    fputs(size ? " " : "", stream);
    print_hex(build_id, size, stream);
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static hearth_status text_printer_print_run_facts(hearth_profile *profile, FILE *stream, hearth_error *err) {
  hearth_run_facts facts;
  HEARTH_TRY(hearth_profile_get_run_facts(profile, &facts, err));
  if (facts.peak_bytes > 0 || facts.commands_differ || facts.last_day > 0)
    fprintf(stream, "facts peak=%llu commands_differ=%d first_day=%u last_day=%u\n",
            (unsigned long long)facts.peak_bytes, facts.commands_differ, facts.first_day, facts.last_day);
  if (*facts.command) {
    fputs("command ", stream);
    print_string(stream, facts.command);
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static hearth_status print_types(hearth_profile *profile, FILE *stream, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_type_count(profile); i++) {
    const char *name;
    uint64_t id;
    HEARTH_TRY(hearth_profile_get_type(profile, i, &id, &name, err));
    fputs("type ", stream);
    print_string(stream, name);
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static hearth_status print_globals(hearth_profile *profile, FILE *stream, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_global_count(profile); i++) {
    hearth_global g;
    HEARTH_TRY(hearth_profile_get_global(profile, i, &g, err));
    fputs("global ", stream);
    print_string(stream, g.name);
    fputc(' ', stream);
    print_string(stream, g.file);
    fprintf(stream, " line=%u kind=%u local=%d size=%llu accesses=%llu touched_lines=%llu", g.line,
            hearth_global_kind_of(g.flags), (g.flags & HEARTH_GLOBAL_LOCAL) != 0, (unsigned long long)g.size,
            (unsigned long long)g.accesses, (unsigned long long)g.touched_lines);
    if (g.flags & HEARTH_GLOBAL_STORES)
      fprintf(stream, " stores=%llu", (unsigned long long)g.stores);
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static hearth_status text_printer_print_frame(hearth_profile *profile, uint32_t row, FILE *stream, hearth_error *err) {
  hearth_frame_info frame;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(hearth_profile_get_frame(profile, row, &frame, err));
  HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
  HEARTH_TRY(hearth_profile_get_path(profile, function.path, path, sizeof path, err));
  fputs("  frame ", stream);
  bool is_stripped = hearth_is_stripped_name(function.name);
  if (*function.name && !is_stripped)
    print_string(stream, function.name);
  else
    fprintf(stream, "0x%016llx%s", (unsigned long long)function.id, function.name);
  fputc(' ', stream);
  print_string(stream, path);
  fprintf(stream, " %u ", function.start_line);
  if (frame.line == HEARTH_LINE_UNKNOWN)
    fputc('?', stream);
  else
    fprintf(stream, "%u", frame.line);
  const char *folded = frame.recursive ? " recursive" : frame.in_cycle ? " cycle" : "";
  fprintf(stream, " %u %u%s%s%s\n", frame.column, frame.discriminator, frame.inlined ? " inlined" : "", folded,
          frame.library ? " library" : "");
  return HEARTH_OK;
}

/* Frames of no context: folding left them out of every stack. */
static hearth_status print_folded(hearth_profile *profile, FILE *stream, hearth_error *err) {
  uint32_t count = hearth_profile_frame_count(profile), frame, caller;
  bool *used;
  HEARTH_TRY(hearth_array_create(&used, count, sizeof *used, err));
  hearth_status status = HEARTH_OK;
  for (uint32_t i = 0; status == HEARTH_OK && i < hearth_profile_stack_count(profile); i++) {
    status = hearth_profile_get_stack(profile, i, &frame, &caller, err);
    if (status == HEARTH_OK)
      used[frame] = true;
  }
  for (uint32_t i = 0; status == HEARTH_OK && i < count; i++)
    if (!used[i])
      status = text_printer_print_frame(profile, i, stream, err);
  free(used);
  return status;
}

static hearth_status text_printer_print_histogram(hearth_profile *profile, uint32_t row, FILE *stream,
                                                  hearth_error *err) {
  hearth_histogram histogram;
  HEARTH_TRY(hearth_profile_get_histogram(profile, row, &histogram, err));
  if (histogram.size == 0)
    return HEARTH_OK;
  fputs("  histogram", stream);
  for (uint64_t i = 0; i < histogram.size; i++)
    fprintf(stream, " %llu", (unsigned long long)histogram.counts[i]);
  fputc('\n', stream);
  return HEARTH_OK;
}

static hearth_status text_printer_print_variance(hearth_profile *profile, uint32_t row, FILE *stream,
                                                 hearth_error *err) {
  static const char *const names[HEARTH_VARIANCE_SUMS] = {HEARTH_VARIANCE_NAMES};
  hearth_variance variance;
  HEARTH_TRY(hearth_profile_get_variance(profile, row, &variance, err));
  if (variance.runs == 0)
    return HEARTH_OK;
  fputs("  variance", stream);
  for (size_t i = 0; i < HEARTH_VARIANCE_SUMS; i++)
    fprintf(stream, " %s=%llu", names[i], (unsigned long long)variance.sums[i]);
  fputc('\n', stream);
  return HEARTH_OK;
}

static void print_levels(const char *word, const uint64_t *levels, FILE *stream) {
  fputs(word, stream);
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    fprintf(stream, " %llu", (unsigned long long)levels[i]);
  fputc('\n', stream);
}

static void text_printer_print_history(const hearth_heap_history *history, FILE *stream) {
  if (history->runs == 0)
    return;
  fprintf(stream, "history runs=%llu peak=%llu\n", (unsigned long long)history->runs,
          (unsigned long long)history->peak_ppm);
  print_levels("levels", history->levels, stream);
}

static hearth_status text_printer_print_context(hearth_profile *profile, uint32_t row, FILE *stream,
                                                hearth_error *err) {
  uint32_t node, frame;
  hearth_mib mib;
  HEARTH_TRY(hearth_profile_get_context(profile, row, &node, &mib, err));
  fputs("context\n", stream);
  while (node != HEARTH_NONE) {
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame, &node, err));
    HEARTH_TRY(text_printer_print_frame(profile, frame, stream, err));
  }
  for (int i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (mib.v[i])
      fprintf(stream, "  %s %llu\n", hearth_mib_column_name(i), (unsigned long long)mib.v[i]);
  HEARTH_TRY(text_printer_print_variance(profile, row, stream, err));
  return text_printer_print_histogram(profile, row, stream, err);
}

static hearth_status print_contexts(hearth_profile *profile, const hearth_heap_history *history, FILE *stream,
                                    hearth_error *err) {
  size_t next = 0;
  text_printer_print_history(history, stream);
  HEARTH_TRY(print_types(profile, stream, err));
  HEARTH_TRY(print_folded(profile, stream, err));
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    HEARTH_TRY(text_printer_print_context(profile, i, stream, err));
    if (next < history->count && history->rows[next].context == i)
      print_levels("  levels", history->rows[next++].levels, stream);
  }
  return HEARTH_OK;
}

hearth_status hearth_profile_print_text(hearth_profile *profile, FILE *stream, hearth_error *err) {
  hearth_profile_summary s;
  HEARTH_TRY(hearth_profile_get_summary(profile, &s, err));
  fprintf(stream, HEARTH_TEXT_FIRST_WORD " %u\nscheme %s\n", HEARTH_TEXT_VERSION,
          s.id_scheme == HEARTH_IDS_LLVM ? "llvm" : "hearth");
  fprintf(stream, "run duration_ns=%llu runs=%llu accesses=%d %s%sdropped_blocks=%llu dropped_frames=%llu\n",
          (unsigned long long)s.duration_ns, (unsigned long long)s.runs, s.accesses_counted,
          s.densities_only ? "densities=1 " : "", s.accesses_estimated ? "estimated=1 " : "",
          (unsigned long long)s.dropped_blocks, (unsigned long long)s.dropped_frames);
  HEARTH_TRY(text_printer_print_binaries(profile, stream, err));
  HEARTH_TRY(text_printer_print_run_facts(profile, stream, err));
  HEARTH_TRY(print_globals(profile, stream, err));
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(profile, &history, err));
  hearth_status status = print_contexts(profile, &history, stream, err);
  hearth_heap_history_free(&history);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
