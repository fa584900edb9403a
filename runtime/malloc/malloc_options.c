/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pairs are split at ':' and '=' in the text itself; each value has a parser of its own. */
#include "hints.h"

#include <stdbool.h>
#include <string.h>

enum { DEFAULT_INTERVAL_S = 30, DEFAULT_COST_PERCENT = 1 };
/* Unlike /tmp never in memory: the Filesystem Hierarchy Standard has files there survive a restart. */
#define DEFAULT_DIRECTORY "/var/tmp"

/* The text of one "key=value", not terminated. */
struct span_of_text {
  const char *start;
  size_t bytes;
};

static bool equals(struct span_of_text text, const char *word) {
  return strlen(word) == text.bytes && !memcmp(text.start, word, text.bytes);
}

static bool parse_switch(struct span_of_text value, bool *ret_on) {
  bool on = equals(value, "on");
  if (!on && !equals(value, "off"))
    return false;
  *ret_on = on;
  return true;
}

static bool parse_cold(struct span_of_text value, hearth_cold_mode *ret_mode) {
  static const char *const modes[] = {
      [HEARTH_COLD_KEEP] = "keep", [HEARTH_COLD_PAGEOUT] = "pageout", [HEARTH_COLD_FILE] = "file",
      [HEARTH_COLD_AUTO] = "auto", [HEARTH_COLD_OFF] = "off",
  };
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++)
    if (equals(value, modes[i])) {
      *ret_mode = (hearth_cold_mode)i;
      return true;
    }
  return false;
}

static bool parse_option_number(struct span_of_text value, unsigned most, unsigned *ret_number) {
  unsigned number = 0;
  if (!value.bytes || value.bytes > 6)
    return false;
  for (size_t i = 0; i < value.bytes; i++) {
    if (value.start[i] < '0' || value.start[i] > '9')
      return false;
    number = number * 10 + (unsigned)(value.start[i] - '0');
  }
  if (number > most)
    return false;
  *ret_number = number;
  return true;
}

static bool parse_cost(struct span_of_text value, unsigned *ret_percent) {
  unsigned percent = 0;
  bool is_off = equals(value, "off");
  if (!is_off && (!parse_option_number(value, 100, &percent) || percent == 0))
    return false;
  *ret_percent = percent;
  return true;
}

static bool parse_path(struct span_of_text value, char *ret_path) {
  if (!value.bytes || value.bytes >= HEARTH_MALLOC_PATH_BYTES)
    return false;
  memcpy(ret_path, value.start, value.bytes);
  ret_path[value.bytes] = 0;
  return true;
}

/* One pool, one for each call, dormant blocks apart in both; or a character for each id, 0 to 9 and a to v: its pool. */
static bool parse_layout(struct span_of_text value, hearth_malloc_options *options) {
  static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
  uint8_t *layout = options->layout;
  bool is_one = equals(value, "one"), is_by_call = equals(value, "calls");
  if (!is_one && !is_by_call && value.bytes > HEARTH_LAYOUT_IDS)
    return false;
  memset(layout, 0, sizeof options->layout);
  for (size_t i = is_one ? HEARTH_LAYOUT_IDS - 1 : 0; (is_one || is_by_call) && i < HEARTH_LAYOUT_IDS; i++)
    layout[i] = (uint8_t)(i + 1);
  for (size_t i = 0; !is_one && !is_by_call && i < value.bytes; i++) {
    const char *digit = memchr(digits, value.start[i], sizeof digits - 1);
    if (!digit)
      return false;
    layout[i] = (uint8_t)(digit - digits);
  }
  return options->has_layout = true;
}

static bool apply(struct span_of_text pair, hearth_malloc_options *options) {
  const char *equal_sign = memchr(pair.start, '=', pair.bytes);
  if (!equal_sign)
    return false;
  struct span_of_text key = {pair.start, (size_t)(equal_sign - pair.start)};
  struct span_of_text value = {equal_sign + 1, pair.bytes - key.bytes - 1};
  if (equals(key, "cold"))
    return parse_cold(value, &options->cold_mode);
  if (equals(key, "secure"))
    return parse_switch(value, &options->is_secure);
  if (equals(key, "layout"))
    return parse_layout(value, options);
  if (equals(key, "interval"))
    return parse_option_number(value, HEARTH_COLD_INTERVAL_MAX, &options->interval_s);
  if (equals(key, "cost"))
    return parse_cost(value, &options->cost_percent);
  if (equals(key, "sites-warning"))
    return parse_switch(value, &options->warns_of_sites);
  if (equals(key, "dir"))
    return parse_path(value, options->directory);
  if (equals(key, "stats"))
    return parse_path(value, options->statistics);
  return false;
}

static void warn_about(struct span_of_text pair) {
  char text[64];
  size_t bytes = pair.bytes < sizeof text - 1 ? pair.bytes : sizeof text - 1;
  memcpy(text, pair.start, bytes);
  text[bytes] = 0;
  hearth_malloc_warn("HEARTH_MALLOC takes cold=off|keep|pageout|file|auto, layout=, interval=, cost=, dir=, stats=, "
                     "secure= and sites-warning= (see docs/options.md); ignored: ",
                     text);
}

hearth_malloc_options hearth_malloc_options_parse(const char *text) {
  hearth_malloc_options options = {.interval_s = DEFAULT_INTERVAL_S,
                                   .cost_percent = DEFAULT_COST_PERCENT,
                                   .warns_of_sites = true,
                                   .directory = DEFAULT_DIRECTORY};
  bool warned = false;
  while (text && *text) {
    struct span_of_text pair = {text, strcspn(text, ":")};
    if (pair.bytes && !apply(pair, &options) && !warned) {
      warn_about(pair);
      warned = true;
    }
    text += pair.bytes;
    text += *text == ':';
  }
  return options;
}
