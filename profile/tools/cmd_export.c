/* hearth export: a profile for tools that draw profiles. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "hearth/export.h"
#include "output_file.h"
#include "view_options.h"

typedef struct arguments {
  const char *profile, *output;
  hearth_export_format format;
  bool format_given;
  hearth_export_options options;
} arguments;

static const char help[] =
    "Usage: hearth export --format=FORMAT [OPTION]... PROFILE [-o OUT]\n"
    "Write the contexts of an indexed profile for another tool; to standard output without -o.\n\n"
    "  --format=folded         a line per context: root;...;leaf VALUE, for flame graphs\n"
    "  --format=pprof          gzip-compressed protocol buffer: 'go tool pprof OUT'\n"
    "  --format=speedscope     JSON for speedscope\n"
    "  --format=dhat           JSON for Valgrind's dh_view.html\n"
    "  --value=QUANTITY        bytes (default), allocs, accesses, byte-seconds, live (bytes at exit) or live-allocs;\n"
    "                          pprof gets all of them, and begins with this one\n" HEARTH_VIEW_FILTER_HELP
        HEARTH_VIEW_CLASS_HELP HEARTH_VIEW_COMMON_HELP
    "  -o OUT                  file to write; replaced whole, or left as it is after an error\n";

static bool parse_format(const char *value, arguments *a) {
  static const char *const names[] = {"folded", "pprof", "speedscope", "dhat"}; /* as hearth_export_format */
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], value) == 0) {
      a->format = (hearth_export_format)i;
      return a->format_given = true;
    }
  return false;
}

static int parse_option(const char *argument, arguments *a) {
  const char *value;
  hearth_option_result result = hearth_tool_view_option(argument, &a->options.view);
  if (hearth_tool_option(argument, "--format", &value))
    result = parse_format(value, a) ? HEARTH_OPTION_TAKEN : HEARTH_OPTION_UNUSABLE;
  else if (hearth_tool_option(argument, "--value", &value))
    result = hearth_quantity_find(value, &a->options.value) ? HEARTH_OPTION_TAKEN : HEARTH_OPTION_UNUSABLE;
  if (result == HEARTH_OPTION_OTHER)
    return hearth_tool_usage_error("export", "unknown option '%s'", argument);
  return result == HEARTH_OPTION_TAKEN ? HEARTH_EXIT_OK
                                       : hearth_tool_usage_error("export", "unusable value in '%s'", argument);
}

static int parse(int argc, char **argv, arguments *a) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-o") == 0) {
      if (++i == argc)
        return hearth_tool_usage_error("export", "-o needs a file");
      a->output = argv[i];
    } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
      int code = parse_option(argv[i], a);
      if (code != HEARTH_EXIT_OK)
        return code;
    } else if (a->profile) {
      return hearth_tool_usage_error("export", "one profile at a time, not '%s' too", argv[i]);
    } else {
      a->profile = argv[i];
    }
  }
  if (!a->profile)
    return hearth_tool_usage_error("export", "which profile?");
  if (!a->format_given)
    return hearth_tool_usage_error("export", "in which format? Give --format=folded, pprof, speedscope or dhat");
  if (a->format == HEARTH_EXPORT_PPROF && !a->output && isatty(STDOUT_FILENO))
    return hearth_tool_usage_error("export", "pprof's format is not for terminals: give -o OUT");
  return HEARTH_EXIT_OK;
}

int hearth_cmd_export(int argc, char **argv) {
  arguments a = {0};
  hearth_output output;
  hearth_error err;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(help, stdout);
      return hearth_tool_finish();
    }
  int code = parse(argc, argv, &a);
  if (code != HEARTH_EXIT_OK)
    return code;
  hearth_profile *profile = hearth_tool_open_profile(a.profile);
  if (!profile)
    return HEARTH_EXIT_ERROR;
  a.options.title = a.profile;
  code = HEARTH_EXIT_ERROR;
  hearth_output_guard();
  if (hearth_output_open(&output, a.output)) {
    bool good = hearth_export(profile, a.format, &a.options, output.stream, &err) == HEARTH_OK;
    if (!good)
      hearth_tool_view_error(output.replacement.path, &err);
    if (hearth_output_close(&output, good) && good)
      code = HEARTH_EXIT_OK;
  }
  hearth_profile_close(profile);
  return code;
}
