/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of the shared options, and the profile that they are about. */
#include "view_options.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "file.h"
#include "hearth/llvm_profile.h"
#include "hearth/plan.h"

int hearth_tool_take_class(void *target, const char *value) {
  for (hearth_class c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (strcmp(hearth_class_name(c), value) == 0) {
      *(hearth_class *)target = c;
      return HEARTH_EXIT_OK;
    }
  return HEARTH_OPTION_UNUSABLE;
}

int hearth_tool_take_layout(void *target, const char *value) {
  uint8_t pools[HEARTH_POOLS_MAX + 1];
  hearth_error err;
  if (hearth_layout_parse(value, HEARTH_PLAN_CALLS_MAX, true, pools, &err) != HEARTH_OK)
    return HEARTH_OPTION_UNUSABLE;
  *(const char **)target = value;
  return HEARTH_EXIT_OK;
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

static int add_wrapper(void *target, const char *pattern) {
  static const char **patterns;
  static size_t room;
  hearth_view_options *view = target;
  char *copy = strdup(pattern);
  if (!copy || !hearth_array_grow(&patterns, &room, view->wrapper_count, sizeof *patterns)) {
    free(copy);
    return hearth_tool_error("out of memory");
  }
  patterns[view->wrapper_count++] = copy;
  view->wrappers = patterns;
  return HEARTH_EXIT_OK;
}

int hearth_tool_take_wrapper(void *target, const char *value) {
  return *value == '@' ? hearth_tool_each_line(value + 1, add_wrapper, target) : add_wrapper(target, value);
}

hearth_profile *hearth_tool_open_profile(const char *operand) {
  hearth_error err;
  hearth_profile *profile;
  hearth_status status = hearth_profile_open_stream(hearth_tool_input_path(operand), &profile, &err);
  if (status == HEARTH_OK && (status = hearth_profile_check(profile, &err)) != HEARTH_OK)
    hearth_profile_close(profile);
  if (status == HEARTH_OK)
    return profile;
  hearth_tool_error("%s", err.message);
  return NULL;
}

int hearth_tool_use_profile(const char *operand,
                            hearth_status (*use)(const void *arguments, hearth_profile *profile, hearth_error *err),
                            const void *arguments) {
  hearth_error err;
  hearth_profile *profile = hearth_tool_open_profile(operand);
  if (!profile)
    return HEARTH_EXIT_ERROR;
  hearth_output_guard();
  hearth_status status = use(arguments, profile, &err);
  hearth_profile_close(profile);
  return status == HEARTH_OK ? HEARTH_EXIT_OK : hearth_tool_error("%s", err.message);
}

int hearth_tool_take_by(void *target, const char *value) {
  hearth_by_option *by = target;
  by->given = true;
  return hearth_group_kind_find(value, &by->kind) ? HEARTH_EXIT_OK : HEARTH_OPTION_UNUSABLE;
}

int hearth_tool_take_quantity(void *target, const char *value) {
  return hearth_quantity_find(value, target) ? HEARTH_EXIT_OK : HEARTH_OPTION_UNUSABLE;
}

bool hearth_tool_holds_more(const char *path) {
  hearth_file file;
  hearth_error err;
  if (hearth_output_is_standard(path) || hearth_file_map(path, &file, &err) != HEARTH_OK)
    return false;
  bool is_container = hearth_llvm_is_container(file.data, file.size);
  hearth_file_close(&file);
  return is_container;
}
