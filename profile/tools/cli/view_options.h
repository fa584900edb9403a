/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options that the commands which look at profiles share. */
#ifndef HEARTH_VIEW_OPTIONS_H
#define HEARTH_VIEW_OPTIONS_H

#include "command_line.h"
#include "hearth/listing.h"
#include "hearth/view.h"

/* Rows for a table of options; `more` is said behind the help of all users. */
#define HEARTH_CLASSIFY_OPTION(taker, into, more)                                                                      \
  {.name = "--classify",                                                                                               \
   .value = "MODE[,NAME=N]...",                                                                                        \
   .expects = "a mode",                                                                                                \
   .take = (taker),                                                                                                    \
   .target = (into),                                                                                                   \
   .help =                                                                                                             \
       "auto (default): cold is memory that is left alone for cold-idle=30 seconds, or an eighth of a shorter run; "   \
       "hot are the contexts that hold hot-accesses=90 per cent of all accesses\n"                                     \
       "llvm: LLVM's absolute thresholds; cold-density=0.05 and hot-density=1000 in accesses per byte-second, "        \
       "cold-lifetime=200 in seconds" more}

/* `view` points to a hearth_view_options. */
#define HEARTH_VIEW_OPTIONS(view)                                                                                      \
  {.name = "--function",                                                                                               \
   .value = "TEXT",                                                                                                    \
   .expects = "a text",                                                                                                \
   .text = &(view)->function,                                                                                          \
   .help = "only contexts with TEXT in the name of one of their functions"},                                           \
      {.name = "--file",                                                                                               \
       .value = "TEXT",                                                                                                \
       .expects = "a text",                                                                                            \
       .text = &(view)->file,                                                                                          \
       .help = "only contexts with TEXT in the path of one of their functions' files"},                                \
      {.name = "--type",                                                                                               \
       .value = "TEXT",                                                                                                \
       .expects = "a text",                                                                                            \
       .text = &(view)->type,                                                                                          \
       .help = "only contexts that allocate a type with TEXT in its name"},                                            \
      HEARTH_CLASSIFY_OPTION(hearth_tool_take_view_classify, (view), ""), HEARTH_NAME_OPTIONS(view),                   \
      {.name = "--wrapper",                                                                                            \
       .value = "PATTERN",                                                                                             \
       .expects = "a pattern",                                                                                         \
       .take = hearth_tool_take_wrapper,                                                                               \
       .target = (view),                                                                                               \
       .help =                                                                                                         \
           "look through functions like PATTERN, or, if it has a '/', of files like PATTERN, as through malloc and "   \
           "std:: by default; behind '-', do not ('-*': through none); @FILE: a file's patterns, one a line; may be "  \
           "given several times"}

/* --by. */
typedef struct hearth_by_option {
  bool given;
  hearth_group_kind kind; /* function if not given */
} hearth_by_option;

/* `option` points to a hearth_by_option. */
#define HEARTH_BY_OPTION(option, text)                                                                                 \
  {.name = "--by",                                                                                                     \
   .value = "KEY",                                                                                                     \
   .expects = "function, caller, site, file, library, type or size",                                                   \
   .take = hearth_tool_take_by,                                                                                        \
   .target = (option),                                                                                                 \
   .help = text}

enum { HEARTH_MOST_DEPTH = 1000 }; /* JSON has all */

/* `option` points to a hearth_number_option with `least` 1 and `most` HEARTH_MOST_DEPTH. */
#define HEARTH_DEPTH_OPTION(option, text)                                                                              \
  {.name = "--depth",                                                                                                  \
   .value = "N",                                                                                                       \
   .expects = "a number",                                                                                              \
   .take = hearth_tool_take_number,                                                                                    \
   .target = (option),                                                                                                 \
   .help = text}

/* For all that has both flags. */
#define HEARTH_NAME_OPTIONS(flags)                                                                                     \
  {.name = "--full-names",                                                                                             \
   .flag = &(flags)->full_names,                                                                                       \
   .help = "print C++ names with parameters and template arguments"},                                                  \
      {.name = "--no-demangle", .flag = &(flags)->linkage_names, .help = "print C++ names as they are linked"}
#define HEARTH_VIEW_CLASS_OPTION(view)                                                                                 \
  {.name = "--class",                                                                                                  \
   .value = "CLASS",                                                                                                   \
   .expects = "cold, notcold or hot",                                                                                  \
   .take = hearth_tool_take_class,                                                                                     \
   .target = &(view)->only,                                                                                            \
   .help = "only contexts that are cold, hot or notcold"}

/* `into` points to the `layout` of hearth_plan_options. */
#define HEARTH_LAYOUT_OPTION(into)                                                                                     \
  {.name = "--layout",                                                                                                 \
   .value = "LAYOUT",                                                                                                  \
   .expects = "one, calls, or a pool for each pool id, 0 to 9 and a to v",                                             \
   .take = hearth_tool_take_layout,                                                                                    \
   .target = (into),                                                                                                   \
   .help = "the pool of each pool id ('hearth show --plan'), as 'hearth tune' finds it:\n"                             \
           "  one    all calls in the main pool, dormant blocks apart (default)\n"                                     \
           "  calls  a pool for each id\n"                                                                             \
           "  0012   a character for each id from 1 on: 0 the main pool, 1 to 9 and a to v others"}

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
