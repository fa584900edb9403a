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

/* BITS=HINT..., ascending, up to the end of the line; *ret_count of them. */
static const char *parse_hints(struct hearth_call_list *list, struct text line, uint64_t mask, uint32_t *ret_count) {
  for (struct text word; length_of(word = take_word(&line));) {
    struct hearth_call_hint *hint = &list->hints[list->hint_count];
    if (!parse_hint(word, hint))
      return "expected BITS=HINT, bits in lower-case hexadecimal, the hint from 0 to 255";
    if (hint->bits & ~mask || (*ret_count && hint->bits <= hint[-1].bits))
      return "bits are to ascend, and to be of the mask";
    ++*ret_count;
    list->hint_count++;
  }
  return NULL;
}

static bool parse_build_id(struct text text, struct hearth_call_module *module) {
  size_t digits = length_of(text);
  if (!digits || digits % 2 || digits > 2 * sizeof module->build_id)
    return false;
  for (; text.at < text.end; text.at += 2) {
    uint64_t byte;
    if (!parse_hexadecimal((struct text){text.at, text.at + 2}, &byte))
      return false;
    module->build_id[module->build_id_size++] = (uint8_t)byte;
  }
  return true;
}

/* @BUILDID */
static const char *parse_module(struct hearth_call_list *list, struct text id, struct text line) {
  struct hearth_call_module *module = &list->modules[list->module_count++];
  *module = (struct hearth_call_module){.sites = list->sites + list->site_count};
  id.at++;
  return parse_build_id(id, module) && !length_of(take_word(&line)) ? NULL : "expected @ and a build id";
}

/* +OFFSET HINT|- HEIGHT=HINT... */
static const char *parse_site(struct hearth_call_list *list, struct text offset, struct text line) {
  if (!list->module_count)
    return "before the first return address stands its module: @ and a build id";
  struct hearth_call_module *module = &list->modules[list->module_count - 1];
  struct hearth_call_site *site = &list->sites[list->site_count];
  *site = (struct hearth_call_site){.heights = list->hints + list->hint_count};
  offset.at++;
  if (!parse_hexadecimal(offset, &site->offset) || (module->site_count && site->offset <= site[-1].offset))
    return "expected +OFFSET in lower-case hexadecimal, ascending in a module";
  struct text hint = take_word(&line);
  site->has_hint = parse_byte(hint, &site->hint);
  if (!site->has_hint && !is(hint, HEARTH_LIBRARY_CALLS_NONE))
    return "expected a hint from 0 to 255, or -, behind the return address";
  module->site_count++;
  list->site_count++;
  return parse_hints(list, line, UINT32_MAX, &site->height_count);
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
  const char *error = parse_hints(list, line, function.mask, &function.hint_count);
  if (error)
    return error;
  if (list->function_count == HEARTH_LIBRARY_CALLS_FUNCTIONS_MAX)
    return "more functions than a list may have";
  function.name_bytes = (uint32_t)length_of(name);
  function.name_hash = hearth_code_name_hash(name.at, function.name_bytes);
  list->functions[list->function_count++] = function;
  return NULL;
}

static const char *parse_line(struct hearth_call_list *list, struct text word, struct text line) {
  if (*word.at == HEARTH_LIBRARY_CALLS_MODULE)
    return parse_module(list, word, line);
  return *word.at == HEARTH_LIBRARY_CALLS_PATH ? parse_site(list, word, line) : parse_function(list, word, line);
}

static const char *parse_plan(struct hearth_call_list *list, struct text key, struct text line) {
  if (is(key, HEARTH_LIBRARY_CALLS_PLAN) && parse_hexadecimal(take_word(&line), &list->plan) && list->plan &&
      !length_of(take_word(&line)))
    return NULL;
  return "expected 'plan' and its id";
}

void hearth_call_list_measure(const char *text, size_t bytes, uint32_t *ret_lines, uint32_t *ret_hints) {
  *ret_lines = 1;
  *ret_hints = 0;
  for (size_t i = 0; i < bytes; i++) {
    *ret_lines += text[i] == '\n';
    *ret_hints += text[i] == '=';
  }
}

bool hearth_call_list_parse(const char *bytes_of_text, size_t bytes, struct hearth_call_list *list,
                            struct hearth_call_list_error *ret_error) {
  struct text text = {bytes_of_text, bytes_of_text + bytes};
  struct text head = take_line(&text);
  *ret_error = (struct hearth_call_list_error){.line = 1, .what = NULL};
  list->plan = list->function_count = list->hint_count = list->module_count = list->site_count = 0;
  if (!is(head, HEARTH_LIBRARY_CALLS_HEAD)) {
    ret_error->what = "no list of library calls of this version ('hearth plan --library-calls' writes one)";
    return false;
  }
  while (!ret_error->what && text.at < text.end) {
    struct text line = take_line(&text), word = take_word(&line);
    ret_error->line++;
    if (length_of(word))
      ret_error->what = list->plan ? parse_line(list, word, line) : parse_plan(list, word, line);
  }
  if (!ret_error->what && !list->plan)
    *ret_error = (struct hearth_call_list_error){.line = 0, .what = "names no plan"};
  return !ret_error->what;
}

static bool find_hint(const struct hearth_call_hint *hints, uint32_t count, uint64_t bits, uint8_t *ret_hint) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (hints[middle].bits < bits)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == count || hints[low].bits != bits)
    return false;
  *ret_hint = hints[low].hint;
  return true;
}

bool hearth_call_function_hint(const struct hearth_call_function *function, uint64_t bits, uint8_t *ret_hint) {
  return find_hint(function->hints, function->hint_count, bits & function->mask, ret_hint);
}

static const struct hearth_call_site *site_in(const struct hearth_call_module *module, uint64_t offset) {
  uint32_t low = 0, high = module->site_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (module->sites[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low < module->site_count && module->sites[low].offset == offset ? &module->sites[low] : NULL;
}

const struct hearth_call_site *hearth_call_site_find(const struct hearth_call_list *list, const uint8_t *build_id,
                                                     uint32_t build_id_size, uint64_t offset) {
  for (uint32_t i = 0; i < list->module_count; i++) {
    const struct hearth_call_module *module = &list->modules[i];
    bool is_it = module->build_id_size == build_id_size && !memcmp(module->build_id, build_id, build_id_size);
    const struct hearth_call_site *site = is_it ? site_in(module, offset) : NULL;
    if (site)
      return site;
  }
  return NULL;
}

bool hearth_call_site_hint(const struct hearth_call_site *site, uint32_t height, uint8_t *ret_hint) {
  if (height && find_hint(site->heights, site->height_count, height, ret_hint))
    return true;
  *ret_hint = site->hint;
  return site->has_hint;
}
