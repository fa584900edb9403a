/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tracts of one size class: which have free chunks that any thread may take, and which may go back to the system. All calls
 * are made while the class is locked. */
#ifndef HEARTH_RUNTIME_CLASS_TRACTS_H
#define HEARTH_RUNTIME_CLASS_TRACTS_H

#include "lock.h"
#include "tracts.h"

/* Zero at first. */
typedef struct hearth_class_tracts {
  hearth_sector *partial;      /* some chunks are free: the list of their first sectors */
  hearth_sector *empty;        /* all are free */
  hearth_sector *leaving;      /* the same, out of use: linked by `next` alone */
  uint32_t count, empty_count; /* of tracts in use; of those in `empty` */
  uint32_t left, staying;      /* tracts that went back, less those taken since; empty ones that may stay */
} hearth_class_tracts;

/* A tract to take a chunk from; NULL: no chunk is free. Those that are fullest come first, so that others get empty. */
static inline hearth_sector *hearth_class_tracts_first(const hearth_class_tracts *tracts) {
  return tracts->partial ? tracts->partial : tracts->empty;
}

/* The class got one more. */
void hearth_class_tracts_note_new(hearth_class_tracts *tracts, const hearth_sector *tract);

/* A chunk of the tract was taken from those that are free, or added to them. The tract has `chunks` in all; 2 at least. */
void hearth_class_tracts_note_taken(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks);
void hearth_class_tracts_note_given(hearth_class_tracts *tracts, hearth_sector *tract, uint32_t chunks);

/* Unlock the class, and then give those of its tracts back that have left it. */
void hearth_class_tracts_unlock(hearth_class_tracts *tracts, hearth_lock *lock);

#endif
