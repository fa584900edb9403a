/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names are made when they are asked for first, and kept. */
#include "names.h"

#include <demangle.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"

static const struct known_wrapper {
  const char *pattern;
  hearth_role role;
} known_wrappers[] = {
#define HEARTH_WRAPPER(pattern) {pattern, HEARTH_ROLE_WRAPPER},
#define HEARTH_STARTER(pattern) {pattern, HEARTH_ROLE_STARTER},
#include "wrappers.def"
};

/* Itanium C++ ABI, section 3.4 "Demangler API": a C function of every C++ run-time library, declared in a header that
 * only C++ can read. */
char *__cxa_demangle(const char *mangled_name, char *buffer, size_t *length, int *status);

/* A Rust name that is being made. Back references repeat parts of it, so that a short mangled name may stand for one
 * without an end. What does not fit is given up, at a sign, where libiberty holds no memory. */
typedef struct rust_name {
  jmp_buf give_up;
  bool is_rust, overflows;
  size_t size;
  char text[16384]; /* generic names are long */
} rust_name;

static void rust_name_put(const char *text, size_t size, void *closure) {
  rust_name *name = closure;
  if (size == 0) /* then `text` may be NULL */
    return;
  name->overflows |= size >= sizeof name->text - name->size;
  if (!name->overflows) {
    memcpy(name->text + name->size, text, size);
    name->size += size;
  } else if (strchr("<>(){}[], :", *text)) {
    longjmp(name->give_up, 1);
  }
}

/* Of both of Rust's schemes, "_R..." of RFC 2603 and "_ZN...17h...E"; without the crate's hash. */
static bool demangle_rust(const char *linkage_name, rust_name *name) {
  name->is_rust = name->overflows = false;
  name->size = 0;
  if (setjmp(name->give_up) == 0)
    name->is_rust = rust_demangle_callback(linkage_name, 0, rust_name_put, name);
  name->text[name->size] = '\0';
  return name->is_rust && !name->overflows;
}

static char *demangle(const char *linkage_name) {
  enum { DEMANGLE_NO_MEMORY = -1, DEMANGLE_OK = 0 };
  rust_name rust;
  if ((strncmp(linkage_name, "_R", 2) == 0 || strstr(linkage_name, "17h")) && demangle_rust(linkage_name, &rust))
    return strdup(rust.text);
  int status = 1;
  char *name = NULL;
  if (strncmp(linkage_name, "_Z", 2) == 0) /* "f" would be taken for the type float */
    name = __cxa_demangle(linkage_name, NULL, NULL, &status);
  if (status == DEMANGLE_OK || status == DEMANGLE_NO_MEMORY)
    return name;
  return strdup(linkage_name);
}

char *hearth_name_make(const char *linkage_name, hearth_name_style style) {
  if (style == HEARTH_NAMES_LINKED)
    return strdup(linkage_name);
  char *name = demangle(linkage_name);
  if (name && style == HEARTH_NAMES_SHORT)
    hearth_shorten_name(name);
  return name;
}

hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, const hearth_view_options *view,
                                hearth_error *err) {
  size_t rows = (size_t)hearth_profile_function_count(profile) + 1;
  *names = (hearth_names){.profile = profile};
  if (view) {
    names->style = view->full_names ? HEARTH_NAMES_FULL : names->style;
    names->wrappers = view->wrappers;
    names->wrapper_count = view->wrapper_count;
    names->depth = view->depth;
  }
  names->names = calloc(rows, sizeof *names->names);
  names->roles = calloc(rows, sizeof *names->roles);
  return names->names && names->roles ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_names_destroy(hearth_names *names) {
  for (uint32_t i = 0; names->names && i < hearth_profile_function_count(names->profile); i++)
    free(names->names[i]);
  free(names->names);
  free(names->roles);
  names->names = NULL;
  names->roles = NULL;
}

static char *make_name(const hearth_names *names, const hearth_function_info *function) {
  char id[24];
  if (*function->name)
    return hearth_name_make(function->name, names->style);
  snprintf(id, sizeof id, "0x%016llx", (unsigned long long)function->id);
  return strdup(id);
}

hearth_status hearth_names_get(hearth_names *names, uint32_t function, const char **ret, hearth_error *err) {
  if (!names->names[function]) {
    hearth_function_info info;
    HEARTH_TRY(hearth_profile_get_function(names->profile, function, &info, err));
    names->names[function] = make_name(names, &info);
    HEARTH_TRY(hearth_check_memory(names->names[function], err));
  }
  *ret = names->names[function];
  return HEARTH_OK;
}

hearth_status hearth_path_get(hearth_profile *profile, uint32_t path, char ret[HEARTH_PATH_LIMIT], hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_path(profile, path, ret, HEARTH_PATH_LIMIT, err));
  hearth_shorten_path(ret);
  return HEARTH_OK;
}

hearth_status hearth_function_text_get(hearth_names *names, uint32_t function, hearth_function_text *ret,
                                       hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_function(names->profile, function, &ret->info, err));
  HEARTH_TRY(hearth_path_get(names->profile, ret->info.path, ret->path, err));
  return hearth_names_get(names, function, &ret->name, err);
}

