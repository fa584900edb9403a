/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records that one thread keeps for itself until they are added to the table: so that threads which allocate in the
 * same context do not wait for each other. The user of the thread's cache (thread_cache.h) calls these. */
#ifndef HEARTH_RUNTIME_MIB_CACHE_H
#define HEARTH_RUNTIME_MIB_CACHE_H

#include "mib_table.h"

#define HEARTH_MIB_CACHE_SLOTS 256

typedef struct hearth_mib_slot {
  uint32_t context; /* of a series that is not empty */
  hearth_mib_series series;
} hearth_mib_slot;

typedef struct hearth_mib_cache {
  hearth_mib_slot slots[HEARTH_MIB_CACHE_SLOTS]; /* of context modulo their number */
} hearth_mib_cache;

/* End `block`, as hearth_mib_table_record does with its record, which is weighed by `mean_bytes` (hearth_mib_weight). */
bool hearth_mib_cache_record(hearth_mib_cache *cache, hearth_mib_table *table, const hearth_block *block,
                             hearth_access_sum accesses, hearth_moment end, uint64_t mean_bytes);

/* Add all to the table. Records that a signal handler cannot add, because it must not wait, stay. */
void hearth_mib_cache_flush(hearth_mib_cache *cache, hearth_mib_table *table);

/* Add all to a view of the table; nothing changes here. */
void hearth_mib_cache_show(const hearth_mib_cache *cache, hearth_mib_view *view);

void hearth_mib_cache_forget(hearth_mib_cache *cache);

#endif
