/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth run`: run an unchanged program, with the allocator adapter preloaded and a table of its calls.
 *
 * The command takes this process's place: input, output, exit and process id are its own. The table is in memory that it
 * inherits, under a descriptor that no program uses by chance. */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "command_line.h"
#include "commands.h"
#include "hearth/path_keys.h"
#include "output_file.h"
#include "preloaded_program.h"
#include "view_options.h"

static const hearth_help help = {
    .usage = "run [OPTION...] PROFILE [--] COMMAND [ARGUMENT...]",
    .about =
        "Run a dynamically linked program as it is, with its blocks placed by PROFILE: what 'hearth index' makes of a "
        "recording by 'hearth record'. 'hearth plan --paths PROFILE' shows how its calls are told apart.",
    .end =
        "HEARTH_HOTCOLD takes options of the allocator. Programs that the command starts inherit both.\n"
        "Exit code: the command's; 125 nothing can be placed, 126 the command cannot be run, 127 it does not exist; 2 "
        "wrong usage."};

/* The table's options, behind the user's. */
typedef struct settings {
  char text[4096];
} settings;

static hearth_status write_table(const char *profile_name, FILE *stream, hearth_error *err) {
  hearth_profile *profile;
  HEARTH_TRY(hearth_profile_open_stream(profile_name, &profile, err));
  hearth_status status = hearth_path_keys_write(profile, stream, err);
  hearth_profile_close(profile);
  return status;
}

/* The descriptor on which the command finds the table, which nobody can change any more; -1 after a message. */
static int make_table(const char *profile) {
  enum { HIGH = 900 };
  struct rlimit limit;
  hearth_error err;
  int file = memfd_create("hearth-calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (!stream) {
    hearth_preloaded_refuse("no memory for the table: %s", strerror(errno));
    return -1;
  }
  if (write_table(profile, stream, &err) != HEARTH_OK) {
    hearth_preloaded_refuse("%s: %s", profile, err.message);
    return -1;
  }
  int least = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIGH ? (int)limit.rlim_cur - 1 : HIGH;
  int kept = fcntl(file, F_DUPFD, least);
  if (kept < 0 || fcntl(kept, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    hearth_preloaded_refuse("no descriptor for the table: %s", strerror(errno));
    return -1;
  }
  return kept;
}

/* The same in a file, replaced whole. */
static bool keep_table(const char *profile, const char *path) {
  hearth_output output;
  hearth_error err;
  if (!hearth_output_open(&output, path))
    return false;
  bool good = write_table(profile, output.stream, &err) == HEARTH_OK;
  if (!good)
    hearth_tool_error("%s: %s", profile, err.message);
  return hearth_output_close(&output, good) && good;
}

static bool describe(const char *table, settings *ret) {
  const char *others = getenv("HEARTH_HOTCOLD");
  int printed = snprintf(ret->text, sizeof ret->text, "%s%slibrary-calls=%s", others ? others : "",
                         others && *others ? ":" : "", table);
  return printed >= 0 && (size_t)printed < sizeof ret->text;
}

static int run(const char *profile, const char *file, char **argv) {
  char path[PATH_MAX];
  hearth_preloaded program;
  settings settings;
  int code = hearth_preloaded_find(argv[0], "libhearth_hotcold_calls.so", &program);
  if (code != HEARTH_EXIT_OK)
    return code;
  int table = file ? 0 : make_table(profile);
  if (table < 0 || (file && !keep_table(profile, file)))
    return 125;
  if (!file)
    snprintf(path, sizeof path, "/proc/self/fd/%d", table);
  else if (!realpath(file, path) || strchr(path, ':'))
    return hearth_preloaded_refuse("%s: the path cannot be told, or has colons: choose another one", file);
  if (!describe(path, &settings))
    return hearth_preloaded_refuse("HEARTH_HOTCOLD is too long");
  return hearth_preloaded_start(&program, "HEARTH_HOTCOLD", settings.text, argv);
}

int hearth_cmd_run(int argc, char **argv) {
  const char *table = NULL;
  const hearth_option options[] = {
      {.name = "--table",
       .value = "FILE",
       .expects = "a file",
       .text = &table,
       .help =
           "keep the table of calls in FILE, where programs find it whose parents closed all descriptors (default: in "
           "memory)"},
      {0}};
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which profile, and which command?");
  int first = operands > 1 && strcmp(argv[2], "--") == 0 ? 3 : 2;
  if (first > operands)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  return run(argv[1], table, argv + first);
}
