/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The mode tells which kind of file was written, and so which command shows it. */
#include "result.h"

#include "dump.h"
#include "file_output.h"
#include "message.h"
#include "peak.h"
#include "profile_file.h"
#include "running_profile.h"
#include "thread_cache.h"
#include "trace_file.h"

#include <string.h>

static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("/._-+=:@%,", c)) ||
         (unsigned char)c >= 0x80;
}

/* As the shell reads it; lives until the next one. */
static const char *quoted(const char *path) {
  static char buffer[HEARTH_OUTPUT_NAME + 64]; /* signal stacks are small */
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);
  const char *at = path;

  while (is_plain(*at))
    at++;
  if (!*at)
    return path;
  hearth_text_add(&text, "'");
  for (at = path; *at; at++)
    hearth_text_add_bytes(&text, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
  hearth_text_add(&text, "'");
  return buffer;
}

static void tell_dumps(void) {
  static char buffer[HEARTH_OUTPUT_NAME];
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);

  hearth_profile_file_name(&name);
  hearth_message("the last heap dump is %s", hearth_profile_file_written());
  hearth_message("to see all: hearth heap %s.*", quoted(buffer));
}

static void tell_trace(void) {
  hearth_message("the trace is %s", hearth_trace_file_name());
  hearth_message("to see it: hearth report %s -o report.html", quoted(hearth_trace_file_name()));
}

/* Rounded as printf rounds them: 'hearth show' prints the same numbers. */
static void add_bytes(hearth_text *text, uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  uint64_t unit = 1, tenths, twice_rest;
  size_t u = 0;

  for (; bytes / unit >= 1024 && u < sizeof units / sizeof units[0] - 1; u++)
    unit *= 1024;
  tenths = bytes * 10 / unit;
  twice_rest = bytes * 10 % unit * 2;
  if (twice_rest > unit || (twice_rest == unit && tenths % 2 != 0))
    tenths++;
  hearth_text_format(text, "%u", tenths / 10);
  if (u > 0)
    hearth_text_format(text, ".%u", tenths % 10);
  hearth_text_format(text, " %s", units[u]);
}

/* As other recorders of heaps tell it. A sample has no temporary blocks: the one after them is seldom in it. */
static void tell_totals(void) {
  char peak[32], live[32], temporary[48];
  hearth_text peak_text = hearth_text_begin(peak, sizeof peak), live_text = hearth_text_begin(live, sizeof live);
  hearth_text temporary_text = hearth_text_begin(temporary, sizeof temporary);
  hearth_dump_totals totals = hearth_dump_last_totals();

  hearth_live_tell();
  hearth_live_stop bytes = hearth_live_note_stop();
  add_bytes(&peak_text, bytes.most_bytes);
  add_bytes(&live_text, bytes.bytes);
  if (hearth_rt.options.sample == 0)
    hearth_text_format(&temporary_text, ", %u temporary", hearth_threads_temporary_blocks());
  if (totals.is_whole)
    hearth_message("peak %s, %u allocations%s, %u not freed (%s)", peak, totals.blocks, temporary, totals.live_blocks,
                   live);
  else
    hearth_message("peak %s, not freed %s", peak, live);
}

static void tell_profile(void) {
  const char *name = hearth_profile_file_written();

  hearth_message("the profile is %s", name);
  hearth_message("to see it: hearth index --symbols %s -o heap.prof && hearth show heap.prof", quoted(name));
}

static void tell_file(void) {
  if (hearth_rt.live)
    tell_dumps();
  else if (hearth_rt.tracing)
    tell_trace();
  else
    tell_profile();
}

static void tell_children(void) {
  static char buffer[HEARTH_OUTPUT_NAME];
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);

  hearth_profile_file_name_others(&name);
  hearth_message("those of child processes are %s", buffer);
}

void hearth_result_tell(void) {
  if (hearth_rt.pid != hearth_rt.options.tell_pid)
    return;
  bool is_kept = !hearth_profile_file_is_device();
  if (!hearth_rt.live && !hearth_rt.tracing)
    tell_totals();
  if (is_kept)
    tell_file();
  if (is_kept && hearth_rt.options.follow_children)
    tell_children();
}
