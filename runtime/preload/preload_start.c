/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The start and the end of libhearth_preload.so: it removes the entries that `hearth record` put into the
 * environment, and says where the result is. */
#include "blocks.h"
#include "dump.h"
#include "history.h"
#include "mappings.h"
#include "os.h"
#include "output.h"
#include "process.h"
#include "running_profile.h"
#include "trace_recorder.h"

#include "hearth/running_program.h"

#include <string.h>

/* Where the first entry of the variable's list of libraries, which is ours, ends. */
static const char *behind_own_library(const char *libraries) {
  const char *at = libraries + strcspn(libraries, ": ");

  return at + strspn(at, ": ");
}

static bool is_variable(const char *setting, const char *name) {
  size_t length = strlen(name);

  return strncmp(setting, name, length) == 0 && setting[length] == '=';
}

/* Remove the entries that `hearth record` put into the environment: the program sees the same environment as without
 * it, and programs that it runs are not recorded. */
static void restore_environment(char **environment) {
  char **kept = environment;

  for (; *environment; ++environment) {
    char *setting = *environment;
    if (is_variable(setting, HEARTH_RECORD_VARIABLE))
      continue;
    if (is_variable(setting, "LD_PRELOAD")) {
      char *libraries = strchr(setting, '=') + 1;
      const char *others = behind_own_library(libraries);
      if (!*others)
        continue;
      memmove(libraries, others, strlen(others) + 1);
    }
    *kept++ = setting;
  }
  *kept = NULL;
}

static char **own_environment;

/* Somebody else than `hearth record` may have preloaded the library. */
bool hearth_library_begins(char **environment) {
  if (!hearth_environment_find(environment, HEARTH_RECORD_VARIABLE))
    return false;
  hearth_recorder = &hearth_trace_recorder;
  own_environment = environment;
  return true;
}

void hearth_library_has_begun(char **environment) {
  if (!hearth_rt.options.follow_children)
    restore_environment(environment);
}

/* The mode tells which kind of file was written, and so which command shows it. */

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

static void tell_trace_file(void) {
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

/* Once, though a program and its library may both say so. */
static void tell_other_heap(void) {
  const char *text = NULL;

  for (const hearth_mapping *row = NULL; !text && (row = hearth_mappings_next(row));)
    text = hearth_other_heap(row->path, row->path_size);
  if (text)
    hearth_message("not in it: %s", text);
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
    tell_trace_file();
  else
    tell_profile();
}

static void tell_children(void) {
  static char buffer[HEARTH_OUTPUT_NAME];
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);

  hearth_profile_file_name_others(&name);
  hearth_message("those of child processes are %s", buffer);
}

void hearth_preload_tell_result(void) {
  if (hearth_rt.pid != hearth_rt.options.tell_pid)
    return;
  bool is_kept = !hearth_profile_file_is_device() && hearth_rt.options.tell_file;
  if (!hearth_rt.live && !hearth_rt.tracing)
    tell_totals();
  tell_other_heap();
  if (is_kept)
    tell_file();
  if (is_kept && hearth_rt.options.follow_children)
    tell_children();
}

/* The program is executed anew, before anything of it ran: with its arguments as the kernel has them, also if the
 * dynamic loader was told to run it. */

#define ARGUMENTS_MOST ((size_t)8 << 20) /* bytes; the kernel takes at most 6 MiB */

static bool is_same_file(const char *one, const char *other) {
  hearth_os_file_id id;
  int fd = hearth_os_open_read(one), fd_of_other = hearth_os_open_read(other);
  bool same = hearth_os_file_id_of(fd_of_other, &id) && hearth_os_is_file(fd, id);

  if (fd >= 0)
    hearth_os_close(fd);
  if (fd_of_other >= 0)
    hearth_os_close(fd_of_other);
  return same;
}

/* The file that runs; of a script, its interpreter. */
static const char *find_program(void) {
  static const char running[] = "/proc/self/exe";
  const char *path = hearth_os_program_path();

  return is_same_file(path, running) ? path : running;
}

static void execute_anew(char *arguments, size_t size, char **environment) {
  size_t count = 0;

  for (size_t i = 0; i < size; i++)
    count += arguments[i] == '\0';
  char **argv = hearth_system_map(HEARTH_WHOLE_PAGES((count + 1) * sizeof *argv));
  for (size_t i = 0; argv && i < count; i++, arguments += strlen(arguments) + 1)
    argv[i] = arguments;
  if (argv)
    hearth_os_exec(find_program(), argv, environment);
}

static void tell_no_space(void) {
  char letter[2] = "";
  uint64_t limit = hearth_os_address_space_limit(letter);

  if (limit == UINT64_MAX)
    hearth_message("the system has no address space to record in; the program runs unrecorded");
  else
    hearth_message("the address space is limited to %u KiB (ulimit -%s), which is too little to record in; the program "
                   "runs unrecorded",
                   limit / 1024, letter);
}

static void run_plain(char **environment) {
  size_t room = 2 * ARGUMENTS_MOST, size;
  char *arguments = NULL;

  while (!arguments && room > HEARTH_PAGE_BYTES)
    arguments = hearth_system_map(room /= 2); /* most of the space may be taken already */
  size = arguments ? hearth_os_command(arguments, room) : 0;
  if (size == 0 || size == room)
    return;
  tell_no_space();
  execute_anew(arguments, size, environment);
}

void hearth_preload_give_up(void) {
  restore_environment(own_environment);
  run_plain(own_environment);
}
