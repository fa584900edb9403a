#include "hotcold_options.h"

#include "fatal.h"

#include <stdbool.h>
#include <string.h>

enum { DEFAULT_COLD_BELOW = 64, DEFAULT_HOT_FROM = 254, HINT_VALUES = 256 };

struct switches {
  bool cold, hot;
};

/* The text of one "key=value", not terminated. */
struct span_of_text {
  const char *start;
  size_t bytes;
};

static bool equals(struct span_of_text text, const char *word) {
  return strlen(word) == text.bytes && !memcmp(text.start, word, text.bytes);
}

static bool parse_switch(struct span_of_text value, bool *ret_on) {
  *ret_on = equals(value, "on");
  return *ret_on || equals(value, "off");
}

static bool parse_threshold(struct span_of_text value, unsigned *ret_threshold) {
  unsigned number = 0;
  if (!value.bytes || value.bytes > 3)
    return false;
  for (size_t i = 0; i < value.bytes; i++) {
    if (value.start[i] < '0' || value.start[i] > '9')
      return false;
    number = number * 10 + (unsigned)(value.start[i] - '0');
  }
  if (number > HINT_VALUES)
    return false;
  *ret_threshold = number;
  return true;
}

static bool apply(struct span_of_text pair, struct hearth_hotcold_options *options, struct switches *switches) {
  const char *equal_sign = memchr(pair.start, '=', pair.bytes);
  if (!equal_sign)
    return false;
  struct span_of_text key = {pair.start, (size_t)(equal_sign - pair.start)};
  struct span_of_text value = {equal_sign + 1, pair.bytes - key.bytes - 1};
  bool on;
  if (equals(key, "cold"))
    return parse_switch(value, &on) && (switches->cold = on, true);
  if (equals(key, "hot"))
    return parse_switch(value, &on) && (switches->hot = on, true);
  if (equals(key, "cold-below"))
    return parse_threshold(value, &options->cold_below);
  if (equals(key, "hot-from"))
    return parse_threshold(value, &options->hot_from);
  return false;
}

static void warn_about(struct span_of_text pair) {
  char text[64];
  size_t bytes = pair.bytes < sizeof text - 1 ? pair.bytes : sizeof text - 1;
  memcpy(text, pair.start, bytes);
  text[bytes] = 0;
  hearth_hotcold_warn("HEARTH_HOTCOLD takes cold=, hot=, cold-below= and hot-from=; ignored: ", text);
}

struct hearth_hotcold_options hearth_hotcold_options_parse(const char *text) {
  struct hearth_hotcold_options options = {.cold_below = DEFAULT_COLD_BELOW, .hot_from = DEFAULT_HOT_FROM};
  struct switches switches = {.cold = true, .hot = true};
  bool warned = false;
  while (text && *text) {
    struct span_of_text pair = {text, strcspn(text, ":")};
    if (pair.bytes && !apply(pair, &options, &switches) && !warned) {
      warn_about(pair);
      warned = true;
    }
    text += pair.bytes;
    text += *text == ':';
  }
  if (!switches.cold)
    options.cold_below = 0;
  if (!switches.hot)
    options.hot_from = HINT_VALUES;
  return options;
}
