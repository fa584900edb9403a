/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the text by which classes are asked for: of `hearth show` and the other views, and of the compiler plugin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/classify.h"

enum { PPM_PER_PERCENT = 10000 };

typedef struct setting {
  const char *name;
  hearth_classify_mode mode; /* that heeds it */
  double most;
} setting;

/* In the order of settings[]. */
typedef enum setting_name { HOT_ACCESSES, COLD_IDLE, COLD_DENSITY, COLD_LIFETIME, HOT_DENSITY } setting_name;

static const setting settings[] = {
    [HOT_ACCESSES] = {"hot-accesses", HEARTH_CLASSIFY_AUTO, 100},
    [COLD_IDLE] = {"cold-idle", HEARTH_CLASSIFY_AUTO, 1e9},
    [COLD_DENSITY] = {"cold-density", HEARTH_CLASSIFY_LLVM, 1e18},
    [COLD_LIFETIME] = {"cold-lifetime", HEARTH_CLASSIFY_LLVM, 1e9},
    [HOT_DENSITY] = {"hot-density", HEARTH_CLASSIFY_LLVM, 1e18},
};

static hearth_status fail(const char *text, size_t length, const char *what, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_USAGE, "'%.*s': %s", (int)length, text, what);
}

/* In the options 0 is the default: a number that says none is negative there, a share less than any that is stored. */
static void set(hearth_classify_options *options, setting_name name, double value) {
  double threshold = value > 0 ? value : -1;
  uint32_t share = value * PPM_PER_PERCENT >= 1 ? (uint32_t)(value * PPM_PER_PERCENT + 0.5) : 1;
  switch (name) {
  case COLD_IDLE:
    options->cold_idle_s = threshold;
    break;
  case HOT_ACCESSES:
    options->hot_share_ppm = share;
    break;
  case COLD_DENSITY:
    options->llvm_cold_density = threshold;
    break;
  case COLD_LIFETIME:
    options->llvm_cold_lifetime_s = threshold;
    break;
  case HOT_DENSITY:
    options->llvm_hot_density = threshold;
    break;
  }
}

/* NAME=NUMBER. */
static hearth_status parse_setting(const char *text, size_t length, hearth_classify_options *options,
                                   hearth_error *err) {
  const char *equals = memchr(text, '=', length);
  size_t name_length = equals ? (size_t)(equals - text) : length;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    if (strlen(settings[i].name) != name_length || memcmp(settings[i].name, text, name_length) != 0)
      continue;
    if (settings[i].mode != options->mode)
      return fail(text, name_length, "not a threshold of this mode", err);
    char *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || end != text + length || !(value >= 0 && value <= settings[i].most))
      return fail(text, length,
                  i == HOT_ACCESSES ? "expected a number from 0 to 100" : "expected a number of 0 or more", err);
    set(options, (setting_name)i, value);
    return HEARTH_OK;
  }
  return fail(text, name_length,
              "expected cold-idle or hot-accesses (of auto), cold-density, cold-lifetime or hot-density (of llvm)",
              err);
}

hearth_status hearth_classify_parse(const char *text, hearth_classify_options *ret, hearth_error *err) {
  hearth_classify_options options = {0};
  size_t length = strcspn(text, ",");
  if (length == 4 && memcmp(text, "llvm", length) == 0)
    options.mode = HEARTH_CLASSIFY_LLVM;
  else if (length != 4 || memcmp(text, "auto", length) != 0)
    return fail(text, length, "expected auto or llvm", err);
  while (text[length] == ',') {
    text += length + 1;
    length = strcspn(text, ",");
    HEARTH_TRY(parse_setting(text, length, &options, err));
  }
  *ret = options;
  return HEARTH_OK;
}
