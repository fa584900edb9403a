/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocation sites of LLVM's records into a builder, each context once.
 *
 * LLVM attaches a context to a record for every function of its leaf's inline chain, so the same numbers stand in
 * several records (and twice in one whose function is inlined into itself). A context counts where it is in the record
 * of its leaf's own function; only where that record does not have it, as hand-written profiles may, in the first
 * record that does. Which one that is shows when all records were seen: so every site is given twice, in two passes. */
#ifndef HEARTH_LLVM_IMPORT_H
#define HEARTH_LLVM_IMPORT_H

#include "hearth/llvm_profile.h"
#include "id_table.h"

typedef enum hearth_llvm_pass { HEARTH_LLVM_PASS_LEAF, HEARTH_LLVM_PASS_REST, HEARTH_LLVM_PASSES } hearth_llvm_pass;

typedef struct hearth_llvm_import {
  hearth_builder *builder; /* of HEARTH_IDS_LLVM; borrowed */
  hearth_error *err;
  hearth_llvm_pass pass;
  struct hearth_llvm_known_stack *known;
  size_t known_count, known_room;
  id_table known_by_id;
  uint32_t *key; /* of the stack at hand */
  size_t key_room;
  uint64_t longest_ns; /* that the program is known to have run */
  bool any_access_count, any_density;
  uint64_t contexts, with_column;
} hearth_llvm_import;

/* Line 0 means unknown, and so does the column then: LLVM keeps 0 less the function's first line, which differs from build
 * to build, as the offset. */
static inline uint32_t hearth_llvm_line(uint32_t line_offset, uint32_t column) {
  return column == 0 && line_offset > INT32_MAX ? HEARTH_LINE_UNKNOWN : line_offset;
}

/* One allocation site of the record of `function` (a builder's number). Frames leaf first, n >= 1. */
hearth_status hearth_llvm_import_site(hearth_llvm_import *import, uint32_t function, const hearth_builder_frame *frames,
                                      size_t n, const hearth_mib *mib);
/* After both passes: account for the run, and report missing data. */
hearth_status hearth_llvm_import_finish(hearth_llvm_import *import, hearth_llvm_skipped *ret);
void hearth_llvm_import_free(hearth_llvm_import *import); /* frees its contents; not itself */

#endif
