/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth trace replay`. */
#ifndef HEARTH_TRACE_REPLAY_H
#define HEARTH_TRACE_REPLAY_H

#include "hearth/trace.h"

enum { HEARTH_REPLAYS_MOST = 1000 };

typedef struct hearth_replay_result {
  uint64_t operations;
  uint64_t peak_live_bytes; /* that were asked for */
  struct hearth_replay_round {
    uint64_t time_ns;
    uint64_t peak_resident_bytes, mean_resident_bytes; /* of the process, beyond its memory before the first one */
  } rounds[HEARTH_REPLAYS_MOST];
} hearth_replay_result;

/* Write the operations of a trace to an empty file, in the order of their times. Another process than the one that
 * performs them has to: what reading leaves in its heap would serve the blocks of the trace. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_trace_replay_prepare(hearth_trace *trace, int file, hearth_error *err);

/* Perform them `repeats` times (at least 1) on one thread, with malloc, calloc, realloc, aligned_alloc and free. Blocks that
 * are live at the end are freed behind it. `touch`: write to all bytes that are allocated. Errors: E_NOMEM. */
hearth_status hearth_trace_replay_run(int file, bool touch, uint32_t repeats, hearth_replay_result *ret,
                                      hearth_error *err);

#endif
