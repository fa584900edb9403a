/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The records and histograms at one moment, while all threads are stopped: the table's own records in their place, and
 * copies of the records that differ, because threads have more of them or blocks are live. So writing a profile takes
 * memory only for the copies. */
#ifndef HEARTH_RUNTIME_MIB_VIEW_H
#define HEARTH_RUNTIME_MIB_VIEW_H

#include "mib_table.h"

typedef struct hearth_mib_view {
  const hearth_mib_table *table;
  uint32_t count;               /* contexts below this */
  hearth_mib *copies;           /* by context */
  uint8_t *copied;              /* bits, by context */
  hearth_histograms histograms; /* copies; one without room is the table's */
} hearth_mib_view;

/* The records [0, count) of a table that is locked. False: no address space. */
bool hearth_mib_view_create(hearth_mib_view *view, const hearth_mib_table *table, uint32_t count);
void hearth_mib_view_destroy(hearth_mib_view *view);

static inline const hearth_mib *hearth_mib_view_read(const hearth_mib_view *view, uint32_t context) {
  bool copied = view->copied[context / 8] >> context % 8 & 1;

  return copied ? &view->copies[context] : &view->table->mibs[context];
}

/* The view's own record of a context; changes are not seen in the table. */
hearth_mib *hearth_mib_view_change(hearth_mib_view *view, uint32_t context);

/* In histogram mode: as hearth_histograms_get and hearth_histograms_add; additions are not seen in the table. */
const uint64_t *hearth_mib_view_histogram(const hearth_mib_view *view, uint32_t context, uint32_t *ret_size);
void hearth_mib_view_add_histogram(hearth_mib_view *view, const hearth_block *block, uint64_t weight);

#endif