/* -------------------------------------------------- wrappers -------------------------------------------------- */

static bool name_matches(const char *pattern, const char *name, const char *path) {
  pattern += *pattern == '-';
  return fnmatch(pattern, strchr(pattern, '/') ? path : name, 0) == 0;
}

/* The last pattern that matches decides: the user's are behind the table's. */
static hearth_role role_of(const hearth_names *names, const char *name, const char *path) {
  for (size_t i = names->wrapper_count; i-- > 0;)
    if (name_matches(names->wrappers[i], name, path))
      return names->wrappers[i][0] == '-' ? HEARTH_ROLE_OWNER : HEARTH_ROLE_WRAPPER;
  for (size_t i = sizeof known_wrappers / sizeof *known_wrappers; i-- > 0;)
    if (name_matches(known_wrappers[i].pattern, name, path))
      return known_wrappers[i].role;
  return HEARTH_ROLE_OWNER;
}

static hearth_status name_judge(const hearth_names *names, uint32_t function, hearth_role *ret, hearth_error *err) {
  hearth_function_info info;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(hearth_profile_get_function(names->profile, function, &info, err));
  HEARTH_TRY(hearth_path_get(names->profile, info.path, path, err));
  char *name = hearth_name_make(info.name, HEARTH_NAMES_SHORT);
  HEARTH_TRY(hearth_check_memory(name, err));
  *ret = hearth_is_name_file(path) ? HEARTH_ROLE_OWNER : role_of(names, name, path);
  free(name);
  return HEARTH_OK;
}

hearth_status hearth_names_role(hearth_names *names, uint32_t function, hearth_role *ret, hearth_error *err) {
  unsigned char *role = &names->roles[function];
  if (!*role) {
    HEARTH_TRY(name_judge(names, function, ret, err));
    *role = (unsigned char)*ret;
  }
  *ret = (hearth_role)*role;
  return HEARTH_OK;
}

hearth_status hearth_names_owner(hearth_names *names, uint32_t node, uint32_t *ret, hearth_error *err) {
  hearth_role role = HEARTH_ROLE_WRAPPER;
  bool found = false;
  while (node != HEARTH_NONE && role != HEARTH_ROLE_OWNER) {
    uint32_t frame;
    hearth_frame_info info;
    HEARTH_TRY(hearth_profile_get_stack(names->profile, node, &frame, &node, err));
    HEARTH_TRY(hearth_profile_get_frame(names->profile, frame, &info, err));
    HEARTH_TRY(hearth_names_role(names, info.function, &role, err));
    if (role != HEARTH_ROLE_STARTER || !found)
      *ret = frame;
    found |= role != HEARTH_ROLE_STARTER;
  }
  return HEARTH_OK;
}

bool hearth_is_address_name(const char *name) {
  const char *at = strstr(name, "+0x");
  return at && at > name && at[3] != '\0' && at[3 + strspn(at + 3, "0123456789abcdef")] == '\0';
}

/* -------------------------------------------------- binaries -------------------------------------------------- */

static bool is_library_name(const char *name) {
  const char *at = name;
  while ((at = strstr(at, ".so")) && at[3] != '\0' && at[3] != '.')
    at++;
  return at != NULL;
}

hearth_status hearth_binary_text_get(hearth_profile *profile, uint32_t row, hearth_binary_text *ret,
                                     hearth_error *err) {
  const uint8_t *build_id;
  uint32_t size;
  HEARTH_TRY(hearth_profile_get_binary(profile, row, &ret->name, &build_id, &size, err));
  ret->is_library = is_library_name(ret->name);
  ret->build_id[0] = '\0';
  for (uint32_t i = 0; i < size; i++)
    snprintf(ret->build_id + 2 * i, 3, "%02x", build_id[i]);
  return HEARTH_OK;
}

/* ------------------------------------------------ short name ------------------------------------------------ */

/* One pass over the name, which is never longer afterwards, so that it is written over itself. A blank outside of all
 * brackets ends a return type: what was written before it goes. */

typedef struct shortener {
  const char *at;    /* reading */
  char *begin, *end; /* written */
  bool converts;     /* to a type, whose blanks belong to the name; so do those of "operator new" */
  bool called; /* the parameters are behind us: what follows qualifies the function, unless it names a part of it */
} shortener;

static bool name_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool name_starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static void name_put(shortener *s, const char *text, size_t size) {
  memmove(s->end, text, size);
  s->end += size;
}

static bool ends(const shortener *s, const char *with) {
  size_t size = strlen(with);
  return (size_t)(s->end - s->begin) >= size && memcmp(s->end - size, with, size) == 0;
}

/* Behind the bracket that closes the one at `at`; the end of the text where none does. Inside of others than angles,
 * '<' and '>' are signs. */
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

/* "std::basic_string" and the arguments "<char, ...>" make "std::string": the standard library has a typedef for
 * each of its templates of characters. */
