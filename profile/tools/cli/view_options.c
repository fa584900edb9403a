/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of the shared options, and the profile that they are about. */
#include "view_options.h"

#include <string.h>

#include "messages.h"

int hearth_tool_take_class(void *target, const char *value) {
  for (hearth_class c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (strcmp(hearth_class_name(c), value) == 0) {
      *(hearth_class *)target = c;
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

int hearth_tool_take_classify(void *target, const char *value) {
  hearth_error err;
  if (hearth_classify_parse(value, target, &err) == HEARTH_OK)
    return HEARTH_EXIT_OK;
  hearth_tool_error("--classify: %s", err.message);
  return HEARTH_EXIT_USAGE;
}

int hearth_tool_take_view_classify(void *target, const char *value) {
  static hearth_classify_options classify;
  ((hearth_view_options *)target)->classify = &classify;
  return hearth_tool_take_classify(&classify, value);
}

hearth_profile *hearth_tool_open_profile(const char *operand) {
  hearth_error err;
  hearth_profile *profile;
  if (hearth_profile_open_stream(hearth_tool_input_path(operand), &profile, &err) == HEARTH_OK) {
    if (hearth_profile_verify(profile, &err) == HEARTH_OK)
      return profile;
    hearth_profile_close(profile);
  }
  hearth_tool_error("%s", err.message);
  return NULL;
}
