/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap's address range, handed out in spans of slices. Words:
 *
 *   range   one reservation of address space; every block of ours lies in it, so that "is it ours?" is one comparison
 *   slice    64 KiB of the range; a table tells what each slice is used for
 *   span     neighbouring slices with one use
 *
 *   | small span | large span ........ | free span .... | small span | never used ...                                  |
 *   ^ range                                                      ^ frontier                                       ^ end
 */
#ifndef HEARTH_RUNTIME_SPANS_H
#define HEARTH_RUNTIME_SPANS_H

#include "thread_state.h"

#include "hearth/expect.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_SLICE ((size_t)65536)

typedef enum hearth_span_kind {
  HEARTH_SPAN_UNUSED, /* behind the frontier */
  HEARTH_SPAN_FREE,
  HEARTH_SPAN_SMALL, /* chunks of one size class */
  HEARTH_SPAN_LARGE, /* one block */
  HEARTH_SPAN_INNER  /* not the first slice of a used span */
} hearth_span_kind;

#define HEARTH_SPAN_NO_CLASS UINT8_MAX

/* The state of a slice. In the first slice of a used span, `length` is the number of the span's slices; in the
 * others, it is the distance to the first. The first and last slice of a free span hold kind and length, the first
 * also the links. */
typedef struct hearth_slice {
  uint8_t kind;        /* hearth_span_kind */
  uint8_t size_class;  /* of a small span, in all its slices; of a large one HEARTH_SPAN_NO_CLASS */
  uint16_t free_count; /* chunks in `free_chunks` */
  uint32_t length;
  struct hearth_slice *previous; /* in a list: of free spans of similar length, or of its class */
  struct hearth_slice *next;
  void *free_chunks; /* of a span of chunks, those that no thread has: a list of the heap's */
} hearth_slice;

/* Lists of spans, by their first slices. */
static inline void hearth_slice_link(hearth_slice **list, hearth_slice *slice) {
  slice->previous = NULL;
  slice->next = *list;
  if (*list)
    (*list)->previous = slice;
  *list = slice;
}

static inline void hearth_slice_unlink(hearth_slice **list, hearth_slice *slice) {
  hearth_expect(slice->previous ? slice->previous->next == slice : *list == slice);
  hearth_expect(!slice->next || slice->next->previous == slice);
  *(slice->previous ? &slice->previous->next : list) = slice->next;
  if (slice->next)
    slice->next->previous = slice->previous;
}

/* A used span, seen from outside. */
typedef struct hearth_span {
  hearth_span_kind kind;
  uint8_t size_class;
  char *start;
  size_t size; /* bytes */
} hearth_span;

/* Reserve the range; once, before all other calls. False: there is no address space. */
bool hearth_spans_create(void);

/* A span of at least `size` bytes, usable and zero. NULL: the range is full, or there is no memory. */
char *hearth_span_take(hearth_span_kind kind, uint8_t size_class, size_t size);

/* Give a span back that has no block, its pages and those of its counters to the system. `start` as from hearth_span_take. */
void hearth_span_give(char *start);

bool hearth_spans_contain(const void *address);

/* The slice of an address; NULL if it is not in our range. */
hearth_slice *hearth_slice_of(const void *address);

/* The first slice of the used span that an address lies in; and where such a span starts. */
hearth_slice *hearth_span_first_slice(const void *address);
char *hearth_span_start(const hearth_slice *first);

/* The used span that `address` lies in; false if it lies in none. */
bool hearth_span_find(const void *address, hearth_span *ret_span);

/* Does `address` lie in a small span? Then its class, and the distance from the span's start. */
bool hearth_span_find_small(const void *address, unsigned *ret_class, uint32_t *ret_offset);

/* The span of an address in our range. */
hearth_span hearth_span_of(const void *address);

/* Without a lock, for a thread that only looks: the addresses of spans that were ever used; and the span
 * that `address` lies in, or lay in a moment ago. What it holds may change at any time. */
size_t hearth_spans_extent(char **ret_start);
bool hearth_span_peek(const void *address, hearth_span *ret_span);

/* Used spans in ascending order: begin with *slice = 0; false at the end. The caller holds hearth_spans_lock. */
bool hearth_span_next(uint32_t *slice, hearth_span *ret_span);

/* With signals blocked. */
void hearth_spans_lock(void);
void hearth_spans_unlock(void);

/* The spans of one size class: which have free chunks that any thread may take, and which may go back to the system. All calls
 * are made while the class is locked. */

/* Zero at first. */
typedef struct hearth_class_spans {
  hearth_slice *partial;       /* some chunks are free: the list of their first slices */
  hearth_slice *empty;         /* all are free */
  hearth_slice *leaving;       /* the same, out of use: linked by `next` alone */
  uint32_t count, empty_count; /* of spans in use; of those in `empty` */
  uint32_t left, staying;      /* spans that went back, less those taken since; empty ones that may stay */
} hearth_class_spans;

/* A span to take a chunk from; NULL: no chunk is free. Those that are fullest come first, so that others get empty. */
static inline hearth_slice *hearth_class_spans_first(const hearth_class_spans *spans) {
  return spans->partial ? spans->partial : spans->empty;
}

/* The class got one more. */
void hearth_class_spans_note_new(hearth_class_spans *spans, const hearth_slice *span);

/* A chunk of the span was taken from those that are free, or added to them. The span has `chunks` in all; 2 at least. */
void hearth_class_spans_note_taken(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks);
void hearth_class_spans_note_given(hearth_class_spans *spans, hearth_slice *span, uint32_t chunks);

/* Unlock the class, and then give those of its spans back that have left it. */
void hearth_class_spans_unlock(hearth_class_spans *spans, hearth_lock *lock);

#endif
