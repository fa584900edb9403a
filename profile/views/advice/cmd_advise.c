/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth advise`: what a program could do better with its memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "hearth/advice.h"
#include "trace_profile.h"
#include "view_options.h"

enum { DEFAULT_TOP = 10, DEFAULT_DEPTH = 8 };

typedef struct arguments {
  const char *profile, *binary;
  hearth_number_option top, depth;
  hearth_view_options view;
  bool json, full;
} arguments;

static const hearth_help help = {
    .usage = "advise [OPTION]... PROFILE|TRACE",
    .about =
        "Print what a program could do better with its memory, by an indexed profile ('-': standard input) or a trace: "
        "findings with place, evidence and remedy, those that may save most first."};

static bool advise_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_NUMBER("--top", 0, "N", "a number", &a->top, "print N findings (default 10)"),
      HEARTH_DEPTH_OPTION(&a->depth, "print N lines of each call stack (default 8)"),
      HEARTH_FLAG("--full", 0, &a->full, "print all findings, and whole stacks"),
      HEARTH_TEXT("--binary", 0, "BIN", "a file", &a->binary,
                  "the program, with symbols: shows which global variables share cache lines"),
      HEARTH_VIEW_OPTIONS(&a->view),
      HEARTH_FLAG("--json", 0, &a->json, "print JSON: all findings, unless --top is given"),
      {0}};
  int operands;
  a->top.most = SIZE_MAX;
  a->depth.least = 1;
  a->depth.most = HEARTH_MOST_DEPTH;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  if (operands != 1) {
    *ret_code = operands ? hearth_tool_usage_error("advise", "one profile or trace at a time, not '%s' too", argv[2])
                         : hearth_tool_usage_error("advise", "on which profile or trace?");
    return false;
  }
  a->profile = argv[1];
  a->view.depth = a->depth.given ? (size_t)a->depth.value : a->full ? 0 : DEFAULT_DEPTH;
  return true;
}

static hearth_status advise_command_print(const arguments *a, hearth_advice *advice, hearth_error *err) {
  size_t most = a->json || a->full ? SIZE_MAX : DEFAULT_TOP, top = a->top.given ? (size_t)a->top.value : most;
  return a->json ? hearth_advice_print_json(advice, a->profile, top, a->binary, stdout, err)
                 : hearth_advice_print_text(advice, a->profile, top, a->binary, stdout, err);
}

static int advise(const arguments *a, hearth_profile *profile, bool tallied) {
  hearth_advice *advice;
  hearth_error err;
  if (hearth_advice_create(profile, &a->view, tallied, &advice, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  bool is_printed = advise_command_print(a, advice, &err) == HEARTH_OK;
  int code = is_printed ? HEARTH_EXIT_OK : hearth_tool_view_error("standard output", &err);
  hearth_advice_destroy(advice);
  return code;
}

static int advise_on_trace(const arguments *a) {
  trace_profile both;
  int code = hearth_trace_profile_open(&both, a->profile, TRACE_PROFILE_TRACE) ? advise(a, both.profile, true)
                                                                               : HEARTH_EXIT_ERROR;
  hearth_trace_profile_close(&both);
  return code;
}

static int advise_on_profile(const arguments *a) {
  hearth_profile *profile = hearth_tool_open_profile(a->profile);
  int code = profile ? advise(a, profile, false) : HEARTH_EXIT_ERROR;
  hearth_profile_close(profile);
  return code;
}

int hearth_cmd_advise(int argc, char **argv) {
  arguments a = {.profile = NULL};
  int code;
  if (!advise_command_parse(argc, argv, &a, &code))
    return code;
  if (a.binary && access(a.binary, R_OK) != 0)
    return hearth_tool_error("%s: cannot be opened: %s", a.binary, strerror(errno));
  return hearth_trace_profile_kind(a.profile) == TRACE_PROFILE_TRACE ? advise_on_trace(&a) : advise_on_profile(&a);
}
