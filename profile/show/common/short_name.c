/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One pass over the name, which is never longer afterwards, so that it is written over itself. A blank outside of all
 * brackets ends a return type: what was written before it goes. */
#include "names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct shortener {
  const char *at;    /* reading */
  char *begin, *end; /* written */
  bool converts;     /* to a type, whose blanks belong to the name; so do those of "operator new" */
  bool called; /* the parameters are behind us: what follows qualifies the function, unless it names a part of it */
} shortener;

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void put(shortener *s, const char *text, size_t size) {
  memmove(s->end, text, size);
  s->end += size;
}

static bool ends(const shortener *s, const char *with) {
  size_t size = strlen(with);
  return (size_t)(s->end - s->begin) >= size && memcmp(s->end - size, with, size) == 0;
}

/* Behind the bracket that closes the one at `at`; the end of the text where none does. Inside of others than angles, '<'
 * and '>' are signs. */
static const char *behind(const char *at) {
  size_t angles = 0, others = 0;
  do {
    if (strchr("([{", *at))
      others++;
    else if (strchr(")]}", *at))
      others -= others > 0;
    else if (others == 0 && *at == '<')
      angles++;
    else if (others == 0 && *at == '>' && at[-1] != '-')
      angles -= angles > 0;
    at++;
  } while (*at && angles + others > 0);
  return at;
}

/* "std::basic_string" and the arguments "<char, ...>" make "std::string": the standard library has a typedef for each of
 * its templates of characters. */
static bool name_characters(shortener *s, const char *arguments) {
  static const char stem[] = "std::basic_";
  char *at = s->end;
  while (at > s->begin && is_word(at[-1]))
    at--;
  size_t head = sizeof "std::" - 1, rest = strlen("basic_");
  bool is_stem = at >= s->begin + head && memcmp(at - head, stem, head) == 0 && (size_t)(s->end - at) > rest &&
                 memcmp(at, stem + head, rest) == 0;
  bool wide = starts(arguments, "<wchar_t");
  const char *behind_type = arguments + strlen(wide ? "<wchar_t" : "<char");
  if (!is_stem || !(wide || starts(arguments, "<char")) || (*behind_type != ',' && *behind_type != '>'))
    return false;
  size_t size = (size_t)(s->end - at) - rest;
  if (wide)
    *at++ = 'w';
  memmove(at, s->end - size, size);
  s->end = at + size;
  return true;
}

static void take_template(shortener *s) {
  const char *arguments = s->at;
  s->at = behind(arguments);
  if (!name_characters(s, arguments))
    put(s, "<>", s->at - arguments > 1 ? 2 : 1); /* one bracket at the end of a damaged name has room for one */
}

/* "{lambda(int)#1}" without the parameters. */
static void take_braces(shortener *s) {
  for (const char *end = behind(s->at); s->at < end;) {
    if (*s->at == '(')
      s->at = behind(s->at);
    else
      put(s, s->at++, 1);
  }
}

/* The parameters of a function, which end the name unless a part of the function is named. */
static void take_parameters(shortener *s) {
  static const char *const qualifiers[] = {" const", " volatile", " &&", " &", " noexcept"};
  s->at = behind(s->at);
  for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
    if (starts(s->at, qualifiers[i]))
      s->at += strlen(qualifiers[i]);
  s->called = !starts(s->at, "::");
}

