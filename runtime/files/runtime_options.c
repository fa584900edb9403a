/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table made of runtime_options.def holds each option's name, kind, range and place; the parser of settings uses
 * it. */
#include "runtime_options.h"

#include "output.h"

#include <string.h>

typedef enum option_kind { TEXT, NUMBER, SECONDS, CHOICE } option_kind;

typedef struct option {
  const char *name;
  option_kind kind;
  size_t offset;        /* of the value in hearth_runtime_options */
  uint32_t standard;    /* NUMBER; SECONDS, in milliseconds */
  uint32_t least, most; /* as `standard` */
  const char *text;     /* TEXT: default; CHOICE: choices */
  const char *description;
} option;

static const option table[] = {
#define HEARTH_OPTION_TEXT(name, standard, description)                                                                \
  {#name, TEXT, offsetof(hearth_runtime_options, name), 0, 0, 0, standard, description},
#define HEARTH_OPTION_NUMBER(name, standard, least, most, description)                                                 \
  {#name, NUMBER, offsetof(hearth_runtime_options, name), standard, least, most, NULL, description},
#define HEARTH_OPTION_SECONDS(name, standard, least, most, description)                                                \
  {#name, SECONDS, offsetof(hearth_runtime_options, name), standard, least, most, NULL, description},
#define HEARTH_OPTION_CHOICE(name, choices, description)                                                               \
  {#name, CHOICE, offsetof(hearth_runtime_options, name), 0, 0, 0, choices, description},
#include "runtime_options.def"
};

#define OPTION_COUNT (sizeof table / sizeof table[0])

static const option unlisted[] = {
    {"plain_pid", NUMBER, offsetof(hearth_runtime_options, plain_pid), 0, 0, UINT32_MAX, NULL, NULL},
    {"tell_file", NUMBER, offsetof(hearth_runtime_options, tell_file), 1, 0, 1, NULL, NULL},
    {"tell_pid", NUMBER, offsetof(hearth_runtime_options, tell_pid), 0, 0, UINT32_MAX, NULL, NULL},
};

/* A piece of a settings string. */
typedef struct piece {
  const char *start;
  size_t size;
} piece;

static char *option_text(hearth_runtime_options *options, const option *option) {
  return (char *)options + option->offset;
}

static uint32_t *option_number(hearth_runtime_options *options, const option *option) {
  return (uint32_t *)(void *)((char *)options + option->offset);
}

static bool option_equals(piece piece, const char *string) {
  return strlen(string) == piece.size && memcmp(string, piece.start, piece.size) == 0;
}

/* The choice number `index` of "first|second|..."; false behind the last. */
static bool choice_at(const char *choices, uint32_t index, piece *ret_choice) {
  for (;; ++choices) {
    size_t size = strcspn(choices, "|");
    if (index-- == 0) {
      *ret_choice = (piece){choices, size};
      return true;
    }
    choices += size;
    if (!*choices)
      return false;
  }
}

void hearth_runtime_options_begin(hearth_runtime_options *options) {
  for (size_t i = 0; i < OPTION_COUNT; ++i)
    if (table[i].kind == TEXT)
      memcpy(option_text(options, &table[i]), table[i].text, strlen(table[i].text) + 1);
    else
      *option_number(options, &table[i]) = table[i].standard;
}

static bool set_text(hearth_runtime_options *options, const option *option, piece value) {
  if (value.size == 0 || value.size >= HEARTH_OPTION_TEXT_SIZE)
    return false;
  char *to = option_text(options, option);
  memcpy(to, value.start, value.size);
  to[value.size] = '\0';
  return true;
}

static bool parse_digits(piece digits, uint64_t *ret_number) {
  *ret_number = 0;
  if (digits.size == 0 || digits.size > 10)
    return false;
  for (size_t i = 0; i < digits.size; ++i) {
    if (digits.start[i] < '0' || digits.start[i] > '9')
      return false;
    *ret_number = *ret_number * 10 + (uint64_t)(digits.start[i] - '0');
  }
  return true;
}

/* "30" or "0.25"; at most three digits behind the point. */
static bool parse_milliseconds(piece value, uint64_t *ret_number) {
  piece whole = {value.start, 0}, part = {value.start, 0};
  uint64_t thousandths = 0;

  while (whole.size < value.size && whole.start[whole.size] != '.')
    ++whole.size;
  bool has_part = whole.size < value.size;
  if (has_part)
    part = (piece){whole.start + whole.size + 1, value.size - whole.size - 1};
  if (!parse_digits(whole, ret_number) || (has_part && (part.size > 3 || !parse_digits(part, &thousandths))))
    return false;
  for (size_t i = part.size; i < 3; ++i)
    thousandths *= 10;
  *ret_number = *ret_number * 1000 + thousandths;
  return true;
}

static bool option_set_number(hearth_runtime_options *options, const option *option, piece value) {
  uint64_t number;
  bool valid = option->kind == SECONDS ? parse_milliseconds(value, &number) : parse_digits(value, &number);

  if (!valid || number < option->least || number > option->most)
    return false;
  *option_number(options, option) = (uint32_t)number;
  return true;
}

static bool set_choice(hearth_runtime_options *options, const option *option, piece value) {
  piece choice;

  for (uint32_t i = 0; choice_at(option->text, i, &choice); ++i)
    if (choice.size == value.size && memcmp(choice.start, value.start, value.size) == 0) {
      *option_number(options, option) = i;
      return true;
    }
  return false;
}

/* The values that an option takes, for messages. */
static void describe_values(hearth_text *text, const option *option) {
  if (option->kind == TEXT)
    hearth_text_format(text, "1 to %u characters", (uint64_t)HEARTH_OPTION_TEXT_SIZE - 1);
  else if (option->kind == CHOICE)
    hearth_text_add(text, option->text);
  else if (option->kind == SECONDS)
    hearth_text_format(text, "%u to %u", (uint64_t)option->least / 1000, (uint64_t)option->most / 1000);
  else
    hearth_text_format(text, "%u to %u", (uint64_t)option->least, (uint64_t)option->most);
}

static void option_set(hearth_runtime_options *options, const option *option, piece value, const char *source) {
  bool valid = option->kind == TEXT     ? set_text(options, option, value)
               : option->kind == CHOICE ? set_choice(options, option, value)
                                        : option_set_number(options, option, value);
  char given_buffer[64], values_buffer[64];

  if (valid)
    return;
  hearth_text given = hearth_text_begin(given_buffer, sizeof given_buffer);
  hearth_text values = hearth_text_begin(values_buffer, sizeof values_buffer);
  hearth_text_add_bytes(&given, value.start, value.size);
  describe_values(&values, option);
  hearth_message("%s: option %s cannot be '%s' (%s); ignored", source, option->name, given_buffer, values_buffer);
}

static const option *option_find(piece key) {
  for (size_t i = 0; i < OPTION_COUNT; ++i)
    if (option_equals(key, table[i].name))
      return &table[i];
  for (size_t i = 0; i < sizeof unlisted / sizeof unlisted[0]; ++i)
    if (option_equals(key, unlisted[i].name))
      return &unlisted[i];
  return NULL;
}

/* Split off the next "key=value"; false at the end. A key without '=' has an empty value. */
static bool next_setting(const char **string, piece *ret_key, piece *ret_value) {
  const char *at = *string + strspn(*string, ": \t\n");

  if (!*at)
    return false;
  *ret_key = (piece){at, strcspn(at, "=: \t\n")};
  at += ret_key->size;
  *ret_value = (piece){at, 0};
  if (*at == '=') {
    char quote = at[1];
    const char *end = quote == '\'' || quote == '"' ? strchr(at + 2, quote) : NULL;
    *ret_value = end ? (piece){at + 2, (size_t)(end - at - 2)} : (piece){at + 1, strcspn(at + 1, ":")};
    at = ret_value->start + ret_value->size + (end != NULL);
  }
  *string = at;
  return true;
}

void hearth_runtime_options_apply(hearth_runtime_options *options, const char *string, const char *source) {
  char buffer[256];
  hearth_text unknown = hearth_text_begin(buffer, sizeof buffer);
  piece key, value;

  while (string && next_setting(&string, &key, &value)) {
    const option *option = option_find(key);
    if (option) {
      option_set(options, option, value, source);
      continue;
    }
    if (unknown.length)
      hearth_text_add(&unknown, ", ");
    hearth_text_add_bytes(&unknown, key.start, key.size);
  }
  if (unknown.length)
    hearth_message("%s: unknown options ignored: %s (help=1 lists the options)", source, buffer);
}

static void add_seconds(hearth_text *text, uint32_t milliseconds) {
  uint32_t rest = milliseconds % 1000;
  char fraction[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};

  hearth_text_format(text, "%u", (uint64_t)milliseconds / 1000);
  if (rest)
    hearth_text_add_bytes(text, fraction, sizeof fraction);
}

void hearth_runtime_options_print(const hearth_runtime_options *options) {
  hearth_message("options, as key=value:key=value in HEARTH_OPTIONS:");
  for (size_t i = 0; i < OPTION_COUNT; ++i) {
    char value_buffer[256], values_buffer[64];
    hearth_text value = hearth_text_begin(value_buffer, sizeof value_buffer);
    hearth_text values = hearth_text_begin(values_buffer, sizeof values_buffer);
    const void *stored = (const char *)options + table[i].offset;
    piece choice;
    if (table[i].kind == TEXT)
      hearth_text_add(&value, stored);
    else if (table[i].kind == CHOICE && choice_at(table[i].text, *(const uint32_t *)stored, &choice))
      hearth_text_add_bytes(&value, choice.start, choice.size);
    else if (table[i].kind == SECONDS)
      add_seconds(&value, *(const uint32_t *)stored);
    else
      hearth_text_format(&value, "%u", (uint64_t)*(const uint32_t *)stored);
    describe_values(&values, &table[i]);
    hearth_message("  %s=%s (%s)  %s", table[i].name, value_buffer, values_buffer, table[i].description);
  }
}
