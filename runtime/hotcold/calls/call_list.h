/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A list of library calls, as `hearth plan --library-calls` writes it (docs/formats/library-calls.md). */
#ifndef HEARTH_CALL_LIST_H
#define HEARTH_CALL_LIST_H

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

struct hearth_call_list {
  uint64_t plan;
  struct hearth_call_function *functions;
  struct hearth_call_hint *hints;
  uint32_t function_count, hint_count;
};

/* `line` is 0 where the trouble is of the whole file. */
struct hearth_call_list_error {
  unsigned line;
  const char *what;
};

/* Room that parsing a text needs, at most: how many functions and hints. */
void hearth_call_list_measure(const char *text, size_t bytes, uint32_t *ret_functions, uint32_t *ret_hints);

/* Parse a text, at most HEARTH_LIBRARY_CALLS_BYTES_MAX bytes, which has to stay. `functions` and `hints` of the list point to
 * the room that was measured. False, and the list is of no use, if something is wrong with it. Does not allocate. */
bool hearth_call_list_parse(const char *text, size_t bytes, struct hearth_call_list *list,
                            struct hearth_call_list_error *ret_error);

/* The hint of a function while these bits are set; false if the list has none. */
bool hearth_call_function_hint(const struct hearth_call_function *function, uint64_t bits, uint8_t *ret_hint);

#endif
