/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file that holds the two most recent snapshots of the profile and is readable at any moment, whatever ends the
 * program: it is mapped into memory, each half holds a complete raw profile, and the older one is replaced while the
 * other stays. The kernel owns the bytes that were stored in the mapping: SIGKILL does not lose them. Layout:
 * docs/formats/raw.md, "Snapshot files". One thread at a time. */
#ifndef HEARTH_RUNTIME_SNAPSHOT_FILE_H
#define HEARTH_RUNTIME_SNAPSHOT_FILE_H

#include "dump.h"

/* Fill `output`, which was just begun, with an empty snapshot file of `size` bytes, and map it. The mapping stays when the
 * output is finished. All blocks of the file are taken, so that a full disk is an error here and not a SIGBUS later.
 * Returns 0 or an error number. */
int hearth_snapshot_file_begin(hearth_file_output *output, size_t size);

bool hearth_snapshot_file_is_open(void);

/* Replace the older snapshot of the open file. Returns 0 or an error number, EFBIG if a half has no room for it; the newer
 * one is then unchanged. EFAULT: somebody has cut the file. */
int hearth_snapshot_file_write(const hearth_snapshot *snapshot);

/* The file does not change. Does nothing if none is open. */
void hearth_snapshot_file_close(void);

/* A forked child does not have its parent's mapping. */
void hearth_snapshot_file_forget(void);

#endif
