/* Recursive descent. Each function takes where its part begins and returns where it ends, or NULL after setting `wrong`. */
#include "json_scan.h"

#include <string.h>

#include "utf8.h"

enum { MOST_NESTING = 64 };

typedef struct scanner {
  const char *wrong;
  int depth;
  hearth_json_member *member;
  void *context;
} scanner;

static const char *scan_value(scanner *s, const char *at);

static const char *fail(scanner *s, const char *at) {
  s->wrong = at;
  return NULL;
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *scan_escape(scanner *s, const char *at) {
  if (*at != 'u')
    return *at && strchr("\"\\/bfnrt", *at) ? at + 1 : fail(s, at);
  return strspn(at + 1, "0123456789abcdefABCDEF") >= 4 ? at + 5 : fail(s, at);
}

static const char *scan_string(scanner *s, const char *at) {
  if (*at != '"')
    return fail(s, at);
  for (at++; *at != '"';) {
    size_t length = (unsigned char)*at < ' ' ? 0 : hearth_utf8_length(at);
    if (length == 0)
      return fail(s, at);
    at = *at == '\\' ? scan_escape(s, at + 1) : at + length;
    if (!at)
      return NULL;
  }
  return at + 1;
}

static const char *scan_digits(scanner *s, const char *at) {
  size_t count = strspn(at, "0123456789");
  return count ? at + count : fail(s, at);
}

static const char *scan_number(scanner *s, const char *at) {
  at += *at == '-';
  at = *at == '0' ? at + 1 : scan_digits(s, at);
  if (at && *at == '.')
    at = scan_digits(s, at + 1);
  if (at && (*at == 'e' || *at == 'E')) {
    at += at[1] == '+' || at[1] == '-' ? 2 : 1;
    at = scan_digits(s, at);
  }
  return at;
}

static const char *scan_word(scanner *s, const char *at) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strncmp(at, words[i], strlen(words[i])) == 0)
      return at + strlen(words[i]);
  return fail(s, at);
}

static const char *scan_member(scanner *s, const char *at) {
  const char *key = at, *key_end = scan_string(s, at);
  if (!key_end)
    return NULL;
  at = skip_blanks(key_end);
  if (*at != ':')
    return fail(s, at);
  const char *value = skip_blanks(at + 1), *end = scan_value(s, value);
  if (end && s->depth == 1)
    s->member(s->context, key, (size_t)(key_end - key), value, (size_t)(end - value));
  return end;
}

static const char *scan_list(scanner *s, const char *at, char close) {
  at = skip_blanks(at + 1);
  if (*at == close)
    return at + 1;
  for (;;) {
    at = close == '}' ? scan_member(s, at) : scan_value(s, at);
    if (!at)
      return NULL;
    at = skip_blanks(at);
    if (*at == close)
      return at + 1;
    if (*at != ',')
      return fail(s, at);
    at = skip_blanks(at + 1);
  }
}

static const char *scan_nested(scanner *s, const char *at) {
  if (s->depth == MOST_NESTING)
    return fail(s, at);
  s->depth++;
  const char *end = scan_list(s, at, *at == '{' ? '}' : ']');
  s->depth--;
  return end;
}

static const char *scan_value(scanner *s, const char *at) {
  if (*at == '{' || *at == '[')
    return scan_nested(s, at);
  if (*at == '"')
    return scan_string(s, at);
  return *at == '-' || (*at >= '0' && *at <= '9') ? scan_number(s, at) : scan_word(s, at);
}

const char *hearth_json_scan_object(const char *text, hearth_json_member *member, void *context) {
  scanner s = {.member = member, .context = context};
  const char *at = skip_blanks(text);
  if (*at != '{')
    return at;
  at = scan_nested(&s, at);
  if (!at)
    return s.wrong;
  at = skip_blanks(at);
  return *at ? at : NULL;
}
