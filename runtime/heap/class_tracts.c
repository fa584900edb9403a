/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tract is in one list while it has free chunks. One that gets empty goes back, unless the class has few empty ones: a program
 * that frees and allocates by turns must not have its pages taken away each time. Each new tract of a class that has given one back
 * lets one more stay. */
#include "class_tracts.h"

#define EMPTY_PART      32u /* of a class's tracts that may stay empty, and one more */
#define SECTORS_OF(mib) ((uint32_t)(((size_t)(mib) << 20) / HEARTH_SECTOR))
/* That may stay because the class takes tracts again: */
#define EMPTY_OF_CLASS SECTORS_OF(1)
#define EMPTY_OF_ALL   SECTORS_OF(4)

static uint32_t empty_sectors; /* of all classes */

void hearth_class_tracts_note_new(hearth_class_tracts *tracts, const hearth_sector *tract) {
  ++tracts->count;
  if (tracts->left == 0)
    return;
  --tracts->left;
  tracts->staying += (tracts->staying + 1) * tract->length <= EMPTY_OF_CLASS;
}

void hearth_class_tracts_note_taken(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
  hearth_expect(tract->free_count > 0 && tract->free_count <= chunks);
  if (tract->free_count == chunks) {
    hearth_expect(tracts->empty_count > 0);
    hearth_sector_unlink(&tracts->empty, tract);
    hearth_sector_link(&tracts->partial, tract);
    --tracts->empty_count;
    __atomic_fetch_sub(&empty_sectors, tract->length, __ATOMIC_RELAXED);
  }
  if (--tract->free_count == 0)
    hearth_sector_unlink(&tracts->partial, tract);
}

static bool may_stay(const hearth_class_tracts *tracts, const hearth_sector *tract) {
  return tracts->empty_count <= tracts->count / EMPTY_PART ||
         (tracts->empty_count < tracts->staying &&
          __atomic_load_n(&empty_sectors, __ATOMIC_RELAXED) + tract->length <= EMPTY_OF_ALL);
}

static void put_empty(hearth_class_tracts *tracts, hearth_sector *tract) {
  hearth_sector_unlink(&tracts->partial, tract);
  if (may_stay(tracts, tract)) {
    hearth_sector_link(&tracts->empty, tract);
    ++tracts->empty_count;
    __atomic_fetch_add(&empty_sectors, tract->length, __ATOMIC_RELAXED);
  } else {
    tract->next = tracts->leaving;
    tracts->leaving = tract;
    --tracts->count;
    ++tracts->left;
  }
}

void hearth_class_tracts_note_given(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
  hearth_expect(tract->free_count < chunks && tracts->count > 0);
  if (tract->free_count++ == 0)
    hearth_sector_link(&tracts->partial, tract);
  if (tract->free_count == chunks)
    put_empty(tracts, tract);
}

void hearth_class_tracts_unlock(hearth_class_tracts *tracts, hearth_lock *lock) {
  hearth_sector *leaving = tracts->leaving;

  tracts->leaving = NULL;
  hearth_lock_give(lock);
  while (leaving) {
    hearth_sector *next = leaving->next;
    hearth_tract_give(hearth_tract_start(leaving));
    leaving = next;
  }
}
