/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth report`: a page to look at. */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hearth/indexer.h"
#include "hearth/profile_export.h"
#include "trace_profile.h"
#include "view_options.h"

typedef struct arguments {
  const char *profile, *base, *output;
  char *named; /* `output`, where none was given: after the profile */
  hearth_profile *shown;
  hearth_view_options view;
  hearth_page_options options;
} arguments;

static const hearth_help help = {
    .usage = "report [OPTION]... PROFILE|TRACE|DUMP [-o OUT]",
    .about = "Write a page that shows an indexed profile ('-': standard input), a trace or a heap dump: functions with "
             "their callers, flame graph, contexts, leaks, advice, plots. It is one file, needs no network, and opens "
             "in any browser."};

static int report_command_check(int operands, char **argv, const arguments *a) {
  if (operands > 1)
    return hearth_tool_usage_error("report", "one profile or trace at a time, not '%s' too", argv[2]);
  if (operands == 0)
    return hearth_tool_usage_error("report", "of which profile or trace?");
  if (!a->output && strcmp(argv[1], "-") == 0)
    return hearth_tool_usage_error("report", "where to? Give -o OUT");
  return HEARTH_EXIT_OK;
}

static bool report_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TEXT("--base", 0, "BASE", "a file", &a->base,
                  "compare with this indexed profile: the page shows what grew and what shrank since, by function and "
                  "context"),
      HEARTH_VIEW_CLASS_OPTION(&a->view),
      HEARTH_VIEW_OPTIONS(&a->view),
      HEARTH_TEXT(
          "--output", 'o', "OUT", "a file", &a->output,
          "file to write (default: PROFILE.html); replaced whole, or left as it is after an error; '-' is standard "
          "output"),
      {0}};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = report_command_check(operands, argv, a)) != HEARTH_EXIT_OK)
    return false;
  a->profile = argv[1];
  if (!a->output && asprintf(&a->named, "%s.html", a->profile) >= 0)
    a->output = a->named;
  a->options.view = &a->view;
  a->options.title = a->profile;
  return true;
}

static hearth_status write_html(const void *given, FILE *stream, hearth_error *err) {
  const arguments *a = given;
  return hearth_page_write_html(a->shown, &a->options, stream, err);
}

static int report_command_write_file(arguments *a) {
  hearth_error err;
  if (hearth_advice_create(a->shown, &a->view, a->options.trace != NULL, &a->options.advice, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  int code = hearth_output_view(a->output, write_html, a);
  hearth_advice_destroy(a->options.advice);
  return code;
}

static int report_trace(arguments *a, trace_profile_kind kind) {
  trace_profile both;
  int code = HEARTH_EXIT_ERROR;
  if (a->base)
    return hearth_tool_usage_error("report", "--base compares indexed profiles, but '%s' is %s", a->profile,
                                   kind == TRACE_PROFILE_TRACE ? "a trace" : "a heap dump");
  if (hearth_trace_profile_open(&both, a->profile, kind)) {
    a->options.trace = both.trace;
    a->shown = both.profile;
    code = report_command_write_file(a);
  }
  hearth_trace_profile_close(&both);
  return code;
}

static int report_difference(arguments *a) {
  trace_profile both;
  int code = HEARTH_EXIT_ERROR;
  a->options.base = hearth_tool_open_profile(a->base);
  a->options.base_title = a->base;
  if (!a->options.base)
    return HEARTH_EXIT_ERROR;
  if (hearth_trace_profile_join(&both, a->base, a->profile)) {
    a->shown = both.profile;
    code = hearth_output_view(a->output, write_html, a);
  }
  hearth_trace_profile_close(&both);
  hearth_profile_close(a->options.base);
  return code;
}

static int report_profile(arguments *a) {
  if (a->base)
    return report_difference(a);
  a->shown = hearth_tool_open_profile(a->profile);
  int code = a->shown ? report_command_write_file(a) : HEARTH_EXIT_ERROR;
  hearth_profile_close(a->shown);
  return code;
}

int hearth_cmd_report(int argc, char **argv) {
  arguments a = {0};
  int code;
  if (!report_command_parse(argc, argv, &a, &code))
    return code;
  if (!a.output)
    return hearth_tool_error("out of memory");
  trace_profile_kind kind = hearth_trace_profile_kind(a.profile);
  code = kind == TRACE_PROFILE_OTHER ? report_profile(&a) : report_trace(&a, kind);
  if (a.named && code == HEARTH_EXIT_OK)
    fprintf(stderr, "hearth: the page is %s\n", a.named);
  free(a.named);
  return code;
}
