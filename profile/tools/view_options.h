/* Options that the commands which look at profiles share. */
#ifndef HEARTH_VIEW_OPTIONS_H
#define HEARTH_VIEW_OPTIONS_H

#include "hearth/view.h"

typedef enum hearth_option_result {
  HEARTH_OPTION_OTHER,
  HEARTH_OPTION_TAKEN,
  HEARTH_OPTION_UNUSABLE
} hearth_option_result;

#define HEARTH_VIEW_FILTER_HELP                                                                                        \
  "  --function=TEXT         only contexts with TEXT in the name of one of their functions\n"                          \
  "  --file=TEXT             only contexts with TEXT in the path of one of their functions' files\n"
#define HEARTH_VIEW_CLASS_HELP "  --class=CLASS           only contexts that are cold, hot or notcold\n"
#define HEARTH_VIEW_COMMON_HELP                                                                                        \
  "  --classify=MODE         auto (default): relative to the run; llvm: LLVM's absolute thresholds\n"                  \
  "  --no-demangle           print C++ names as they are linked\n"

/* Is it one of --function, --file, --class, --classify, --no-demangle, and usable? */
hearth_option_result hearth_tool_view_option(const char *argument, hearth_view_options *options);
/* All digits of `value`. */
bool hearth_tool_count(const char *value, size_t *ret);

/* Open and verify a profile; prints the error and returns NULL if that fails. */
hearth_profile *hearth_tool_open_profile(const char *path);

#endif