static bool name_characters(shortener *s, const char *arguments) {
  static const char stem[] = "std::basic_";
  char *at = s->end;
  while (at > s->begin && name_is_word(at[-1]))
    at--;
  size_t head = sizeof "std::" - 1, rest = strlen("basic_");
  bool is_stem = at >= s->begin + head && memcmp(at - head, stem, head) == 0 && (size_t)(s->end - at) > rest &&
                 memcmp(at, stem + head, rest) == 0;
  bool wide = name_starts(arguments, "<wchar_t");
  const char *behind_type = arguments + strlen(wide ? "<wchar_t" : "<char");
  if (!is_stem || !(wide || name_starts(arguments, "<char")) || (*behind_type != ',' && *behind_type != '>'))
    return false;
  size_t size = (size_t)(s->end - at) - rest;
  if (wide)
    *at++ = 'w';
  memmove(at, s->end - size, size);
  s->end = at + size;
  return true;
}

/* Rust's: arguments go, as C++'s do; an implementation, as in "alloc::slice::<impl [T]>::to_vec", is a part of the
 * path. */
static void take_turbofish(shortener *s) {
  const char *end = behind(s->at);
  if (name_starts(s->at, "<impl "))
    name_put(s, s->at, (size_t)(end - s->at));
  else
    s->end -= strlen("::");
  s->at = end;
}

static void take_template(shortener *s) {
  const char *arguments = s->at;
  s->at = behind(arguments);
  if (!name_characters(s, arguments))
    name_put(s, "<>", s->at - arguments > 1 ? 2 : 1); /* one bracket at the end of a damaged name has room for one */
}

/* "{lambda(int)#1}" without the parameters. */
static void take_braces(shortener *s) {
  for (const char *end = behind(s->at); s->at < end;) {
    if (*s->at == '(')
      s->at = behind(s->at);
    else
      name_put(s, s->at++, 1);
  }
}

/* The parameters of a function, which end the name unless a part of the function is named. */
static void take_parameters(shortener *s) {
  static const char *const qualifiers[] = {" const", " volatile", " &&", " &", " noexcept"};
  s->at = behind(s->at);
  for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
    if (name_starts(s->at, qualifiers[i]))
      s->at += strlen(qualifiers[i]);
  s->called = !name_starts(s->at, "::");
}

/* '<' may begin the arguments: only of these it is a sign. */
static size_t sign_size(const char *at) {
  static const char *const signs[] = {"()", "[]", "<=>", "<<=", "<<", "<=", "<"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (name_starts(at, signs[i]))
      return strlen(signs[i]);
  return strspn(at, ">=!+-*/%^&|~,\"");
}

/* "operator" and its signs, or the type that it converts to. */
static void take_operator(shortener *s) {
  size_t size = strlen("operator");
  size += sign_size(s->at + size);
  name_put(s, s->at, size);
  s->at += size;
  if (name_starts(s->at, " <")) /* arguments behind "operator<" */
    s->at++;
  s->converts = *s->at == ' ';
}

static bool at_operator(const shortener *s) {
  return name_starts(s->at, "operator") && !name_is_word(s->at[strlen("operator")]) &&
         (s->end == s->begin || !name_is_word(s->end[-1]));
}

static void take_separator(shortener *s) {
  static const char *const inline_namespaces[] = {"__cxx11::", "__1::", "_V2::", "__debug::"};
  name_put(s, s->at, 2);
  s->at += 2;
  for (size_t i = 0; i < sizeof inline_namespaces / sizeof *inline_namespaces; i++)
    if (ends(s, "std::") && name_starts(s->at, inline_namespaces[i]))
      s->at += strlen(inline_namespaces[i]);
}

static void take_round(shortener *s) {
  static const char anonymous[] = "(anonymous namespace)::";
  if (name_starts(s->at, anonymous))
    s->at += strlen(anonymous);
  else if (s->end == s->begin || (s->end - s->begin == 8 && ends(s, "decltype")))
    s->at = behind(s->at);
  else
    take_parameters(s);
}

static void take_blank(shortener *s) {
  if (s->converts)
    name_put(s, s->at, 1);
  else
    s->end = s->begin;
  s->at++;
}

static void name_take(shortener *s) {
  if (at_operator(s))
    take_operator(s);
  else if (*s->at == '<' && ends(s, "::"))
    take_turbofish(s);
  else if (*s->at == '<' && s->end > s->begin)
    take_template(s);
  else if (*s->at == '{')
    take_braces(s);
  else if (name_starts(s->at, "(*") || name_starts(s->at, "(&")) /* a function that returns a function stands inside */
    s->at += 2;
  else if (*s->at == '(')
    take_round(s);
  else if (name_starts(s->at, "[abi:"))
    s->at = behind(s->at);
  else if (name_starts(s->at, "::"))
    take_separator(s);
  else if (*s->at == ' ')
    take_blank(s);
  else
    name_put(s, s->at++, 1);
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

static bool is_cxx(const char *name) { return strpbrk(name, "(<{") || strstr(name, "::"); }

void hearth_shorten_name(char *name) {
  shortener s = {.at = name, .begin = name, .end = name};
  if (!is_cxx(name)) {
    drop_copy_suffix(name);
    return;
  }
  if (name[0] == '<') /* a compiler's own name */
    return;
  while (*s.at && !s.called)
    name_take(&s);
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
