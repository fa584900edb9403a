/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile at one moment. All threads that allocate or free wait for its end: then it can be written from where the
 * records are, without memory of its own for more than those that differ. */
#ifndef HEARTH_RUNTIME_SNAPSHOT_H
#define HEARTH_RUNTIME_SNAPSHOT_H

#include "depot.h"
#include "file_output.h"
#include "history.h"
#include "mib_table.h"

typedef struct hearth_snapshot {
  hearth_mib_view mibs;
  hearth_history_view history; /* without entries: there is none, or this is not the whole run */
  hearth_depot *depot;         /* lists the contexts with blocks: ascending, until a writer sorts them in another way */
  uint32_t count;              /* of them */
  bool accesses_counted;
  bool accesses_estimated; /* and not counted, though the flag above is set */
  bool continues;          /* records of the same run are in other files, its parts */
  bool has_globals;        /* it is of the whole run, and there are some */
  uint64_t duration_ns, start_unix_ns, pid;
  uint64_t dropped_blocks, dropped_stacks;
  uint64_t sample_bytes; /* 0: all blocks are recorded */
  /* For a heap dump, whose records take the place of `mibs`: */
  const struct hearth_live_census *live; /* NULL: it is none */
  uint32_t occasion;                     /* enum hearth_raw_occasion */
  bool has_residency;
} hearth_snapshot;

/* Stop all threads, and take the profile since the start of the run. With signals blocked.
 *   live   live blocks are included; else the records are to be forgotten, and nothing counts as dropped
 * Returns 0, or with the threads going on ENOMEM, or EDEADLK if a thread is making a record that would be forgotten. */
int hearth_snapshot_begin(hearth_snapshot *snapshot, bool live);

/* Let the threads go on. */
void hearth_snapshot_end(hearth_snapshot *snapshot);

static inline uint32_t hearth_snapshot_context(const hearth_snapshot *snapshot, uint32_t i) {
  return *hearth_depot_list(snapshot->depot, i);
}

static inline hearth_mib hearth_snapshot_mib(const hearth_snapshot *snapshot, uint32_t context) {
  return hearth_mib_view_read(&snapshot->mibs, context);
}

static inline bool hearth_snapshot_has_histograms(const hearth_snapshot *snapshot) {
  return snapshot->mibs.histograms.by_context != NULL;
}

/* As hearth_histograms_get, in histogram mode. */
static inline const uint64_t *hearth_snapshot_histogram(const hearth_snapshot *snapshot, uint32_t context,
                                                        uint32_t *ret_size) {
  return hearth_mib_view_histogram(&snapshot->mibs, context, ret_size);
}

/* Leave out all but the `keep` contexts of most bytes. Returns how many blocks the others have. */
uint64_t hearth_snapshot_leave_out(hearth_snapshot *snapshot, uint32_t keep);

#endif
