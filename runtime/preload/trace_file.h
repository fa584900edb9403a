/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace's file, to which blocks are added. Callers have its lock. */
#ifndef HEARTH_RUNTIME_TRACE_FILE_H
#define HEARTH_RUNTIME_TRACE_FILE_H

#include "lock.h"

#include "hearth/trace_blocks.h"

#include <stdbool.h>
#include <stddef.h>

extern hearth_lock hearth_trace_file_lock __attribute__((visibility("hidden")));

/* Create the file, with its header. Returns 0 or an error number. */
int hearth_trace_file_begin(void);

/* Add a block; sizes and checksum of `block` are filled in here. False: this or an earlier one could not be written, which
 * a message told; the file ends with the last whole one. */
bool hearth_trace_file_add(hearth_trace_block *block, const void *payload, size_t size);

const char *hearth_trace_file_name(void);

/* Say where the file is, if that is wanted. */
void hearth_trace_file_tell(void);

#endif
