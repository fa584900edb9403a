/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth trace replay`. */
#ifndef HEARTH_TRACE_REPLAY_H
#define HEARTH_TRACE_REPLAY_H

#include "hearth/trace.h"
#include "known_stacks.h"

enum { HEARTH_REPLAYS_MOST = 1000 };

typedef struct hearth_replay_options {
  bool touch;                      /* write to all bytes that are allocated */
  uint32_t repeats;                /* at least 1: all operations are performed so often */
  const hearth_trace_hints *hints; /* with which the allocator's functions are called; NULL: none */
} hearth_replay_options;

typedef struct hearth_replay_result {
  uint64_t operations;
  uint64_t peak_live_bytes; /* that were asked for */
  struct hearth_replay_round {
    uint64_t time_ns;
    uint64_t peak_resident_bytes; /* of the process, beyond its memory before the first one */
  } rounds[HEARTH_REPLAYS_MOST];
} hearth_replay_result;

/* Perform the operations of a trace, in the order of their times and on one thread, with malloc, calloc, realloc,
 * aligned_alloc and free, or with the first four's hinted forms. Blocks that are live at the end are freed behind it.
 * Errors: E_USAGE (hints, and no allocator of this process takes them), E_CORRUPT, E_NOMEM. */
hearth_status hearth_trace_replay(hearth_trace *trace, const hearth_replay_options *options, hearth_replay_result *ret,
                                  hearth_error *err);

#endif
