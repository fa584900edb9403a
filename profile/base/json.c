/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes JSON straight to the stream. The only state is whether a comma is due; strings are escaped byte by byte. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "file.h"
#include "hearth/json_writer.h"
#include "utf8.h"

void hearth_json_value_begin(hearth_json *json) {
  if (json->comma)
    putc_unlocked(',', json->stream);
  json->comma = true;
}

void hearth_json_open(hearth_json *json, char bracket) {
  hearth_json_value_begin(json);
  putc_unlocked(bracket, json->stream);
  json->comma = false;
}

void hearth_json_close(hearth_json *json, char bracket) {
  putc_unlocked(bracket, json->stream);
  json->comma = true;
}

void hearth_json_line(hearth_json *json) {
  if (json->comma)
    putc_unlocked(',', json->stream);
  json->comma = false;
  putc_unlocked('\n', json->stream);
}

void hearth_json_line_open(hearth_json *json, char bracket) {
  hearth_json_line(json);
  hearth_json_open(json, bracket);
}

void hearth_json_key(hearth_json *json, const char *name) {
  hearth_json_string(json, name);
  putc_unlocked(':', json->stream);
  json->comma = false;
}

void hearth_json_null(hearth_json *json) {
  hearth_json_value_begin(json);
  fputs("null", json->stream);
}

void hearth_json_bool(hearth_json *json, bool value) {
  hearth_json_value_begin(json);
  fputs(value ? "true" : "false", json->stream);
}

/* Most of a large file are numbers: by hand, four times as fast as fprintf. */
void hearth_json_uint(hearth_json *json, uint64_t value) {
  char digits[20];
  size_t at = sizeof digits;
  hearth_json_value_begin(json);
  do
    digits[--at] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  while (at < sizeof digits)
    putc_unlocked(digits[at++], json->stream);
}

void hearth_json_double(hearth_json *json, double value) {
  if (!isfinite(value)) {
    hearth_json_null(json);
    return;
  }
  hearth_json_value_begin(json);
  fprintf(json->stream, "%.17g", value);
}

void hearth_json_string(hearth_json *json, const char *value) {
  hearth_json_value_begin(json);
  putc_unlocked('"', json->stream);
  while (*value) {
    unsigned char c = (unsigned char)*value;
    size_t length = hearth_utf8_length(value);
    if (c == '"' || c == '\\') {
      putc_unlocked('\\', json->stream);
      putc_unlocked(c, json->stream);
    } else if (c < ' ' || c == 0x7f || (c == '<' && json->in_html)) {
      fprintf(json->stream, "\\u%04x", c);
    } else if (length == 0) {
      fputs(HEARTH_UTF8_REPLACEMENT, json->stream);
    } else if (length > 1 && hearth_utf8_is_control(value)) {
      unsigned second = (unsigned char)value[1] & 0x3f;
      fprintf(json->stream, "\\u%04x",
              length == 2 ? (c & 0x1fu) << 6 | second : 0x2000 | second << 6 | ((unsigned char)value[2] & 0x3f));
    } else {
      fwrite(value, 1, length, json->stream);
    }
    value += length ? length : 1;
  }
  putc_unlocked('"', json->stream);
}

void hearth_json_key_array(hearth_json *json, const char *name) {
  hearth_json_key(json, name);
  hearth_json_open(json, '[');
}

void hearth_json_key_object(hearth_json *json, const char *name) {
  hearth_json_key(json, name);
  hearth_json_open(json, '{');
}

void hearth_json_key_null(hearth_json *json, const char *name) {
  hearth_json_key(json, name);
  hearth_json_null(json);
}

void hearth_json_key_bool(hearth_json *json, const char *name, bool value) {
  hearth_json_key(json, name);
  hearth_json_bool(json, value);
}

void hearth_json_key_uint(hearth_json *json, const char *name, uint64_t value) {
  hearth_json_key(json, name);
  hearth_json_uint(json, value);
}

void hearth_json_key_double(hearth_json *json, const char *name, double value) {
  hearth_json_key(json, name);
  hearth_json_double(json, value);
}

void hearth_json_key_string(hearth_json *json, const char *name, const char *value) {
  hearth_json_key(json, name);
  hearth_json_string(json, value);
}

/* A conversion behind its '%'; returns the rest of the format. */
static const char *json_convert(hearth_json *json, const char *at, va_list *values) {
  switch (*at) {
  case 's': {
    const char *text = va_arg(*values, const char *);
    (at[1] == ':' ? hearth_json_key : hearth_json_string)(json, text);
    return at + 1 + (at[1] == ':');
  }
  case 'f':
    hearth_json_double(json, va_arg(*values, double));
    return at + 1;
  case 'd':
    hearth_json_bool(json, va_arg(*values, int));
    return at + 1;
  case 'u':
    hearth_json_uint(json, va_arg(*values, unsigned));
    return at + 1;
  default: /* lu, zu */
    hearth_json_uint(json, va_arg(*values, unsigned long));
    return at + 2;
  }
}

/* A word before a colon is a key; another one, or what stands in quotes, is a value as it is. */
static const char *json_put_word(hearth_json *json, const char *at, size_t size) {
  bool is_key = at[size] == ':', is_quoted = *at == '"';
  hearth_json_value_begin(json);
  fprintf(json->stream, is_key && !is_quoted ? "\"%.*s\"" : "%.*s", (int)size, at);
  if (is_key)
    putc_unlocked(':', json->stream);
  json->comma = !is_key;
  return at + size + is_key;
}

void hearth_json_print(hearth_json *json, const char *format, ...) {
  va_list values;
  va_start(values, format);
  for (const char *at = format; *at;)
    if (*at == '%')
      at = json_convert(json, at + 1, &values);
    else if (*at == '"')
      at = json_put_word(json, at, strcspn(at + 1, "\"") + 2);
    else if (!strchr("{}[]\n, ", *at))
      at = json_put_word(json, at, strcspn(at, ":{}[]\n, "));
    else {
      if (*at == '\n')
        hearth_json_line(json);
      else if (*at == '{' || *at == '[')
        hearth_json_open(json, *at);
      else if (*at == '}' || *at == ']')
        hearth_json_close(json, *at);
      at++;
    }
  va_end(values);
}

void hearth_json_begin(hearth_json *json, const char *format, uint64_t version) {
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "format", format);
  hearth_json_key_uint(json, "version", version);
}

hearth_status hearth_json_end(hearth_json *json, hearth_error *err) {
  hearth_json_close(json, '}');
  putc_unlocked('\n', json->stream);
  return hearth_stream_flush(json->stream, err);
}

/* ------------------------------------------------ utf8 ------------------------------------------------ */

/* Text for terminals and for people who trust what they see. */

size_t hearth_utf8_put(const char *text, FILE *stream) {
  size_t count = 0;
  for (size_t length; *text; text += length ? length : 1, count++) {
    length = hearth_utf8_length(text);
    if (length == 0 || hearth_utf8_is_control(text))
      putc('?', stream);
    else
      fwrite(text, 1, length, stream);
  }
  return count;
}
