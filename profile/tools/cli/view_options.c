/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values of the shared options, and the profile that they are about. */
#include "view_options.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command_line.h"
#include "file.h"
#include "hearth/llvm_profile.h"
#include "hearth/plan.h"
#include "output_file.h"

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

static int add_wrapper(hearth_view_options *view, const char *pattern, size_t size) {
  static const char **patterns;
  static size_t room;
  char *copy = strndup(pattern, size);
  if (!copy || !hearth_array_grow(&patterns, &room, view->wrapper_count, sizeof *patterns)) {
    free(copy);
    return hearth_tool_error("out of memory");
  }
  patterns[view->wrapper_count++] = copy;
  view->wrappers = patterns;
  return HEARTH_EXIT_OK;
}

/* Blanks around a line are not part of it; empty lines and such that begin with '#' mean nothing. */
static int add_wrappers(hearth_view_options *view, const char *path) {
  hearth_file file;
  hearth_error err;
  int code = HEARTH_EXIT_OK;
  if (hearth_file_read(path, &file, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  const char *at = (const char *)file.data, *end = at + file.size;
  while (code == HEARTH_EXIT_OK && at < end) {
    const char *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    at = stop + (stop < end);
    while (line < stop && strchr(" \t\r", *line))
      line++;
    while (stop > line && strchr(" \t\r", stop[-1]))
      stop--;
    if (line < stop && *line != '#')
      code = add_wrapper(view, line, (size_t)(stop - line));
  }
  hearth_file_close(&file);
  return code;
}

int hearth_tool_take_wrapper(void *target, const char *value) {
  return *value == '@' ? add_wrappers(target, value + 1) : add_wrapper(target, value, strlen(value));
}

hearth_profile *hearth_tool_open_profile(const char *operand) {
  hearth_error err;
  hearth_profile *profile;
  hearth_tool_progress("%s: reading", operand);
  hearth_status status = hearth_profile_open_stream(hearth_tool_input_path(operand), &profile, &err);
  if (status == HEARTH_OK && (status = hearth_profile_verify(profile, &err)) != HEARTH_OK)
    hearth_profile_close(profile);
  hearth_tool_progress("%s", "");
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
