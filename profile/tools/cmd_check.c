/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth check`: the rules of heap-profile metadata, for files of LLVM's. `hearth-ir` checks them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"
#include "commands.h"
#include "file.h"
#include "install_paths.h"

static const hearth_help help = {
    .usage = "check [--stats] [--limit=N] FILE...",
    .about = "Check the heap-profile metadata of modules, textual IR or bitcode ('-': standard input), against the "
             "rules (docs/ir-metadata.md). LLVM's own verifier does not know some of these rules, or crashes on them.",
    .end = "Exit code: 0 no findings, 1 findings or an error, 2 wrong usage."};

static bool is_regular(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* LLVM would show the file's bytes. Returns HEARTH_EXIT_OK if it may be a module; pipes can be read only once. */
static int check_refuse_foreign(const char *path) {
  char begin[512];
  FILE *file = is_regular(path) ? fopen(path, "re") : NULL;
  size_t size = file ? fread(begin, 1, sizeof begin, file) : 0;
  const char *kind = hearth_file_kind(begin, size);
  if (file)
    fclose(file);
  return kind ? hearth_tool_error("%s: not a module of LLVM's: it is %s", path, kind) : HEARTH_EXIT_OK;
}

int hearth_cmd_check(int argc, char **argv) {
  hearth_number_option limit = {.most = SIZE_MAX, .value = 100};
  bool statistics = false;
  const hearth_option options[] = {
      {.name = "--stats", .flag = &statistics, .help = "also print statistics of each module"},
      {.name = "--limit",
       .value = "N",
       .expects = "a number",
       .take = hearth_tool_take_number,
       .target = &limit,
       .help = "print at most N findings of each module (default 100; 0: all)"},
      {0}};
  int files, code = HEARTH_EXIT_OK;
  if (!hearth_tool_parse(options, &help, argc, argv, &files, &code))
    return code;
  if (files == 0)
    return hearth_tool_usage_error("check", "which modules?");
  for (int i = 1; i <= files; i++)
    if (check_refuse_foreign(argv[i]) != HEARTH_EXIT_OK)
      code = HEARTH_EXIT_ERROR;
  if (code != HEARTH_EXIT_OK)
    return code;
  char number[24], *arguments[files + 5];
  snprintf(number, sizeof number, "%" PRIu64, limit.value);
  arguments[1] = "check";
  arguments[2] = statistics ? "1" : "0";
  arguments[3] = number;
  memcpy(arguments + 4, argv + 1, (size_t)files * sizeof *argv);
  arguments[files + 4] = NULL;
  return hearth_tool_run_ir(arguments);
}