/* '<' may begin the arguments: only of these it is a sign. */
static size_t sign_size(const char *at) {
  static const char *const signs[] = {"()", "[]", "<=>", "<<=", "<<", "<=", "<"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (starts(at, signs[i]))
      return strlen(signs[i]);
  return strspn(at, ">=!+-*/%^&|~,\"");
}

/* "operator" and its signs, or the type that it converts to. */
static void take_operator(shortener *s) {
  size_t size = strlen("operator");
  size += sign_size(s->at + size);
  put(s, s->at, size);
  s->at += size;
  if (starts(s->at, " <")) /* arguments behind "operator<" */
    s->at++;
  s->converts = *s->at == ' ';
}

static bool at_operator(const shortener *s) {
  return starts(s->at, "operator") && !is_word(s->at[strlen("operator")]) &&
         (s->end == s->begin || !is_word(s->end[-1]));
}

static void take_separator(shortener *s) {
  static const char *const inline_namespaces[] = {"__cxx11::", "__1::", "_V2::", "__debug::"};
  put(s, s->at, 2);
  s->at += 2;
  for (size_t i = 0; i < sizeof inline_namespaces / sizeof *inline_namespaces; i++)
    if (ends(s, "std::") && starts(s->at, inline_namespaces[i]))
      s->at += strlen(inline_namespaces[i]);
}

static void take_round(shortener *s) {
  static const char anonymous[] = "(anonymous namespace)::";
  if (starts(s->at, anonymous))
    s->at += strlen(anonymous);
  else if (s->end == s->begin || (s->end - s->begin == 8 && ends(s, "decltype")))
    s->at = behind(s->at);
  else
    take_parameters(s);
}

static void take_blank(shortener *s) {
  if (s->converts)
    put(s, s->at, 1);
  else
    s->end = s->begin;
  s->at++;
}

static void take(shortener *s) {
  if (at_operator(s))
    take_operator(s);
  else if (*s->at == '<' && s->end > s->begin && s->end[-1] != ':')
    take_template(s);
  else if (*s->at == '{')
    take_braces(s);
  else if (starts(s->at, "(*") || starts(s->at, "(&")) /* a function that returns a function stands inside */
    s->at += 2;
  else if (*s->at == '(')
    take_round(s);
  else if (starts(s->at, "[abi:"))
    s->at = behind(s->at);
  else if (starts(s->at, "::"))
    take_separator(s);
  else if (*s->at == ' ')
    take_blank(s);
  else
    put(s, s->at++, 1);
}

/* "f.part.0", but not "libc.so.6+0x1234". */
static void drop_copy_suffix(char *name) {
  static const char *const kinds[] = {".part.",     ".isra.", ".constprop.", ".cold",
                                      ".lto_priv.", ".llvm.", ".localalias"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char *suffix = strstr(name, kinds[i]);
    if (suffix && suffix > name)
      *suffix = '\0';
  }
}

/* "shop::load::h441a0ad6abc3cbd5", as Rust mangled names before its scheme v0. */
static void drop_rust_hash(char *name) {
  enum { HASH_DIGITS = 16 };
  size_t size = strlen(name);
  char *hash = name + size - HASH_DIGITS;
  if (size > HASH_DIGITS + 3 && memcmp(hash - 3, "::h", 3) == 0 && strspn(hash, "0123456789abcdef") == HASH_DIGITS)
    hash[-3] = '\0';
}

static bool is_cxx(const char *name) { return strpbrk(name, "(<{") || strstr(name, "::"); }

void hearth_shorten_name(char *name) {
  shortener s = {.at = name, .begin = name, .end = name};
  if (!is_cxx(name)) {
    drop_copy_suffix(name);
    return;
  }
  drop_rust_hash(name);
  if (name[0] == '<') /* a compiler's own name */
    return;
  while (*s.at && !s.called)
    take(&s);
  if (s.end > name)
    *s.end = '\0';
}

/* The last component that was written goes; false: there is none that can. */
static bool step_up(const char *path, char **end) {
  char *at = *end;
  if (at == path || (at == path + 1 && path[0] == '/'))
    return at != path; /* above the root is the root */
  while (at > path && at[-1] != '/')
    at--;
  if (strncmp(at, "..", 2) == 0 && *end - at == 2)
    return false;
  *end = at > path + 1 ? at - 1 : at;
  return true;
}

void hearth_shorten_path(char *path) {
  const char *at = path;
  char *end = path;
  if (!strstr(path, "./") && !strstr(path, "/.") && !strstr(path, "//"))
    return;
  if (*at == '/')
    *end++ = *at++;
  while (*at) {
    size_t size = strcspn(at, "/");
    const char *next = at + size + (at[size] == '/');
    bool same = size == 0 || (size == 1 && at[0] == '.');
    bool up = size == 2 && strncmp(at, "..", 2) == 0;
    if (!same && !(up && step_up(path, &end))) {
      if (end > path && end[-1] != '/')
        *end++ = '/';
      memmove(end, at, size);
      end += size;
    }
    at = next;
  }
  if (end == path)
    *end++ = '.';
  *end = '\0';
}
