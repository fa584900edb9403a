/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each function is looked at once. Most are told by the first letters of their linkage names; members of the library's
 * classes are demangled. Of "void std::vector<int, A>::emplace_back<int>(int&&)" the class is what stands between the
 * return type and the last "::" before the parameters. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "index.h"

enum { NOT_SEEN_YET = 0, IS_OUTSIDE = 1, PASSES_ON = 2 }; /* else the id of a type */

/* Itanium C++ ABI, section 3.4 "Demangler API". */
char *__cxa_demangle(const char *mangled_name, char *buffer, size_t *length, int *status);

static bool container_starts(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The allocation functions, and the library: std:: of the Itanium C++ ABI, 5.1.5. */
static bool is_of_library(const char *linkage_name) {
  static const char *const beginnings[] = {"_Zn",    "_ZNSt",  "_ZNKSt", "_ZSt",          "_ZNSs",
                                           "_ZNKSs", "_ZNSb",  "_ZNKSb", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx",
                                           "malloc", "calloc", "realloc"};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
    if (container_starts(linkage_name, beginnings[i]))
      return true;
  return false;
}

/* In place; NULL: it is no member. */
static char *container_class_of(char *name) {
  char *begin = name, *end = NULL;
  size_t depth = 0;
  for (char *at = name; *at && (depth > 0 || *at != '('); at++) {
    if (strchr("<([{", *at))
      depth++;
    else if (strchr(">)]}", *at))
      depth -= depth > 0;
    else if (depth == 0 && *at == ' ')
      begin = at + 1;
    else if (depth == 0 && container_starts(at, "::"))
      end = at;
  }
  if (!end || end <= begin)
    return NULL;
  *end = '\0';
  return begin;
}

/* Behind the bracket that closes the next one. */
static const char *behind_arguments(const char *at) {
  size_t depth = 0;
  for (at += strcspn(at, "<"); *at; at++) {
    depth += *at == '<';
    if (*at == '>' && --depth == 0)
      return at + 1;
  }
  return at;
}

/* The size of what people leave out: inline namespaces, arguments that nearly all programs leave to their defaults,
 * and the blanks of "> >". */
static size_t unsaid_size(const char *at) {
  static const char *const names[] = {", std::allocator<", ", std::less<",           ", std::hash<",
                                      ", std::equal_to<",  ", std::default_delete<", ", std::char_traits<"};
  static const char *const spaces[] = {"std::__cxx11::", "std::__1::", "std::__debug::"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (container_starts(at, names[i]))
      return (size_t)(behind_arguments(at) - at);
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (container_starts(at, spaces[i]))
      return strlen(spaces[i]);
  return container_starts(at, " >");
}

/* "std::map<std::string, int>", in place. */
static void shorten_type(char *type) {
  static const char string[] = "std::basic_string<", library[] = "std::";
  char *to = type;
  for (const char *at = type; *at;) {
    size_t unsaid = unsaid_size(at);
    bool inlined = container_starts(at, library) && unsaid > 0;
    if (unsaid > 0)
      at += unsaid;
    const char *name = inlined ? at + strlen("basic_string<") : at + strlen(string);
    if (container_starts(at, inlined ? string + strlen(library) : string) &&
        (container_starts(name, "char,") || container_starts(name, "wchar_t,"))) {
      at = behind_arguments(at);
      to = stpcpy(to, *name == 'w' ? "std::wstring" : "std::string");
    } else if (inlined)
      to = stpcpy(to, library);
    else if (unsaid == 0)
      *to++ = *at++;
  }
  *to = '\0';
}

static bool is_container(const char *type) {
  static const char *const names[] = {"string",
                                      "wstring",
                                      "basic_string",
                                      "vector",
                                      "deque",
                                      "list",
                                      "forward_list",
                                      "map",
                                      "multimap",
                                      "set",
                                      "multiset",
                                      "unordered_map",
                                      "unordered_set",
                                      "unordered_multimap",
                                      "unordered_multiset",
                                      "function"};
  if (!container_starts(type, "std::"))
    return false;
  const char *name = type + strlen("std::");
  size_t size = strcspn(name, "<");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
      return true;
  return false;
}

static hearth_status look_at(hearth_builder *builder, uint32_t function, uint64_t *ret, hearth_error *err) {
  const char *linkage_name = builder->pool + builder->functions[function].name;
  int status;
  *ret = is_of_library(linkage_name) ? PASSES_ON : IS_OUTSIDE;
  if (*ret == IS_OUTSIDE)
    return HEARTH_OK;
  char *name = __cxa_demangle(linkage_name, NULL, NULL, &status);
  char *type = name ? container_class_of(name) : NULL;
  hearth_status result = HEARTH_OK;
  if (type)
    shorten_type(type);
  if (type && is_container(type))
    result = hearth_builder_type(builder, type, strlen(type), ret, err);
  free(name);
  return result;
}

static hearth_status container_of_function(hearth_container_types *types, hearth_builder *builder, uint32_t function,
                                           uint64_t *ret, hearth_error *err) {
  if (function >= types->count) {
    size_t more = builder->function_count - types->count;
    HEARTH_TRY(hearth_rows_reserve(&types->of_function, &types->room, types->count, more, sizeof *ret, err));
    memset(types->of_function + types->count, 0, more * sizeof *ret);
    types->count += more;
  }
  if (types->of_function[function] == NOT_SEEN_YET)
    HEARTH_TRY(look_at(builder, function, &types->of_function[function], err));
  *ret = types->of_function[function];
  return HEARTH_OK;
}

hearth_status hearth_container_type_find(hearth_container_types *types, hearth_builder *builder, uint32_t node,
                                         uint64_t *ret_id, hearth_error *err) {
  uint64_t type = PASSES_ON;
  for (; node != HEARTH_NONE && type == PASSES_ON; node = builder->nodes[node].parent) {
    uint32_t function = builder->frames[builder->nodes[node].frame].function;
    HEARTH_TRY(container_of_function(types, builder, function, &type, err));
  }
  *ret_id = type == PASSES_ON || type == IS_OUTSIDE ? 0 : type;
  return HEARTH_OK;
}
