/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A list of library calls, as `hearth plan --library-calls` writes it (docs/formats/library-calls.md). */
#ifndef HEARTH_CALL_LIST_H
#define HEARTH_CALL_LIST_H

#include "hearth/library_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hint of a function's blocks while `bits` are set among the bits that it heeds. */
struct hearth_call_hint {
  uint64_t bits;
  uint8_t hint;
};

struct hearth_call_function {
  const char *name; /* in the text, not terminated */
  uint32_t name_bytes;
  uint32_t name_hash; /* hearth_code_name_hash() */
  uint64_t mask;
  const struct hearth_call_hint *hints; /* by ascending bits */
  uint32_t hint_count;
};

/* A return address in the file of a module. */
struct hearth_call_site {
  uint64_t offset;
  bool has_hint; /* for heights that are not listed */
  uint8_t hint;
  const struct hearth_call_hint *heights; /* ascending; in `bits` of each a height of the stack */
  uint32_t height_count;
};

struct hearth_call_module {
  uint8_t build_id[HEARTH_LIBRARY_CALLS_BUILD_ID_MAX];
  uint32_t build_id_size;
  const struct hearth_call_site *sites; /* by ascending offset */
  uint32_t site_count;
};

struct hearth_call_list {
  uint64_t plan;
  struct hearth_call_function *functions;
  struct hearth_call_hint *hints;
  struct hearth_call_module *modules;
  struct hearth_call_site *sites;
  uint32_t function_count, hint_count, module_count, site_count;
};

/* `line` is 0 where the trouble is of the whole file. */
struct hearth_call_list_error {
  unsigned line;
  const char *what;
};

/* Room that parsing a text needs, at most: so many functions, modules and sites in all, and hints. */
void hearth_call_list_measure(const char *text, size_t bytes, uint32_t *ret_lines, uint32_t *ret_hints);

/* Parse a text, at most HEARTH_LIBRARY_CALLS_BYTES_MAX bytes, which has to stay. The four arrays of the list point to
 * the room that was measured. False, and the list is of no use, if something is wrong with it. Does not allocate. */
bool hearth_call_list_parse(const char *text, size_t bytes, struct hearth_call_list *list,
                            struct hearth_call_list_error *ret_error);

/* The hint of a function while these bits are set; false if the list has none. */
bool hearth_call_function_hint(const struct hearth_call_function *function, uint64_t bits, uint8_t *ret_hint);

/* The site of a return address in the file of a module; NULL if the list has none. */
const struct hearth_call_site *hearth_call_site_find(const struct hearth_call_list *list, const uint8_t *build_id,
                                                     uint32_t build_id_size, uint64_t offset);

/* The hint of a site at a height of the stack, 0 if that is not known; false if there is none. */
bool hearth_call_site_hint(const struct hearth_call_site *site, uint32_t height, uint8_t *ret_hint);

#endif
