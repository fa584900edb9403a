/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show`: the contents of a profile, for people and for programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hearth/global.h"
#include "hearth/plan.h"
#include "hearth/view.h"
#include "view_options.h"

enum { DEFAULT_GROUPS = 10, DEFAULT_CONTEXTS = 5, DEFAULT_DEPTH = 12, DEFAULT_LINES = 60 }; /* JSON has all */

typedef struct arguments {
  const char *profile, *callers, *callees;
  bool json, text, plan, globals, full;
  hearth_by_option by;
  hearth_number_option groups, contexts, depth;
  hearth_view_options view;
  hearth_listing_options options;
} arguments;

static const hearth_help help = {
    .usage = "show [OPTION]... PROFILE",
    .about =
        "Print an indexed profile ('-': standard input): a table of the functions that allocate, and their contexts, "
        "heaviest first. Wrappers, such as malloc, xmalloc and those of std::, are looked through.\n"
        "What to change about it: hearth advise."};

static int take_sort(void *target, const char *value) {
  hearth_quantity quantity;
  unsigned *sort = target;
  if (hearth_quantity_find(value, &quantity))
    *sort = quantity;
  else if (strcmp(value, "lifetime") == 0)
    *sort = HEARTH_SORT_LIFETIME;
  else if (strcmp(value, "short-lived") == 0)
    *sort = HEARTH_SORT_SHORT_LIVED;
  else
    return HEARTH_OPTION_UNUSABLE;
  return HEARTH_EXIT_OK;
}

static int take_peak(void *target, const char *value) {
  (void)value;
  *(unsigned *)target = HEARTH_QUANTITY_PEAK;
  return HEARTH_EXIT_OK;
}

/* Was anything asked for that only the listing and its JSON heed? */
static bool shapes_listing(const arguments *a) {
  const hearth_view_options *view = &a->view;
  return (a->groups.given && !a->globals) || a->contexts.given || a->depth.given || a->by.given ||
         a->options.cumulative || a->full || a->options.sort || view->function || view->file || view->only ||
         view->full_names || view->wrapper_count || view->classify || a->callers || a->callees;
}

static int show_check(int operands, char **argv, const arguments *a) {
  int others = a->text + a->plan + a->globals;
  if (operands > 1)
    return hearth_tool_usage_error("show", "one profile at a time, not '%s' too", argv[2]);
  if (operands == 0)
    return hearth_tool_usage_error("show", "which profile?");
  if (others + a->json > 1)
    return hearth_tool_usage_error("show", "--json, --text, --plan and --globals exclude each other");
  if ((a->callers || a->callees) && (a->json || a->by.given || (a->callers && a->callees)))
    return hearth_tool_usage_error("show", "--callers, --callees, --by and --json exclude each other");
  if (others > 0 && shapes_listing(a))
    return hearth_tool_usage_error("show", "%s prints all contexts: no other option goes with it",
                                   a->text   ? "--text"
                                   : a->plan ? "--plan"
                                             : "--globals");
  return HEARTH_EXIT_OK;
}

static size_t show_limit(const arguments *a, const hearth_number_option *number, size_t by_default) {
  return number->given ? (size_t)number->value : a->json || a->full ? SIZE_MAX : by_default;
}

/* A table alone is enough where one was asked for. */
static void set_limits(arguments *a) {
  size_t contexts = a->by.given || a->options.cumulative ? 0 : DEFAULT_CONTEXTS;
  size_t depth = a->callers || a->callees || a->full ? 0 : DEFAULT_DEPTH;
  a->options.view = &a->view;
  a->options.by = a->by.kind;
  a->options.groups = show_limit(a, &a->groups, DEFAULT_GROUPS);
  a->options.contexts = show_limit(a, &a->contexts, contexts);
  a->options.lines = a->groups.given || a->contexts.given || a->depth.given || a->full ? 0 : DEFAULT_LINES;
  a->view.depth = a->depth.given ? (size_t)a->depth.value : depth;
}

static bool show_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      HEARTH_NUMBER("--top", 0, "N", "a number", &a->groups, "print N functions, or others of --by (default 10)"),
      HEARTH_NUMBER(
          "--contexts", 0, "N", "a number", &a->contexts,
          "print N contexts of each (default 5, but with neither --top nor --depth no more than 60 lines in all; "
          "with --by or --cum none)"),
      HEARTH_DEPTH_OPTION(&a->depth,
                          "print N lines of each call stack (default 12), or N levels of a tree (default 3)"),
      HEARTH_FLAG("--full", 0, &a->full, "print all functions, all their contexts, and whole stacks"),
      HEARTH_BY_OPTION(
          &a->by,
          "print the table alone, by function (default), caller (of that function), site (line and column), file, "
          "library (of the function that calls malloc), type or size (of a context's blocks on average)"),
      {.name = "--peak",
       .take = take_peak,
       .target = &a->options.sort,
       .help = "sort by the bytes that were live when most were: who held the memory at the peak; as --sort=peak"},
      HEARTH_FLAG("--cum", 0, &a->options.cumulative, "sort by what a function and all that it calls allocate"),
      HEARTH_TEXT("--callers", 0, "FUNCTION", "a function", &a->callers,
                  "print the tree of its callers: of the functions with this name, else of those with the text in it"),
      HEARTH_TEXT("--callees", 0, "FUNCTION", "a function", &a->callees,
                  "print the tree of the functions that it calls"),
      HEARTH_VIEW_CLASS_OPTION(&a->view),
      HEARTH_TAKE(
          "--sort", 0, "KEY",
          "bytes, allocs, accesses, byte-seconds, live, live-allocs, peak, peak-allocs, "
          "lifetime or short-lived",
          take_sort, &a->options.sort,
          "bytes (default), allocs, accesses, byte-seconds, live (bytes at exit), live-allocs, peak, peak-allocs, "
          "lifetime (average) or short-lived: allocations whose blocks live 1 ms on average at most, and a thousandth "
          "of "
          "the run"),
      HEARTH_VIEW_OPTIONS(&a->view),
      HEARTH_FLAG("--json", 0, &a->json, "print the listing as JSON: all of it, unless --top or --contexts is given"),
      {.name = "", .help = "These print all contexts in place of the listing:"},
      HEARTH_FLAG("--text", 0, &a->text, "print the text form, which 'hearth index' reads"),
      HEARTH_FLAG("--plan", 0, &a->plan,
                  "print how a program compiled with the profile tells contexts apart as it runs"),
      HEARTH_FLAG("--globals", 0, &a->globals,
                  "print the accesses of global variables, the hottest and the untouched ones, if they were recorded "
                  "(programs compiled with -mllvm -memprof-globals); also with --top"),
      {0}};
  int operands;
  a->groups.most = a->contexts.most = SIZE_MAX;
  a->depth.least = 1;
  a->depth.most = HEARTH_MOST_DEPTH;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code) ||
      (*ret_code = show_check(operands, argv, a)) != HEARTH_EXIT_OK)
    return false;
  a->profile = argv[1];
  set_limits(a);
  return true;
}

static hearth_status show_print(hearth_profile *profile, const arguments *a, hearth_error *err) {
  if (a->plan)
    return hearth_plan_print(profile, stdout, err);
  if (a->callers || a->callees)
    return hearth_call_tree_print(profile, &a->options, a->callers ? a->callers : a->callees, a->callees, stdout, err);
  if (a->globals)
    return hearth_globals_print_text(profile, a->options.groups, stdout, err);
  if (a->json)
    return hearth_listing_print_json(profile, a->profile, &a->options, stdout, err);
  if (a->text)
    return hearth_profile_print_text(profile, stdout, err);
  return hearth_listing_print_text(profile, a->profile, &a->options, stdout, err);
}

int hearth_cmd_show(int argc, char **argv) {
  arguments a = {0};
  hearth_error err;
  int code;
  if (!show_parse(argc, argv, &a, &code))
    return code;
  hearth_profile *profile = hearth_tool_open_profile(a.profile);
  if (!profile)
    return HEARTH_EXIT_ERROR;
  hearth_status status = show_print(profile, &a, &err);
  hearth_profile_close(profile);
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_view_error("standard output", &err);
}
