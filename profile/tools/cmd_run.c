/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth run`: run an unchanged program with another allocator preloaded: Hearth's, for every block; or, with a profile, the
 * adapter with a list of the program's calls.
 *
 * The command takes this process's place: input, output, exit and process id are its own. The list is in memory that it
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
    .usage = "run -- COMMAND [ARGUMENT...]\nrun [OPTION...] PROFILE [--] COMMAND [ARGUMENT...]",
    .about =
        "Run a dynamically linked program as it is, with Hearth's allocator. With PROFILE, its blocks are placed by "
        "what "
        "'hearth index' makes of a recording by 'hearth record'; 'hearth plan --paths PROFILE' shows how its calls are "
        "told apart.",
    .end = "HEARTH_HOTCOLD takes options of the allocator. Programs that the command starts inherit both.\n"
           "Exit code: the command's; 125 the list cannot be made, 126 the command cannot be run, 127 it does not "
           "exist; 2 "
           "wrong usage."};

typedef struct request {
  const char *profile;
  const char *list; /* NULL: in memory */
  uint32_t layout;  /* of hearth_path_plan_make */
  bool quiet;
} request;

/* The list's options, behind the user's. */
typedef struct settings {
  char text[4096];
} settings;

static hearth_status write_list(const request *r, FILE *stream, bool *ret_has_hints, hearth_error *err) {
  hearth_profile *profile;
  void *data = NULL;
  HEARTH_TRY(hearth_profile_open_stream(r->profile, &profile, err));
  hearth_status status = hearth_path_plan_make(&profile, r->layout, &data, err);
  if (status == HEARTH_OK)
    status = hearth_path_keys_write(profile, stream, ret_has_hints, err);
  hearth_profile_close(profile);
  free(data);
  return status;
}

/* The descriptor on which the command finds the list, which nobody can change any more; -1 after a message. */
static int make_list(const request *r, bool *ret_has_hints) {
  enum { HIGH = 900 };
  struct rlimit limit;
  hearth_error err;
  int file = memfd_create("hearth-calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  FILE *stream = file < 0 ? NULL : fdopen(file, "w");
  if (!stream) {
    hearth_preloaded_refuse("no memory for the list: %s", strerror(errno));
    return -1;
  }
  if (write_list(r, stream, ret_has_hints, &err) != HEARTH_OK) {
    hearth_preloaded_refuse("%s: %s", r->profile, err.message);
    return -1;
  }
  int least = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= HIGH ? (int)limit.rlim_cur - 1 : HIGH;
  int kept = fcntl(file, F_DUPFD, least);
  if (kept < 0 || fcntl(kept, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    hearth_preloaded_refuse("no descriptor for the list: %s", strerror(errno));
    return -1;
  }
  return kept;
}

/* The same in a file, replaced whole. */
static bool keep_list(const request *r, bool *ret_has_hints) {
  hearth_output output;
  hearth_error err;
  if (!hearth_output_open(&output, r->list))
    return false;
  bool good = write_list(r, output.stream, ret_has_hints, &err) == HEARTH_OK;
  if (!good)
    hearth_tool_error("%s: %s", r->profile, err.message);
  return hearth_output_close(&output, good) && good;
}

static bool describe(const char *list, settings *ret) {
  const char *others = getenv("HEARTH_HOTCOLD");
  int printed = snprintf(ret->text, sizeof ret->text, "%s%slibrary-calls=%s", others ? others : "",
                         others && *others ? ":" : "", list);
  return printed >= 0 && (size_t)printed < sizeof ret->text;
}

static int run_as_it_is(const request *r, const hearth_preloaded *program, char **argv) {
  if (!r->quiet)
    fprintf(stderr, "hearth: %s: nothing is predicted to gain: the program runs as it is\n", r->profile);
  return hearth_preloaded_start(program, false, NULL, NULL, argv);
}

static int run_without_profile(char **argv) {
  hearth_preloaded program;
  int code = hearth_preloaded_find(argv[0], "libhearth_malloc.so", &program);
  return code == HEARTH_EXIT_OK ? hearth_preloaded_start(&program, true, NULL, NULL, argv) : code;
}

static int run_with_profile(const request *r, char **argv) {
  char path[PATH_MAX];
  hearth_preloaded program;
  settings settings;
  bool has_hints;
  int code = hearth_preloaded_find(argv[0], "libhearth_hotcold_calls.so", &program);
  if (code != HEARTH_EXIT_OK)
    return code;
  int list = r->list ? 0 : make_list(r, &has_hints);
  if (list < 0 || (r->list && !keep_list(r, &has_hints)))
    return 125;
  if (!has_hints) {
    if (!r->list)
      close(list);
    return run_as_it_is(r, &program, argv);
  }
  if (!r->list)
    snprintf(path, sizeof path, "/proc/self/fd/%d", list);
  else if (!realpath(r->list, path) || strchr(path, ':'))
    return hearth_preloaded_refuse("%s: the path cannot be told, or has colons: choose another one", r->list);
  if (!describe(path, &settings))
    return hearth_preloaded_refuse("HEARTH_HOTCOLD is too long");
  return hearth_preloaded_start(&program, true, "HEARTH_HOTCOLD", settings.text, argv);
}

/* "--" before the first operand, which options may precede. */
static bool begins_with_command(int argc, char **argv) {
  static const char *const with_value[] = {"--list", "--layout"};
  for (int i = 1; i < argc && argv[i][0] == '-'; i++) {
    if (strcmp(argv[i], "--") == 0)
      return true;
    for (size_t k = 0; k < sizeof with_value / sizeof *with_value; k++)
      i += strcmp(argv[i], with_value[k]) == 0;
  }
  return false;
}

int hearth_cmd_run(int argc, char **argv) {
  bool has_no_profile = begins_with_command(argc, argv);
  request r = {.layout = HEARTH_PATH_LAYOUT_OWN};
  const hearth_option options[] = {
      {.name = "--list",
       .value = "FILE",
       .expects = "a file",
       .text = &r.list,
       .help =
           "keep the list of calls in FILE, where programs find it whose parents closed all descriptors (default: in "
           "memory)"},
      {.name = "--layout",
       .value = "LAYOUT",
       .expects = "auto, none, cold, warm, calls or groups",
       .take = hearth_tool_take_layout,
       .target = &r.layout,
       .help = "plan anew, as 'hearth plan --layout' does (default: the plan of PROFILE; if it has no counts of "
               "accesses and no "
               "pools, auto, as if each live byte were accessed as often as any other)"},
      {.name = "--quiet", .letter = 'q', .flag = &r.quiet, .help = "print errors only"},
      {0}};
  int operands, code;
  if (!hearth_tool_parse_command(options, &help, argc, argv, &operands, &code))
    return code;
  if (operands == 0)
    return hearth_tool_usage_error("run", "which command?");
  argv[operands + 1] = NULL;
  if (has_no_profile) {
    if (r.list || r.layout != HEARTH_PATH_LAYOUT_OWN)
      return hearth_tool_usage_error("run", "--list and --layout go with a profile");
    return run_without_profile(argv + 1);
  }
  int first = operands > 1 && strcmp(argv[2], "--") == 0 ? 3 : 2;
  if (first > operands)
    return hearth_tool_usage_error("run", "which command? (without a profile: hearth run -- %s)", argv[1]);
  r.profile = argv[1];
  return run_with_profile(&r, argv + first);
}
