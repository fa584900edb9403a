/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth export`: a profile for tools that draw profiles. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "hearth/profile_export.h"
#include "view_options.h"

typedef struct arguments {
  const char *profile, *output;
  hearth_profile *opened;
  hearth_export_format format;
  bool format_given;
  hearth_view_options view;
  hearth_export_options options;
} arguments;

static const hearth_help help = {
    .usage = "export --format=FORMAT [OPTION]... PROFILE [-o OUT]",
    .about = "Write the contexts of an indexed profile ('-': standard input) for another tool."};

static int export_command_take_format(void *target, const char *value) {
  static const char *const names[] = {"folded", "pprof", "dhat", "massif", "chrome"}; /* as hearth_export_format */
  arguments *a = target;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], value) == 0) {
      a->format = (hearth_export_format)i;
      a->format_given = true;
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

static int export_command_check(int operands, char **argv, const arguments *a) {
  if (operands > 1)
    return hearth_tool_usage_error("export", "one profile at a time, not '%s' too", argv[2]);
  if (operands == 0)
    return hearth_tool_usage_error("export", "which profile?");
  if (!a->format_given)
    return hearth_tool_usage_error("export", "in which format? Give --format=folded, pprof, dhat, massif or chrome");
  if (a->options.value != HEARTH_QUANTITY_BYTES && a->format != HEARTH_EXPORT_FOLDED &&
      a->format != HEARTH_EXPORT_PPROF)
    return hearth_tool_usage_error("export", "--value goes with --format=folded and pprof");
  if (a->format == HEARTH_EXPORT_PPROF && hearth_output_is_standard(a->output) && isatty(STDOUT_FILENO))
    return hearth_tool_usage_error("export", "pprof's format is not for terminals: give -o OUT");
  return HEARTH_EXIT_OK;
}

static bool export_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TAKE("--format", 0, "FORMAT", "folded, pprof, dhat, massif or chrome", export_command_take_format, a,
                  "output format:\n"
                  "  folded  a line per context: root;...;leaf VALUE, for flame graphs and speedscope\n"
                  "  pprof   gzip-compressed protocol buffer: 'go tool pprof OUT'; also for speedscope\n"
                  "  dhat    JSON for Valgrind's dh_view.html\n"
                  "  massif  for Valgrind's ms_print: the heap over time, and who held the peak\n"
                  "  chrome  JSON for Perfetto and chrome://tracing: the heap over time by function"),
      HEARTH_TAKE(
          "--value", 0, "QUANTITY", "bytes, allocs, accesses, byte-seconds, live, live-allocs, peak or peak-allocs",
          hearth_tool_take_quantity, &a->options.value,
          "bytes (default), allocs, accesses, byte-seconds, live (bytes at exit), live-allocs, peak (bytes when "
          "most were live) or peak-allocs, for folded; pprof gets all of them, and this one first"),
      HEARTH_VIEW_CLASS_OPTION(&a->view),
      HEARTH_VIEW_OPTIONS(&a->view),
      HEARTH_TEXT(
          "--output", 'o', "OUT", "a file", &a->output,
          "file to write; replaced whole, or left as it is after an error; '-', the default, is standard output"),
      {0}};
  int operands;
  a->output = "-";
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = export_command_check(operands, argv, a)) != HEARTH_EXIT_OK)
    return false;
  a->profile = argv[1];
  a->options.view = &a->view;
  return true;
}

static hearth_status write_export(const void *given, FILE *stream, hearth_error *err) {
  const arguments *a = given;
  return hearth_export(a->opened, a->format, &a->options, stream, err);
}

int hearth_cmd_export(int argc, char **argv) {
  arguments a = {0};
  int code;
  if (!export_command_parse(argc, argv, &a, &code))
    return code;
  a.options.title = a.profile;
  a.opened = hearth_tool_open_profile(a.profile);
  code = a.opened ? hearth_output_view(a.output, write_export, &a) : HEARTH_EXIT_ERROR;
  hearth_profile_close(a.opened);
  return code;
}
