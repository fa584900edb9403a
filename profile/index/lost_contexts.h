/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts of a raw profile that have no frame at all, by the file that their innermost address lies in: notes for the
 * user, with the remedy. */
#ifndef HEARTH_LOST_CONTEXTS_H
#define HEARTH_LOST_CONTEXTS_H

#include "hearth/indexer.h"
#include "raw_dump.h"

typedef struct hearth_lost_file {
  const char *path; /* of the mapping or of the binary; NULL: no file is known */
  bool given;       /* a binary that was symbolised: the code lacks debug information */
  const hearth_error
      *reason; /* there is no binary, and why (hearth_modules_lose); NULL: for want of debug information */
  uint64_t contexts, bytes;
} hearth_lost_file;

/* Allocations that found no room for their call stack. */
typedef struct hearth_lost_stacks {
  uint64_t blocks, bytes;
} hearth_lost_stacks;

/* Lost contexts of one dump. All zero at first. */
typedef struct hearth_lost_contexts {
  hearth_lost_file files[64]; /* files that do not fit are counted with the last one */
  size_t count;
  bool uninstrumented; /* the program was recorded unchanged: none of its code was compiled for profiling */
  hearth_lost_stacks no_room;
} hearth_lost_contexts;

void hearth_lost_stacks_add(hearth_lost_stacks *to, const hearth_lost_stacks *more);
/* The notes on them, with the remedy. */
void hearth_lost_stacks_print(const hearth_lost_stacks *lost, char *to, size_t size);

/* Count a context of `file`; the memory that it points to is borrowed until the report. */
void hearth_lost_add(hearth_lost_contexts *lost, hearth_lost_file file, uint64_t bytes);
/* One note a file: a warning where the code could have been compiled for profiling,
 * or where a twentieth of all bytes is concerned; else a detail, as every program has blocks of its C library. Contexts
 * with a reason are reported once for all dumps, by hearth_modules_report. An unchanged program gets one warning for
 * all files of the second kind, unless symbols have named all that they could. */
void hearth_lost_report(const hearth_lost_contexts *lost, const char *name, uint64_t total_bytes,
                        const hearth_indexer_options *options);
/* Why nothing is left, as an error. */
hearth_status hearth_lost_everything(const hearth_lost_contexts *lost, hearth_error *err);

#endif
