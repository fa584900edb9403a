/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap's address range, handed out in tracts of sectors. Words:
 *
 *   range   one reservation of address space; every block of ours lies in it, so that "is it ours?" is one comparison
 *   sector    64 KiB of the range; a table tells what each sector is used for
 *   tract     neighbouring sectors with one use
 *
 *   | small tract | large tract ........ | free tract .... | small tract | never used ...                                  |
 *   ^ range                                                      ^ frontier                                       ^ end
 */
#ifndef HEARTH_RUNTIME_TRACTS_H
#define HEARTH_RUNTIME_TRACTS_H

#include "lock.h"

#include "hearth/expect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_SECTOR ((size_t)65536)

typedef enum hearth_tract_kind {
  HEARTH_TRACT_UNUSED, /* behind the frontier */
  HEARTH_TRACT_FREE,
  HEARTH_TRACT_SMALL, /* chunks of one size class */
  HEARTH_TRACT_LARGE, /* one block */
  HEARTH_TRACT_INNER  /* not the first sector of a used tract */
} hearth_tract_kind;

#define HEARTH_TRACT_NO_CLASS UINT8_MAX

/* The state of a sector. In the first sector of a used tract, `length` is the number of the tract's sectors; in the
 * others, it is the distance to the first. The first and last sector of a free tract hold kind and length, the first
 * also the links. */
typedef struct hearth_sector {
  uint8_t kind;        /* hearth_tract_kind */
  uint8_t size_class;  /* of a small tract, in all its sectors; of a large one HEARTH_TRACT_NO_CLASS */
  uint16_t free_count; /* chunks in `free_chunks` */
  uint32_t length;
  struct hearth_sector *previous; /* in a list: of free tracts of similar length, or of its class */
  struct hearth_sector *next;
  void *free_chunks; /* of a tract of chunks, those that no thread has: a list of the heap's */
} hearth_sector;

/* Lists of tracts, by their first sectors. */
static inline void hearth_sector_link(hearth_sector **list, hearth_sector *sector) {
  sector->previous = NULL;
  sector->next = *list;
  if (*list)
    (*list)->previous = sector;
  *list = sector;
}

static inline void hearth_sector_unlink(hearth_sector **list, hearth_sector *sector) {
  hearth_expect(sector->previous ? sector->previous->next == sector : *list == sector);
  hearth_expect(!sector->next || sector->next->previous == sector);
  *(sector->previous ? &sector->previous->next : list) = sector->next;
  if (sector->next)
    sector->next->previous = sector->previous;
}

/* A used tract, seen from outside. */
typedef struct hearth_tract {
  hearth_tract_kind kind;
  uint8_t size_class;
  char *start;
  size_t size; /* bytes */
} hearth_tract;

/* Reserve the range; once, before all other calls. False: there is no address space. */
bool hearth_tracts_create(void);

/* A tract of at least `size` bytes, usable and zero. NULL: the range is full, or there is no memory. */
char *hearth_tract_take(hearth_tract_kind kind, uint8_t size_class, size_t size);

/* Give a tract back that has no block, its pages and those of its counters to the system. `start` as from hearth_tract_take. */
void hearth_tract_give(char *start);

bool hearth_tracts_contain(const void *address);

/* The sector of an address; NULL if it is not in our range. */
hearth_sector *hearth_sector_of(const void *address);

/* The first sector of the used tract that an address lies in; and where such a tract starts. */
hearth_sector *hearth_tract_first_sector(const void *address);
char *hearth_tract_start(const hearth_sector *first);

/* The used tract that `address` lies in; false if it lies in none. */
bool hearth_tract_find(const void *address, hearth_tract *ret_tract);

/* Does `address` lie in a small tract? Then its class, and the distance from the tract's start. */
bool hearth_tract_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset);

/* The tract of an address in our range. */
hearth_tract hearth_tract_of(const void *address);

/* Without a lock, for a thread that only looks: the addresses of tracts that were ever used; and the tract
 * that `address` lies in, or lay in a moment ago. What it holds may change at any time. */
size_t hearth_tracts_extent(char **ret_start);
bool hearth_tract_peek(const void *address, hearth_tract *ret_tract);

/* Used tracts in ascending order: begin with *sector = 0; false at the end. The caller holds hearth_tracts_lock. */
bool hearth_tract_next(uint32_t *sector, hearth_tract *ret_tract);

/* With signals blocked. */
void hearth_tracts_lock(void);
void hearth_tracts_unlock(void);

/* The tracts of one size class: which have free chunks that any thread may take, and which may go back to the system. All calls
 * are made while the class is locked. */

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
