/* hearth show: what a profile says, for people and for programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "hearth/llvm_profile.h"
#include "hearth/report.h"
#include "view_options.h"

enum { DEFAULT_FUNCTIONS = 20, DEFAULT_CONTEXTS = 5 }; /* of the report; JSON has all */

typedef enum form { FORM_REPORT, FORM_JSON, FORM_YAML, FORM_TEXT } form;

typedef struct arguments {
  const char *profile;
  form form;
  hearth_report_options options;
  bool functions_given, contexts_given;
} arguments;

static const char help[] =
    "Usage: hearth show [OPTION]... PROFILE\n"
    "Print the contexts of an indexed profile by allocating function, heaviest first.\n\n"
    "  --top=N                 print N functions (default 20)\n"
    "  --contexts=N            print N contexts of each (default 5)\n"
    "  --full                  print all functions and all their contexts\n" HEARTH_VIEW_FILTER_HELP
        HEARTH_VIEW_CLASS_HELP
    "  --sort=KEY              bytes (default), allocs, accesses, byte-seconds, live (bytes at exit), live-allocs or\n"
    "                          lifetime (average)\n" HEARTH_VIEW_COMMON_HELP
    "  --json                  print the report as JSON: all of it, unless --top or --contexts is given\n"
    "  --yaml                  print what LLVM's own profile would hold, as 'llvm-profdata show --memory' does\n"
    "  --text                  print the text form, which 'hearth index' reads, and nothing else\n"
    "  --metadata-stats        print what its contexts would be as LLVM metadata, and what chaining saves\n";

static bool parse_sort(const char *value, unsigned *ret) {
  hearth_quantity quantity;
  bool lifetime = strcmp(value, "lifetime") == 0;
  bool found = lifetime || hearth_quantity_find(value, &quantity);
  if (found)
    *ret = lifetime ? HEARTH_SORT_LIFETIME : quantity;
  return found;
}

static int parse_option(const char *argument, arguments *a) {
  const char *value;
  bool good = true;
  hearth_option_result result = hearth_tool_view_option(argument, &a->options.view);
  if (result != HEARTH_OPTION_OTHER) {
    good = result == HEARTH_OPTION_TAKEN;
  } else if (strcmp(argument, "--full") == 0) {
    a->options.functions = a->options.contexts = SIZE_MAX;
    a->functions_given = a->contexts_given = true;
  } else if (strcmp(argument, "--json") == 0) {
    a->form = FORM_JSON;
  } else if (strcmp(argument, "--yaml") == 0) {
    a->form = FORM_YAML;
  } else if (strcmp(argument, "--text") == 0) {
    a->form = FORM_TEXT;
  } else if (hearth_tool_option(argument, "--top", &value)) {
    good = a->functions_given = hearth_tool_count(value, &a->options.functions);
  } else if (hearth_tool_option(argument, "--contexts", &value)) {
    good = a->contexts_given = hearth_tool_count(value, &a->options.contexts);
  } else if (hearth_tool_option(argument, "--sort", &value)) {
    good = parse_sort(value, &a->options.sort);
  } else {
    return hearth_tool_usage_error("show", "unknown option '%s'", argument);
  }
  return good ? HEARTH_EXIT_OK : hearth_tool_usage_error("show", "unusable value in '%s'", argument);
}

static int parse(int argc, char **argv, arguments *a) {
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-' && argv[i][1] != '\0') {
      int code = parse_option(argv[i], a);
      if (code != HEARTH_EXIT_OK)
        return code;
    } else if (a->profile) {
      return hearth_tool_usage_error("show", "one profile at a time, not '%s' too", argv[i]);
    } else {
      a->profile = argv[i];
    }
  }
  if (!a->functions_given)
    a->options.functions = a->form == FORM_JSON ? SIZE_MAX : DEFAULT_FUNCTIONS;
  if (!a->contexts_given)
    a->options.contexts = a->form == FORM_JSON ? SIZE_MAX : DEFAULT_CONTEXTS;
  return a->profile ? HEARTH_EXIT_OK : hearth_tool_usage_error("show", "which profile?");
}

static hearth_status print_yaml(hearth_profile *profile, hearth_error *err) {
  hearth_llvm_losses losses;
  char text[512];
  HEARTH_TRY(hearth_llvm_print_yaml(profile, stdout, &losses, err));
  if (hearth_llvm_describe_losses(&losses, text, sizeof text))
    hearth_tool_warning("%s", text);
  return HEARTH_OK;
}

static hearth_status print(hearth_profile *profile, const arguments *a, hearth_error *err) {
  switch (a->form) {
  case FORM_JSON:
    return hearth_report_print_json(profile, a->profile, &a->options, stdout, err);
  case FORM_YAML:
    return print_yaml(profile, err);
  case FORM_TEXT:
    return hearth_profile_print_text(profile, stdout, err);
  case FORM_REPORT:
    break;
  }
  return hearth_report_print_text(profile, a->profile, &a->options, stdout, err);
}

/* Everything but the option itself is for `hearth-ir stats`. */
static int show_metadata_stats(int argc, char **argv) {
  char *arguments[argc + 2];
  int n = 2;
  arguments[1] = "stats";
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--metadata-stats") != 0)
      arguments[n++] = argv[i];
  arguments[n] = NULL;
  return hearth_tool_run_ir(arguments);
}

int hearth_cmd_show(int argc, char **argv) {
  arguments a = {0};
  hearth_error err;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--metadata-stats") == 0)
      return show_metadata_stats(argc, argv);
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
  hearth_status status = print(profile, &a, &err);
  hearth_profile_close(profile);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_view_error("standard output", &err);
}
