/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options that the commands which look at profiles share. */
#ifndef HEARTH_VIEW_OPTIONS_H
#define HEARTH_VIEW_OPTIONS_H

#include "command.h"
#include "hearth/view.h"

/* Rows for a table of options; `more` is said behind the help of all users. */
#define HEARTH_CLASSIFY_OPTION(taker, into, more)                                                                      \
  HEARTH_TAKE(                                                                                                         \
      "--classify", 0, "MODE[,NAME=N]...", "a mode", (taker), (into),                                                  \
      "auto (default): cold is memory that is left alone for cold-idle=30 seconds, or an eighth of a shorter run; "    \
      "hot are the contexts that hold hot-accesses=90 per cent of all accesses\n"                                      \
      "llvm: LLVM's absolute thresholds; cold-density=0.05 and hot-density=1000 in accesses per byte-second, "         \
      "cold-lifetime=200 in seconds" more)

/* `view` points to a hearth_view_options. */
#define HEARTH_VIEW_OPTIONS(view)                                                                                      \
  HEARTH_TEXT("--function", 0, "TEXT", "a text", &(view)->function,                                                    \
              "only contexts with TEXT in the name of one of their functions"),                                        \
      HEARTH_TEXT("--file", 0, "TEXT", "a text", &(view)->file,                                                        \
                  "only contexts with TEXT in the path of one of their functions' files"),                             \
      HEARTH_TEXT("--type", 0, "TEXT", "a text", &(view)->type,                                                        \
                  "only contexts that allocate a type with TEXT in its name"),                                         \
      HEARTH_CLASSIFY_OPTION(hearth_tool_take_view_classify, (view), ""), HEARTH_NAME_OPTION(view),                    \
      HEARTH_TAKE(                                                                                                     \
          "--wrapper", 0, "PATTERN", "a pattern", hearth_tool_take_wrapper, (view),                                    \
          "look through functions like PATTERN, or, if it has a '/', of files like PATTERN, as through malloc and "    \
          "std:: by default; behind '-', do not ('-*': through none); @FILE: a file's patterns, one a line; may be "   \
          "given several times")

/* --by. */
typedef struct hearth_by_option {
  bool given;
  hearth_group_kind kind; /* function if not given */
} hearth_by_option;

/* `option` points to a hearth_by_option. */
#define HEARTH_BY_OPTION(option, text)                                                                                 \
  HEARTH_TAKE("--by", 0, "KEY", "function, caller, site, file, library, type or size", hearth_tool_take_by, (option),  \
              text)

enum { HEARTH_MOST_DEPTH = 1000 }; /* JSON has all */

/* `option` points to a hearth_number_option with `least` 1 and `most` HEARTH_MOST_DEPTH. */
#define HEARTH_DEPTH_OPTION(option, text) HEARTH_NUMBER("--depth", 0, "N", "a number", (option), text)

/* For all that has the flag. */
#define HEARTH_NAME_OPTION(flags)                                                                                      \
  HEARTH_FLAG("--full-names", 0, &(flags)->full_names, "print C++ names with parameters and template arguments")
#define HEARTH_VIEW_CLASS_OPTION(view)                                                                                 \
  HEARTH_TAKE("--class", 0, "CLASS", "cold, notcold or hot", hearth_tool_take_class, &(view)->only,                    \
              "only contexts that are cold, hot or notcold")

/* `into` points to the `layout` of hearth_plan_options. */
#define HEARTH_LAYOUT_OPTION(into)                                                                                     \
  HEARTH_TAKE("--layout", 0, "LAYOUT", "one, calls, or a pool for each pool id, 0 to 9 and a to v",                    \
              hearth_tool_take_layout, (into),                                                                         \
              "the pool of each pool id ('hearth show --plan'), as 'hearth tune' finds it:\n"                          \
              "  one    all calls in the main pool, dormant blocks apart (default)\n"                                  \
              "  calls  a pool for each id\n"                                                                          \
              "  0012   a character for each id from 1 on: 0 the main pool, 1 to 9 and a to v others")

int hearth_tool_take_layout(void *target, const char *value);
int hearth_tool_take_classify(void *target, const char *value);
/* The target is a hearth_view_options. There is one place for the memory that it then points to: a command has one
 * view. */
int hearth_tool_take_view_classify(void *target, const char *value);
int hearth_tool_take_class(void *target, const char *value);
int hearth_tool_take_by(void *target, const char *value);
/* The same: patterns are kept to the end. */
int hearth_tool_take_wrapper(void *target, const char *value);

/* The target is a hearth_quantity. */
int hearth_tool_take_quantity(void *target, const char *value);

/* Does the file hold more than a heap profile? Only that would be left if the profile were replaced by another. */
bool hearth_tool_holds_more(const char *path);
/* Open and verify a profile ("-": standard input); prints the error and returns NULL if that fails. */
hearth_profile *hearth_tool_open_profile(const char *operand);
/* Open and verify a profile for a verb that writes files, and close it. Returns the exit code, when errors are printed. */
int hearth_tool_use_profile(const char *operand,
                            hearth_status (*use)(const void *arguments, hearth_profile *profile, hearth_error *err),
                            const void *arguments);

#endif
