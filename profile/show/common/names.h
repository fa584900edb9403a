/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How views print functions and binaries, and which functions they look through:
 *
 *   wrapper  a function that passes allocations on for its callers (wrappers.def)
 *   starter  a wrapper that starts a program, thread or library
 *   owner    of a context: the first function from the leaf that is no wrapper; else the outermost that is no starter;
 *            else its root */
#ifndef HEARTH_VIEW_NAMES_H
#define HEARTH_VIEW_NAMES_H

#include "hearth/view.h"

/* Short ones are those of hearth_shorten_name. */
typedef enum hearth_name_style { HEARTH_NAMES_SHORT, HEARTH_NAMES_FULL, HEARTH_NAMES_LINKED } hearth_name_style;

/* Of a function: may it be the owner? */
typedef enum hearth_role { HEARTH_ROLE_OWNER = 1, HEARTH_ROLE_WRAPPER, HEARTH_ROLE_STARTER } hearth_role;

typedef struct hearth_names {
  hearth_profile *profile;
  hearth_name_style style;
  const char *const *wrappers; /* the user's patterns */
  size_t wrapper_count, depth; /* depth: most lines of a printed stack; 0: all */
  char **names;                /* by function row; NULL: not asked for yet */
  unsigned char *roles;        /* by function row; 0: not asked for yet */
} hearth_names;

/* The profile and the options' strings are borrowed. `view` NULL: defaults. Destroy also after an error. */
hearth_status hearth_names_init(hearth_names *names, hearth_profile *profile, const hearth_view_options *view,
                                hearth_error *err);
void hearth_names_destroy(hearth_names *names);

/* Lives as long as `names`; made when first asked for. The id where the profile has no name. */
hearth_status hearth_names_get(hearth_names *names, uint32_t function, const char **ret, hearth_error *err);
hearth_status hearth_names_role(hearth_names *names, uint32_t function, hearth_role *ret, hearth_error *err);
/* The owner's frame in the stack of this node. */
hearth_status hearth_names_owner(hearth_names *names, uint32_t node, uint32_t *ret, hearth_error *err);

/* A function as views print it. */
typedef struct hearth_function_text {
  hearth_function_info info;
  const char *name; /* lives as long as the names */
  char path[HEARTH_PATH_LIMIT];
} hearth_function_text;

hearth_status hearth_function_text_get(hearth_names *names, uint32_t function, hearth_function_text *ret,
                                       hearth_error *err);
/* The path of a file, without "..". */
hearth_status hearth_path_get(hearth_profile *profile, uint32_t path, char ret[HEARTH_PATH_LIMIT], hearth_error *err);

/* FILE+0xBEGIN, for want of a symbol? */
bool hearth_is_address_name(const char *name);

typedef struct hearth_binary_text {
  const char *name;                                                      /* lives as long as the profile's handle */
  char build_id[2 * sizeof(((hearth_indexed_binary *)0)->build_id) + 1]; /* hexadecimal; "" if there is none */
  bool is_library;                                                       /* by its name: libfoo.so, libfoo.so.1 */
} hearth_binary_text;

hearth_status hearth_binary_text_get(hearth_profile *profile, uint32_t row, hearth_binary_text *ret, hearth_error *err);

/* A linkage name in this style; a name that is none stays. Free with free(); NULL: out of memory. */
char *hearth_name_make(const char *linkage_name, hearth_name_style style);

/* Names of functions and files as people say them. */

/* The short form of a demangled C++ name, in place: without return type, parameters and template arguments
 * ("std::map<>::operator[]"), inline namespaces of the standard library, and the anonymous namespace; strings have
 * the names of their typedefs ("std::string"). C names lose the suffixes of a compiler's copies (".part.0"). Names
 * that are neither stay. */
void hearth_shorten_name(char *name);

/* Take "." and ".." and repeated separators out of a path, in place, without a look at the file system. */
void hearth_shorten_path(char *path);

#endif
