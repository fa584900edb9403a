/* Writing the profile. */
#ifndef HEARTH_RUNTIME_DUMP_H
#define HEARTH_RUNTIME_DUMP_H

#include "depot.h"
#include "mappings.h"
#include "output.h"

#include "hearth/mib.h"

/* The profile at one moment. */
typedef struct hearth_snapshot {
  hearth_mib *mibs; /* by context, live blocks included */
  uint32_t contexts;
  const hearth_depot *depot;
  bool accesses_counted;
  uint64_t duration_ns, start_unix_ns, pid;
  uint64_t dropped_blocks, dropped_stacks;
} hearth_snapshot;

/* Write a snapshot in one of the layouts; docs/formats/raw.md. Returns 0 or an error number (other than those of the
 * output, which the output keeps). */
int hearth_dump_hearth(hearth_output *output, const hearth_snapshot *snapshot, const hearth_mappings *mappings);
int hearth_dump_llvm(hearth_output *output, const hearth_snapshot *snapshot, const hearth_mappings *mappings);

/* Write the complete profile so far to its file; a message says what went wrong. Returns whether it was written. */
bool hearth_dump(void);

/* Forget what was recorded so far. */
void hearth_dump_reset(void);

/* Keep dumps out while the process forks. */
void hearth_dump_lock(void);
void hearth_dump_unlock(void);

#endif
