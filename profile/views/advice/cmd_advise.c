/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth advise`: what a program could do better with its memory. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "hearth/advice.h"
#include "trace_profile.h"
#include "view_options.h"

enum { DEFAULT_TOP = 10, DEFAULT_DEPTH = 8 };

/* As those of diff. */
enum { EXIT_CONDITION = 1, EXIT_TROUBLE = 2 };

typedef struct arguments {
  const char *profile, *binary;
  hearth_list_option conditions;
  hearth_number_option top, depth;
  hearth_view_options view;
  bool json, full;
} arguments;

static const hearth_help help = {
    .usage = "advise [OPTION]... PROFILE|TRACE",
    .about =
        "Print what a program could do better with its memory, by an indexed profile ('-': standard input) or a trace: "
        "findings with place, evidence and remedy, those that may save most first.",
    .end = "\nCONDITION: KIND RELATION NUMBER[%]\n"
           "  KIND      findings (all), short-lived, ladder, leak, unused, oversized, held, fields, foreign\n"
           "  RELATION  <, <=, >, >=, ==, !=\n"
           "  NUMBER    of findings of the kind; with %, the sum of what they may save\n"
           "Exit code: 0 success, 1 a condition holds, 2 error or wrong usage."};

static int advise_command_add_condition(void *target, const char *text) {
  hearth_condition condition;
  hearth_error err;
  size_t column;
  if (hearth_advice_condition_parse(text, &condition, &column, &err) == HEARTH_OK)
    return hearth_tool_take_one_more(target, text);
  hearth_tool_error("%s", err.message);
  fprintf(stderr, "  %s\n  %*s^\n", text, (int)column - 1, "");
  return EXIT_TROUBLE;
}

static bool advise_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TAKE("--fail-if", 0, "CONDITION", "a condition", advise_command_add_condition, &a->conditions,
                  "exit with 1 if it holds, such as 'leak>0' or 'short-lived>5%'; may be given several times"),
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

static int advise_command_trouble(const hearth_error *err) {
  hearth_tool_error("%s", err->message);
  return EXIT_TROUBLE;
}

/* All of them: one run tells all that is wrong. */
static int advise_command_test_conditions(const arguments *a, const hearth_advice *advice) {
  int code = HEARTH_EXIT_OK;
  for (size_t i = 0; i < a->conditions.count; i++) {
    hearth_condition condition;
    hearth_error err;
    size_t column;
    double value;
    hearth_status status = hearth_advice_condition_parse(a->conditions.rows[i], &condition, &column, &err);
    HEARTH_THEN(status, hearth_advice_measure(advice, &condition, &value, &err));
    if (status != HEARTH_OK)
      return advise_command_trouble(&err);
    if (!hearth_condition_holds(&condition, value))
      continue;
    fprintf(stderr, "hearth: condition holds: %s (it is %.6g%s)\n", a->conditions.rows[i], value,
            condition.percent ? "%" : "");
    code = EXIT_CONDITION;
  }
  return code;
}

static hearth_status advise_command_print(const arguments *a, hearth_advice *advice, hearth_error *err) {
  size_t most = a->json || a->full ? SIZE_MAX : DEFAULT_TOP, top = a->top.given ? (size_t)a->top.value : most;
  return a->json ? hearth_advice_print_json(advice, a->profile, top, stdout, err)
                 : hearth_advice_print_text(advice, a->profile, top, stdout, err);
}

static int advise(const arguments *a, hearth_profile *profile, bool tallied) {
  hearth_advice *advice;
  hearth_error err;
  if (hearth_advice_create(profile, &a->view, tallied, &advice, &err) != HEARTH_OK)
    return advise_command_trouble(&err);
  int code = EXIT_TROUBLE;
  if (a->binary && hearth_advice_use_binary(advice, a->binary, &err) != HEARTH_OK)
    code = advise_command_trouble(&err);
  else if (advise_command_print(a, advice, &err) != HEARTH_OK)
    hearth_tool_view_error("standard output", &err);
  else
    code = advise_command_test_conditions(a, advice);
  hearth_advice_destroy(advice);
  return code;
}

static int advise_on_trace(const arguments *a) {
  trace_profile both;
  int code = hearth_trace_profile_open(&both, a->profile) ? advise(a, both.profile, true) : EXIT_TROUBLE;
  hearth_trace_profile_close(&both);
  return code;
}

static int advise_on_profile(const arguments *a) {
  hearth_profile *profile = hearth_tool_open_profile(a->profile);
  int code = profile ? advise(a, profile, false) : EXIT_TROUBLE;
  hearth_profile_close(profile);
  return code;
}

int hearth_cmd_advise(int argc, char **argv) {
  arguments a = {.profile = NULL};
  int code = EXIT_TROUBLE;
  if (advise_command_parse(argc, argv, &a, &code))
    code = hearth_trace_profile_is_trace(a.profile) ? advise_on_trace(&a) : advise_on_profile(&a);
  free(a.conditions.rows);
  return code;
}
