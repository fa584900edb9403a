#include "view_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static bool parse_class(const char *value, hearth_class *ret) {
  for (*ret = HEARTH_CLASS_COLD; *ret <= HEARTH_CLASS_HOT; (*ret)++)
    if (strcmp(hearth_class_name(*ret), value) == 0)
      return true;
  return false;
}

static bool parse_mode(const char *value, hearth_classify_mode *ret) {
  bool llvm = strcmp(value, "llvm") == 0;
  *ret = llvm ? HEARTH_CLASSIFY_LLVM : HEARTH_CLASSIFY_AUTO;
  return llvm || strcmp(value, "auto") == 0;
}

hearth_option_result hearth_tool_view_option(const char *argument, hearth_view_options *options) {
  const char *value;
  bool usable = true;
  if (strcmp(argument, "--no-demangle") == 0)
    options->linkage_names = true;
  else if (hearth_tool_option(argument, "--function", &value))
    options->function = value;
  else if (hearth_tool_option(argument, "--file", &value))
    options->file = value;
  else if (hearth_tool_option(argument, "--class", &value))
    usable = parse_class(value, &options->only);
  else if (hearth_tool_option(argument, "--classify", &value))
    usable = parse_mode(value, &options->classify.mode);
  else
    return HEARTH_OPTION_OTHER;
  return usable ? HEARTH_OPTION_TAKEN : HEARTH_OPTION_UNUSABLE;
}

bool hearth_tool_count(const char *value, size_t *ret) {
  char *end;
  errno = 0;
  unsigned long long n = strtoull(value, &end, 10);
  *ret = (size_t)n;
  return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0;
}

hearth_profile *hearth_tool_open_profile(const char *path) {
  hearth_error err;
  hearth_profile *profile;
  if (hearth_profile_open(path, &profile, &err) == HEARTH_OK) {
    if (hearth_profile_verify(profile, &err) == HEARTH_OK)
      return profile;
    hearth_profile_close(profile);
  }
  hearth_tool_error("%s", err.message);
  return NULL;
}
