/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tract is in one list while it has free chunks. One that gets empty goes back, unless the class has few empty ones: a program
 * that frees and allocates by turns must not have its pages taken away each time. */
#include "class_tracts.h"

#define EMPTY_PART 32u /* of a class's tracts that may stay empty, and one more */

void hearth_class_tracts_note_taken(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
  if (tract->free_count == chunks) {
    hearth_sector_unlink(&tracts->empty, tract);
    hearth_sector_link(&tracts->partial, tract);
    --tracts->empty_count;
  }
  if (--tract->free_count == 0)
    hearth_sector_unlink(&tracts->partial, tract);
}

static void put_empty(hearth_class_tracts *tracts, hearth_sector *tract) {
  hearth_sector_unlink(&tracts->partial, tract);
  if (tracts->empty_count <= tracts->count / EMPTY_PART) {
    hearth_sector_link(&tracts->empty, tract);
    ++tracts->empty_count;
  } else {
    tract->next = tracts->leaving;
    tracts->leaving = tract;
    --tracts->count;
  }
}

void hearth_class_tracts_note_given(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks) {
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
