/* Contexts of a raw profile that have no frame at all, by the file that their innermost address lies in: what the user
 * must hear of, and what to do about it. */
#ifndef HEARTH_LOST_CONTEXTS_H
#define HEARTH_LOST_CONTEXTS_H

#include "hearth/indexer.h"
#include "raw_internal.h"

typedef struct hearth_lost_file {
  const char *path; /* of the mapping or of the binary; NULL: no file is known */
  bool given;       /* a binary that was symbolised: the code lacks debug information */
  uint64_t contexts, bytes;
} hearth_lost_file;

/* Of one dump. All zero at first. */
typedef struct hearth_lost_contexts {
  hearth_lost_file files[64]; /* what does not fit is counted with the last one */
  size_t count;
  bool uninstrumented; /* the program was recorded as it is: no code of it was compiled for profiling */
  uint64_t dropped_stacks, dropped_bytes; /* allocations without room for their call stack */
} hearth_lost_contexts;

/* `path` is borrowed until the report. */
void hearth_lost_add(hearth_lost_contexts *lost, const char *path, bool given, uint64_t bytes);
/* A warning of dropped call stacks; and one note a file: a warning where the code could have been compiled for profiling,
 * or where a twentieth of all bytes is concerned; else a detail, as every program has blocks of its C library. Of a program
 * as it is, one warning for all files of the second kind, unless symbols have named what they could. */
void hearth_lost_report(const hearth_lost_contexts *lost, const char *name, uint64_t total_bytes,
                        const hearth_indexer_options *options);
/* Why nothing is left, as an error. */
hearth_status hearth_lost_everything(const hearth_lost_contexts *lost, hearth_error *err);

#endif
