/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The `hearth` command: finds the subcommand. */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "command_line.h"
#include "install_paths.h"

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *help;
} commands[] = {
    {"record", hearth_cmd_record, "run a program as it is and write its heap profile"},
    {"run", hearth_cmd_run, "run a program as it is, with its blocks placed by a profile"},
    {"index", hearth_cmd_index, "turn raw profiles and binaries into one indexed profile"},
    {"merge", hearth_cmd_index, "the same command: merge profiles of all kinds into one"},
    {"plan", hearth_cmd_plan, "choose the call sites that tell contexts apart at run time"},
    {"tune", hearth_cmd_tune, "find the pools that a program gains by, by running it"},
    {"show", hearth_cmd_show, "print the contents of an indexed profile"},
    {"strip", hearth_cmd_strip, "take all names and paths out of a profile"},
    {"split", hearth_cmd_split, "split a profile into shards, to be merged on several machines"},
    {"advise", hearth_cmd_advise, "print what a program could do better with its memory"},
    {"diff", hearth_cmd_diff, "compare two indexed profiles"},
    {"heap", hearth_cmd_heap, "show the live blocks at moments of a recorded run"},
    {"export", hearth_cmd_export, "write a profile for flame graphs, pprof, speedscope or DHAT"},
    {"report", hearth_cmd_report, "write a page that shows a profile: flame graph, contexts, plots"},
    {"check", hearth_cmd_check, "check the heap-profile metadata of LLVM modules"},
    {"trace", hearth_cmd_trace, "count, print or replay the operations of a trace"},
    {"dump", hearth_cmd_dump, "ask a running program to write its profile"},
    {"top", hearth_cmd_top, "show the contents of a running program's hot and cold ranges"},
    {"verify", hearth_cmd_verify, "compare the placements of a recorded run with a profile's plan"},
    {"cc", hearth_cmd_cc, "compile and link C as the variable HEARTH says; also called hearth-cc"},
    {"c++", hearth_cmd_cc, "the same for C++; also called hearth-c++"},
    {"flags", hearth_cmd_flags, "print compiler and linker flags"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const hearth_help help = {
    .usage = "COMMAND ...",
    .about = "Heap profile-guided optimisation for C and C++.",
    .end = "\n'hearth COMMAND --help' describes a command. --version prints the version.\n"
           "Exit code: 0 success, 1 error, 2 wrong usage; those of diff, record and cc are their own.",
    .heading = "COMMANDS"};

static bool help_asked(const char *argument, FILE *stream) {
  hearth_option rows[COMMAND_COUNT + 1] = {{0}};
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    rows[i] = (hearth_option){.name = commands[i].name, .help = commands[i].help};
  return hearth_help_asked(argument, &help, rows, stream);
}

static int print_version(void) {
  int release = hearth_tool_release_below(HEARTH_RELEASE_LIMIT, HEARTH_PLUGIN_NAME);
  printf("hearth %s (%s", HEARTH_VERSION, release ? "plugin for LLVM " : "no plugin");
  for (const char *comma = ""; release; release = hearth_tool_release_below(release, HEARTH_PLUGIN_NAME), comma = ", ")
    printf("%s%d", comma, release);
  puts(")");
  return hearth_tool_finish();
}

/* hearth-cc and hearth-c++ are links to this command: one word, which CC and CXX can be in every build system. */
static bool is_compiler(char **argv) {
  const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
  bool is = strcmp(name, "hearth-cc") == 0 || strcmp(name, "hearth-c++") == 0;
  if (is)
    argv[0] += name + strlen("hearth-") - argv[0];
  return is;
}

int main(int argc, char **argv) {
  if (argc > 0 && is_compiler(argv))
    return hearth_cmd_cc(argc, argv);
  if (argc < 2) {
    help_asked("--help", stderr);
    return HEARTH_EXIT_USAGE;
  }
  if (strcmp(argv[1], "help") == 0 && argc > 2) { /* "help COMMAND" is "COMMAND --help" */
    argv[1] = argv[2];
    argv[2] = "--help";
  }
  if (help_asked(strcmp(argv[1], "help") == 0 ? "--help" : argv[1], stdout))
    return hearth_tool_finish();
  if (strcmp(argv[1], "--version") == 0)
    return print_version();
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].name) == 0)
      return commands[i].run(argc - 1, argv + 1);
  hearth_guess guess = {0};
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    hearth_tool_guess(&guess, commands[i].name, argv[1], strlen(argv[1]));
  return guess.name ? hearth_tool_usage_error("", "there is no command '%s' (did you mean %s?)", argv[1], guess.name)
                    : hearth_tool_usage_error("", "there is no command '%s'", argv[1]);
}
