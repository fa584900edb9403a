/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The `hearth` command: finds the subcommand, and the rest of the installation. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "command.h"

/* ------------------------------------------------ installation ------------------------------------------------ */

/* /proc/self/exe leads to the executable, or where it is missing, the path that was executed; its folder leads to
 * the others: PREFIX/bin/hearth, PREFIX/lib/hearth/ with the libraries, PREFIX/lib/hearth/llvm-N/ with what is
 * linked for one release. In a build tree both are links to lib/. */

enum { OLDEST_RELEASE = 14 };

bool hearth_tool_library_directory(char *path, size_t size) {
  char executable[PATH_MAX], folder[PATH_MAX + 16], real[PATH_MAX];
  const char *executed = (const char *)getauxval(AT_EXECFN);
  if (!realpath("/proc/self/exe", executable) && !(executed && realpath(executed, executable)))
    return false;
  char *name = strrchr(executable, '/');
  if (!name)
    return false;
  *name = '\0';
  snprintf(folder, sizeof folder, "%s/../lib/hearth", executable);
  return realpath(folder, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

bool hearth_tool_release_file(int release, const char *name, char *path, size_t size) {
  char directory[PATH_MAX], file[PATH_MAX + 64], real[PATH_MAX];
  if (!hearth_tool_library_directory(directory, sizeof directory))
    return false;
  snprintf(file, sizeof file, "%s/llvm-%d/%s", directory, release, name);
  return realpath(file, real) && (size_t)snprintf(path, size, "%s", real) < size;
}

int hearth_tool_release_below(int limit, const char *name) {
  char path[PATH_MAX];
  for (int release = limit - 1; release >= OLDEST_RELEASE; release--)
    if (hearth_tool_release_file(release, name, path, sizeof path))
      return release;
  return 0;
}

/* ------------------------------------------------ verbs ------------------------------------------------ */

/* A verb of a module that this build leaves out has no function. */
#define RUN_IF(on, run)  RUN_IF_(on, run)
#define RUN_IF_(on, run) RUN_IF_##on(run)
#define RUN_IF_0(run)    NULL
#define RUN_IF_1(run)    run
#define HEARTH_CORE      1

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *option, *help;
} commands[] = {
#define HEARTH_VERB(part, name, run, help, see, example) {name, RUN_IF(HEARTH_##part, run), "HEARTH_" #part, help},
#include "verbs.def"
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const hearth_help help = {
    .usage = "COMMAND ...",
    .about = "Heap profile-guided optimisation for C and C++.",
    .end = "\n'hearth COMMAND --help' describes a command. -V, --version prints the version.\n"
           "Exit code: 0 success, 1 error, 2 wrong usage; those of diff, record and cc are their own.",
    .heading = "COMMANDS"};

static bool help_asked(const char *argument, FILE *stream) {
  hearth_option rows[COMMAND_COUNT + 1] = {{0}};
  for (size_t i = 0, count = 0; i < COMMAND_COUNT; i++)
    if (commands[i].run)
      rows[count++] = (hearth_option){.name = commands[i].name, .help = commands[i].help};
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

static bool asks_for_version(const char *word) { return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0; }

/* A compiler has a version of its own. */
static int run_command(const struct command *command, int argc, char **argv) {
  if (command->run != hearth_cmd_cc && argc == 2 && asks_for_version(argv[1]))
    return print_version();
  if (command->run)
    return command->run(argc, argv);
  return hearth_tool_error("this build leaves out '%s': build with -D%s=ON", command->name, command->option);
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
  if (asks_for_version(argv[1]) || strcmp(argv[1], "version") == 0)
    return print_version();
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].name) == 0)
      return run_command(&commands[i], argc - 1, argv + 1);
  hearth_guess guess = {0};
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    hearth_tool_guess(&guess, commands[i].name, argv[1], strlen(argv[1]));
  return guess.name ? hearth_tool_usage_error("", "there is no command '%s' (did you mean %s?)", argv[1], guess.name)
                    : hearth_tool_usage_error("", "there is no command '%s'", argv[1]);
}
