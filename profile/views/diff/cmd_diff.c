/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth diff`: the changes between two profiles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hearth/profile_diff.h"
#include "view_options.h"

enum { DEFAULT_TOP = 10, DEFAULT_DEPTH = 12 }; /* of each kind of change; of stacks */

/* As cmp and grep: 1 is an answer, not a failure. */
enum { EXIT_CONDITION = 1, EXIT_TROUBLE = 2 };

typedef struct arguments {
  const char *profiles[HEARTH_DIFF_SIDES];
  hearth_list_option conditions;
  size_t limit;
  hearth_number_option top, depth;
  hearth_view_options view;
  hearth_by_option by;
  bool full, markdown;
} arguments;

static const hearth_help help = {
    .usage = "diff [OPTION]... A B",
    .about = "Print the contexts that changed class, appeared, vanished or changed size from profile A to profile B "
             "('-': standard input).",
    .end = "\nCONDITION: [cold_|notcold_|hot_|new_|vanished_|changed_]MEASURE RELATION [+|-]NUMBER[%|KiB|MiB|GiB|TiB]\n"
           "  MEASURE   contexts, or per run: bytes, allocs, accesses, byte_seconds, live, live_allocs\n"
           "  RELATION  <, <=, >, >=, ==, !=\n"
           "  With a sign, NUMBER is compared with the change from A to B, in percent of A. Without a sign, it is "
           "compared with the measure in B (of vanished contexts: in A), in percent of the whole.\n"
           "Exit code: 0 success, 1 a condition holds, 2 error or wrong usage."};

static int diff_command_trouble(const hearth_error *err) {
  hearth_tool_error("%s", err->message);
  return EXIT_TROUBLE;
}

static int diff_command_add_condition(void *target, const char *text) {
  hearth_condition condition;
  hearth_error err;
  return hearth_condition_parse(text, &condition, &err) == HEARTH_OK ? hearth_tool_take_one_more(target, text)
                                                                     : diff_command_trouble(&err);
}

static int diff_command_check(int operands, char **argv, const arguments *a) {
  if (operands > HEARTH_DIFF_SIDES)
    return hearth_tool_usage_error("diff", "two profiles, not '%s' too", argv[HEARTH_DIFF_SIDES + 1]);
  if (operands < HEARTH_DIFF_SIDES)
    return hearth_tool_usage_error("diff", "which two profiles?");
  if (strcmp(argv[1], "-") == 0 && strcmp(argv[2], "-") == 0)
    return hearth_tool_usage_error("diff", "standard input can be one of the profiles, not both");
  if (a->markdown && a->by.given)
    return hearth_tool_usage_error("diff", "--markdown is for contexts and does not go with --by");
  return HEARTH_EXIT_OK;
}

/* Without --class: contexts of another class in the other profile would be new. */
static bool diff_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_TAKE("--fail-if", 0, "CONDITION", "a condition", diff_command_add_condition, &a->conditions,
                  "exit with 1 if it holds, such as 'cold_bytes<50%', 'hot_bytes>+10%', 'new_contexts>0'; may be given "
                  "several times"),
      HEARTH_BY_OPTION(
          &a->by, "print which functions changed, or callers (of these), sites (line and column), files, libraries, "
                  "types or sizes (of blocks, on average), in place of contexts"),
      HEARTH_NUMBER("--top", 0, "N", "a number", &a->top,
                    "print N contexts of each kind, or lines of --by (default 10)"),
      HEARTH_DEPTH_OPTION(&a->depth, "print N lines of each call stack (default 12)"),
      HEARTH_FLAG("--full", 0, &a->full, "print all, and whole stacks"),
      HEARTH_VIEW_OPTIONS(&a->view),
      HEARTH_FLAG(
          "--markdown", 0, &a->markdown,
          "print tables for a comment on a change: totals, the contexts that grew most, those that shrank most"),
      {0}};
  int operands;
  a->top.most = SIZE_MAX;
  a->depth.least = 1;
  a->depth.most = HEARTH_MOST_DEPTH;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = diff_command_check(operands, argv, a)) != HEARTH_EXIT_OK)
    return false;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++)
    a->profiles[i] = argv[i + 1];
  a->limit = a->top.given ? (size_t)a->top.value : a->full ? SIZE_MAX : DEFAULT_TOP;
  a->view.depth = a->depth.given ? (size_t)a->depth.value : a->full ? 0 : DEFAULT_DEPTH;
  return true;
}

/* All of them: one run tells all that is wrong. */
static int diff_command_test_conditions(const arguments *a, const hearth_diff *diff) {
  int code = HEARTH_EXIT_OK;
  hearth_error err;
  for (size_t i = 0; i < a->conditions.count; i++) {
    hearth_condition condition;
    bool holds;
    double value;
    hearth_status status = hearth_condition_parse(a->conditions.rows[i], &condition, &err);
    HEARTH_THEN(status, hearth_condition_test(&condition, diff, &holds, &value, &err));
    if (status != HEARTH_OK)
      return diff_command_trouble(&err);
    if (!holds)
      continue;
    fprintf(stderr, "hearth: condition holds: %s (it is %.6g%s)\n", a->conditions.rows[i], value,
            condition.percent ? "%" : "");
    code = EXIT_CONDITION;
  }
  return code;
}

static hearth_status diff_command_print(const arguments *a, hearth_diff *diff, hearth_error *err) {
  if (a->markdown)
    return hearth_diff_print_markdown(diff, a->limit, stdout, err);
  if (a->by.given)
    return hearth_diff_print_groups(diff, a->by.kind, a->limit, stdout, err);
  return hearth_diff_print_text(diff, a->limit, stdout, err);
}

static int diff_command_compare(const arguments *a, hearth_profile *const profiles[HEARTH_DIFF_SIDES]) {
  hearth_diff *diff;
  hearth_error err;
  if (hearth_diff_create(profiles, a->profiles, &a->view, &diff, &err) != HEARTH_OK)
    return diff_command_trouble(&err);
  hearth_status status = diff_command_print(a, diff, &err);
  int code = EXIT_TROUBLE;
  if (status == HEARTH_OK)
    code = diff_command_test_conditions(a, diff);
  else
    hearth_tool_view_error("standard output", &err);
  hearth_diff_destroy(diff);
  return code;
}

static int diff_command_run(int argc, char **argv, arguments *a) {
  int code;
  if (!diff_command_parse(argc, argv, a, &code))
    return code;
  hearth_profile *profiles[HEARTH_DIFF_SIDES] = {hearth_tool_open_profile(a->profiles[HEARTH_DIFF_A])};
  if (profiles[HEARTH_DIFF_A])
    profiles[HEARTH_DIFF_B] = hearth_tool_open_profile(a->profiles[HEARTH_DIFF_B]);
  code = profiles[HEARTH_DIFF_B] ? diff_command_compare(a, profiles) : EXIT_TROUBLE;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++)
    hearth_profile_close(profiles[i]);
  return code;
}

int hearth_cmd_diff(int argc, char **argv) {
  arguments a = {.limit = 0};
  int code = diff_command_run(argc, argv, &a);
  free(a.conditions.rows);
  return code;
}
