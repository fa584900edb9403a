/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The `hearth` command: finds the subcommand. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"record", hearth_cmd_record, "run a program as it is and write its heap profile"},
    {"index", hearth_cmd_index, "turn raw profiles and binaries into one indexed profile"},
    {"merge", hearth_cmd_index, "the same command: merge profiles of all kinds into one"},
    {"plan", hearth_cmd_plan, "choose the call sites that tell contexts apart at run time"},
    {"show", hearth_cmd_show, "print the contents of an indexed profile"},
    {"advise", hearth_cmd_advise, "print what a program could do better with its memory"},
    {"diff", hearth_cmd_diff, "compare two indexed profiles"},
    {"heap", hearth_cmd_heap, "show the live blocks at moments of a recorded run"},
    {"export", hearth_cmd_export, "write a profile for flame graphs, pprof, speedscope or DHAT"},
    {"report", hearth_cmd_report, "write a page that shows a profile: flame graph, contexts, plots"},
    {"check", hearth_cmd_check, "check the heap-profile metadata of LLVM modules"},
    {"trace", hearth_cmd_trace, "count, print or replay the operations of a trace"},
    {"dump", hearth_cmd_dump, "ask a running program to write its profile"},
    {"top", hearth_cmd_top, "show the contents of a running program's hot and cold ranges"},
    {"flags", hearth_cmd_flags, "print compiler and linker flags"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int print_help(FILE *stream) {
  fprintf(stream, "Usage: hearth COMMAND ...\n"
                  "Heap profile-guided optimisation for C and C++.\n\n"
                  "Commands:\n");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    fprintf(stream, "  %-7s %s\n", commands[i].name, commands[i].help);
  fprintf(stream, "\n'hearth COMMAND --help' describes a command. --version prints the version.\n"
                  "Exit code: 0 success, 1 error, 2 wrong usage; those of diff are its own.\n");
  return stream == stdout ? hearth_tool_finish() : HEARTH_EXIT_USAGE;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return print_help(stderr);
  if (strcmp(argv[1], "help") == 0 && argc > 2) { /* "help COMMAND" is "COMMAND --help" */
    argv[1] = argv[2];
    argv[2] = "--help";
  }
  if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return print_help(stdout);
  if (strcmp(argv[1], "--version") == 0) {
    printf("hearth %s (plugin for LLVM %d)\n", HEARTH_VERSION, HEARTH_LLVM_MAJOR);
    return hearth_tool_finish();
  }
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].name) == 0)
      return commands[i].run(argc - 1, argv + 1);
  hearth_guess guess = {0};
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    hearth_tool_guess(&guess, commands[i].name, argv[1], strlen(argv[1]));
  return guess.name ? hearth_tool_usage_error("", "there is no command '%s' (did you mean %s?)", argv[1], guess.name)
                    : hearth_tool_usage_error("", "there is no command '%s'", argv[1]);
}
