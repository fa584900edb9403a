/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list is parsed in place, line by line: names point into its text. */
#include "call_list.h"

#include "code_symbols.h"
#include "hearth/library_calls.h"

#include <string.h>

struct text {
  const char *at, *end;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* The rest of the line at `text`, without its end; `text` goes on behind it. */
static struct text take_line(struct text *text) {
  const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
  struct text line = {text->at, end ? end : text->end};
  text->at = end ? end + 1 : text->end;
  return line;
}

/* The next word of a line; empty at its end, and where a comment begins. */
static struct text take_word(struct text *line) {
  while (line->at < line->end && is_blank(*line->at))
    line->at++;
  if (line->at < line->end && *line->at == '#')
    line->at = line->end;
  struct text word = {line->at, line->at};
  while (word.end < line->end && !is_blank(*word.end))
    word.end++;
  line->at = word.end;
  return word;
}

static size_t length_of(struct text text) { return (size_t)(text.end - text.at); }

static bool is(struct text text, const char *word) {
  return length_of(text) == strlen(word) && !memcmp(text.at, word, length_of(text));
}

static bool parse_hexadecimal(struct text text, uint64_t *ret) {
  uint64_t number = 0;
  if (!length_of(text) || length_of(text) > 16)
    return false;
  for (const char *at = text.at; at < text.end; at++) {
    unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                     : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                                                : 16;
    if (digit > 15)
      return false;
    number = number << 4 | digit;
  }
  *ret = number;
  return true;
}

static bool parse_byte(struct text text, uint8_t *ret) {
  unsigned number = 0;
  if (!length_of(text) || length_of(text) > 3)
    return false;
  for (const char *at = text.at; at < text.end; at++) {
    if (*at < '0' || *at > '9')
      return false;
    number = number * 10 + (unsigned)(*at - '0');
  }
  *ret = (uint8_t)number;
  return number <= UINT8_MAX;
}

/* BITS=HINT */
static bool parse_hint(struct text word, struct hearth_call_hint *ret) {
  const char *equal_sign = memchr(word.at, '=', length_of(word));
  struct text bits = {word.at, equal_sign}, hint = {equal_sign ? equal_sign + 1 : NULL, word.end};
  return equal_sign && parse_hexadecimal(bits, &ret->bits) && parse_byte(hint, &ret->hint);
}

static bool is_name(struct text word) {
  for (const char *at = word.at; at < word.end; at++)
    if (*at <= ' ' || *at > '~')
      return false;
  return true;
}

/* NAME MASK BITS=HINT... Returns the error, or NULL. */
static const char *parse_function(struct hearth_call_list *list, struct text name, struct text line) {
  struct hearth_call_function function = {.name = name.at, .hints = list->hints + list->hint_count};
  if (!is_name(name))
    return "a function's name is to be printable ASCII";
  if (!parse_hexadecimal(take_word(&line), &function.mask))
    return "expected a mask behind the function, in lower-case hexadecimal";
  for (struct text word; length_of(word = take_word(&line));) {
    struct hearth_call_hint *hint = &list->hints[list->hint_count];
    if (!parse_hint(word, hint))
      return "expected BITS=HINT, bits in lower-case hexadecimal, the hint from 0 to 255";
    if (hint->bits & ~function.mask || (function.hint_count && hint->bits <= hint[-1].bits))
      return "bits are to ascend, and to be of the mask";
    function.hint_count++;
    list->hint_count++;
  }
  if (list->function_count == HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX)
    return "more functions than a list may have";
  function.name_bytes = (uint32_t)length_of(name);
  function.name_hash = hearth_code_name_hash(name.at, function.name_bytes);
  list->functions[list->function_count++] = function;
  return NULL;
}

static const char *parse_plan(struct hearth_call_list *list, struct text key, struct text line) {
  if (is(key, HEARTH_LIBRARY_CALLS_PLAN) && parse_hexadecimal(take_word(&line), &list->plan) && list->plan &&
      !length_of(take_word(&line)))
    return NULL;
  return "expected 'plan' and its id";
}

void hearth_call_list_measure(const char *text, size_t bytes, uint32_t *ret_functions, uint32_t *ret_hints) {
  *ret_functions = 1;
  *ret_hints = 0;
  for (size_t i = 0; i < bytes; i++) {
    *ret_functions += text[i] == '\n';
    *ret_hints += text[i] == '=';
  }
}

bool hearth_call_list_parse(const char *bytes_of_text, size_t bytes, struct hearth_call_list *list,
                            struct hearth_call_list_error *ret_error) {
  struct text text = {bytes_of_text, bytes_of_text + bytes};
  struct text head = take_line(&text);
  *ret_error = (struct hearth_call_list_error){.line = 1, .what = NULL};
  list->plan = list->function_count = list->hint_count = 0;
  if (!is(head, HEARTH_LIBRARY_CALLS_HEAD)) {
    ret_error->what = "no list of library calls of this version ('hearth plan --library-calls' writes one)";
    return false;
  }
  while (!ret_error->what && text.at < text.end) {
    struct text line = take_line(&text), word = take_word(&line);
    ret_error->line++;
    if (length_of(word))
      ret_error->what = list->plan ? parse_function(list, word, line) : parse_plan(list, word, line);
  }
  if (!ret_error->what && !list->plan)
    *ret_error = (struct hearth_call_list_error){.line = 0, .what = "names no plan"};
  return !ret_error->what;
}

bool hearth_call_function_hint(const struct hearth_call_function *function, uint64_t bits, uint8_t *ret_hint) {
  uint32_t low = 0, high = function->hint_count;
  uint64_t key = bits & function->mask;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (function->hints[middle].bits < key)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == function->hint_count || function->hints[low].bits != key)
    return false;
  *ret_hint = function->hints[low].hint;
  return true;
}
