/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Aborts where what was written as JSON is not: for fuzz targets whose input has names of any bytes. */
#ifndef HEARTH_FUZZ_CHECK_JSON_H
#define HEARTH_FUZZ_CHECK_JSON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_value(const char *at);

static void fail(const char *what, const char *at) {
  fprintf(stderr, "%s at: %.60s\n", what, at);
  abort();
}

static const char *skip(const char *at, char c) {
  if (*at != c)
    fail("not JSON", at);
  return at + 1;
}

static const char *skip_space(const char *at) { return at + strspn(at, "\n"); }

static const char *skip_string(const char *at) {
  for (at = skip(at, '"'); *at != '"'; at++) {
    if ((unsigned char)*at < ' ')
      fail("control byte", at);
    if (*at == '\\' && !strchr("\"\\u", *++at))
      fail("unknown escape", at);
  }
  return at + 1;
}

static const char *skip_list(const char *at, char close, int object) {
  at = skip_space(at + 1);
  while (*at != close) {
    if (object)
      at = skip(skip_string(at), ':');
    at = skip_space(skip_value(at));
    if (*at == ',') {
      at = skip_space(at + 1);
      if (*at == close)
        fail("comma before the end", at);
    }
  }
  return at + 1;
}

static const char *skip_value(const char *at) {
  static const char *const words[] = {"null", "true", "false"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strncmp(at, words[i], strlen(words[i])) == 0)
      return at + strlen(words[i]);
  if (*at == '{' || *at == '[')
    return skip_list(at, *at == '{' ? '}' : ']', *at == '{');
  if (*at == '"')
    return skip_string(at);
  size_t digits = strspn(at, "-+.e0123456789");
  if (digits == 0)
    fail("not a value", at);
  return at + digits;
}

static void check_utf8(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    unsigned follow = *at < 0x80 ? 0 : *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
    if ((*at >= 0x80 && *at < 0xc2) || *at > 0xf4)
      fail("not UTF-8", (const char *)at);
    for (at++; follow > 0; follow--, at++)
      if (*at < 0x80 || *at > 0xbf)
        fail("not UTF-8", (const char *)at - 1);
  }
}

static void check_json(const char *text) {
  check_utf8(text);
  if (*skip_space(skip_value(text)))
    fail("more behind the end", text);
}

#endif
