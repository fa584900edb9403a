/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's data access profile, at the end of a MemProf section of version 4: which global variables are hot, and which are known
 * and were not seen. */
#ifndef HEARTH_LLVM_DATA_ACCESSES_H
#define HEARTH_LLVM_DATA_ACCESSES_H

#include "file_buffer.h"
#include "input.h"

/* Add the variables of the part that begins at `offset`. *ret_skipped: it has some without name or, without `inflate`, names
 * that are compressed. */
hearth_status hearth_llvm_take_data_accesses(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_inflate *inflate,
                                             hearth_builder *into, bool *ret_skipped);

/* Write those of a profile; nothing if it has none but literals. */
hearth_status hearth_llvm_put_data_accesses(hearth_llvm_buffer *out, hearth_profile *profile, hearth_error *err);

#endif
