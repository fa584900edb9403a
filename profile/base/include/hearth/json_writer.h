/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON (RFC 8259), written as it comes. Commas are placed by the writer; nesting is the caller's. Write errors stay in
 * the stream. */
#ifndef HEARTH_JSON_WRITER_H
#define HEARTH_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/status.h"

HEARTH_C_BEGIN

typedef struct hearth_json {
  FILE *stream;
  bool comma;   /* before the next key or value */
  bool in_html; /* set by the caller: the JSON stands in a <script> element, so '<' is escaped in strings */
} hearth_json;

void hearth_json_open(hearth_json *json, char bracket);  /* '{' or '[' */
void hearth_json_close(hearth_json *json, char bracket); /* '}' or ']' */
/* Begin a new line before the next item of the present object or array. */
void hearth_json_line(hearth_json *json);
void hearth_json_line_open(hearth_json *json, char bracket); /* the next item is an object or array */
void hearth_json_key(hearth_json *json, const char *name);
void hearth_json_null(hearth_json *json);
void hearth_json_bool(hearth_json *json, bool value);
/* All digits, also above 2^53. */
void hearth_json_uint(hearth_json *json, uint64_t value);
/* null if not finite. */
void hearth_json_double(hearth_json *json, double value);
/* Bytes that are not UTF-8 become U+FFFD. */
void hearth_json_string(hearth_json *json, const char *value);
/* A value follows that the caller writes to the stream itself. */
void hearth_json_value_begin(hearth_json *json);

void hearth_json_key_array(hearth_json *json, const char *name);  /* opens it */
void hearth_json_key_object(hearth_json *json, const char *name); /* opens it */
void hearth_json_key_null(hearth_json *json, const char *name);
void hearth_json_key_bool(hearth_json *json, const char *name, bool value);
void hearth_json_key_uint(hearth_json *json, const char *name, uint64_t value);
void hearth_json_key_double(hearth_json *json, const char *name, double value);
void hearth_json_key_string(hearth_json *json, const char *name, const char *value);

/* JSON with values left out: "{name:%s, live:%d, bytes:%lu, parts:[". Words are keys before a colon, else values as
 * they are, as is what stands in quotes; a line break begins a line; commas and blanks mean nothing.
 *   %s string, or with a colon behind it a key   %f double   %d bool   %u unsigned   %lu uint64_t   %zu size_t */
void hearth_json_print(hearth_json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One object is one file: its name and version come first, a newline last. Errors: E_IO. */
void hearth_json_begin(hearth_json *json, const char *format, uint64_t version);
hearth_status hearth_json_end(hearth_json *json, hearth_error *err);

/* One to seven members of a struct, each under its own name; in C only. */
#define HEARTH_JSON_MEMBERS(json, object, ...)                                                                         \
  HEARTH_JSON_SEVENTH(__VA_ARGS__, HEARTH_JSON_7, HEARTH_JSON_6, HEARTH_JSON_5, HEARTH_JSON_4, HEARTH_JSON_3,          \
                      HEARTH_JSON_2, HEARTH_JSON_1, 0)                                                                 \
  (json, object, __VA_ARGS__)
#define HEARTH_JSON_SEVENTH(a, b, c, d, e, f, g, macro, ...) macro
#define HEARTH_JSON_1(j, o, m)                                                                                         \
  _Generic((o)->m,                                                                                                     \
      bool: hearth_json_key_bool,                                                                                      \
      double: hearth_json_key_double,                                                                                  \
      char *: hearth_json_key_string,                                                                                  \
      const char *: hearth_json_key_string,                                                                            \
      default: hearth_json_key_uint)(j, #m, (o)->m)
#define HEARTH_JSON_2(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_1(j, o, __VA_ARGS__)
#define HEARTH_JSON_3(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_2(j, o, __VA_ARGS__)
#define HEARTH_JSON_4(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_3(j, o, __VA_ARGS__)
#define HEARTH_JSON_5(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_4(j, o, __VA_ARGS__)
#define HEARTH_JSON_6(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_5(j, o, __VA_ARGS__)
#define HEARTH_JSON_7(j, o, m, ...) HEARTH_JSON_1(j, o, m), HEARTH_JSON_6(j, o, __VA_ARGS__)

HEARTH_C_END
#endif
