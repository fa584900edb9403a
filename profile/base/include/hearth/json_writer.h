/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON (RFC 8259), written as it comes. Commas are placed by the writer; nesting is the caller's. Write errors stay in
 * the stream. */
#ifndef HEARTH_JSON_WRITER_H
#define HEARTH_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_json {
  FILE *stream;
  bool comma;   /* before the next key or value */
  bool in_html; /* set by the caller: the JSON stands in a <script> element, so '<' is escaped in strings */
} hearth_json;

void hearth_json_open(hearth_json *json, char bracket);  /* '{' or '[' */
void hearth_json_close(hearth_json *json, char bracket); /* '}' or ']' */
/* Begin a new line before the next item of the present object or array. */
void hearth_json_line(hearth_json *json);
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

void hearth_json_key_array(hearth_json *json, const char *name); /* opens it */
void hearth_json_key_uint(hearth_json *json, const char *name, uint64_t value);
void hearth_json_key_double(hearth_json *json, const char *name, double value);
void hearth_json_key_string(hearth_json *json, const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
