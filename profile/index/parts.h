/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Parts: partial results of a merge, kept in a folder, each of a batch of inputs. A merge that was interrupted, or that gets
 * more inputs, takes the parts that are there. A part is an indexed profile named by a hash of all that it was made of. */
#ifndef HEARTH_PARTS_H
#define HEARTH_PARTS_H

#include "indexer_state.h"

enum { HEARTH_PART_INPUTS = 256 };

typedef struct hearth_batch {
  const hearth_input **inputs;
  size_t count;
} hearth_batch;

typedef struct hearth_part {
  uint64_t key; /* 0: it cannot be kept, as an input is no regular file */
} hearth_part;

void hearth_part_name(const hearth_indexer *ix, const hearth_batch *batch, hearth_part *ret);
/* Add a part that is there, and tell what was left out of it. False: it is not, or cannot be used; nothing was added. */
bool hearth_part_add(hearth_indexer *ix, const hearth_part *part, const hearth_batch *batch);
/* Keep all that an indexer holds, and was left out of it, as a part; nothing, if it cannot be one. Errors: E_IO, E_NOMEM,
 * E_FULL. */
hearth_status hearth_part_keep(hearth_indexer *ix, const hearth_part *part, hearth_error *err);

#endif
