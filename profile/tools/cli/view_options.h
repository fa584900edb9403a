/* Options that the commands which look at profiles share. */
#ifndef HEARTH_VIEW_OPTIONS_H
#define HEARTH_VIEW_OPTIONS_H

#include "command_line.h"
#include "hearth/view.h"

#define HEARTH_CLASSIFY_HELP                                                                                           \
  "  --classify=MODE[,NAME=N]...\n"                                                                                    \
  "                          auto (default): relative to the run; cold-accesses=1 and hot-accesses=90 are the\n"       \
  "                          per cent of all accesses that cold contexts hold at most, and hot ones at least;\n"       \
  "                          llvm: LLVM's absolute thresholds; cold-density=0.05 and hot-density=1000 in accesses\n"   \
  "                          per byte-second, cold-lifetime=200 in seconds\n"
#define HEARTH_VIEW_HELP                                                                                               \
  "  --function=TEXT         only contexts with TEXT in the name of one of their functions\n"                          \
  "  --file=TEXT             only contexts with TEXT in the path of one of their functions' files\n"                   \
  "  --type=TEXT             only contexts that allocate a type with TEXT in its name\n" HEARTH_CLASSIFY_HELP          \
  "  --no-demangle           print C++ names as they are linked\n"
#define HEARTH_VIEW_CLASS_HELP "  --class=CLASS           only contexts that are cold, hot or notcold\n"

#define HEARTH_CLASSIFY_OPTION(classify)                                                                               \
  { .name = "--classify", .expects = "a mode", .take = hearth_tool_take_classify, .target = (classify) }

/* Rows for a table of options; `view` points to a hearth_view_options. */
#define HEARTH_VIEW_OPTIONS(view)                                                                                      \
  {.name = "--function", .expects = "a text", .text = &(view)->function},                                              \
      {.name = "--file", .expects = "a text", .text = &(view)->file},                                                  \
      {.name = "--type", .expects = "a text", .text = &(view)->type},                                                  \
      {.name = "--classify", .expects = "a mode", .take = hearth_tool_take_view_classify, .target = (view)}, {         \
    .name = "--no-demangle", .flag = &(view)->linkage_names                                                            \
  }
#define HEARTH_VIEW_CLASS_OPTION(view)                                                                                 \
  { .name = "--class", .expects = "cold, notcold or hot", .take = hearth_tool_take_class, .target = &(view)->only }

int hearth_tool_take_classify(void *target, const char *value);
/* The target is a hearth_view_options. There is one place for what it then points to: a command has one view. */
int hearth_tool_take_view_classify(void *target, const char *value);
int hearth_tool_take_class(void *target, const char *value);

/* Open and verify a profile ("-": standard input); prints the error and returns NULL if that fails. */
hearth_profile *hearth_tool_open_profile(const char *operand);

#endif
