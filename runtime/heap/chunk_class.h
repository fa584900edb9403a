/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes of chunks, and where chunks of a small span lie: for the files of the heap. */
#ifndef HEARTH_RUNTIME_CHUNK_CLASS_H
#define HEARTH_RUNTIME_CHUNK_CLASS_H

#include "heap.h"
#include "size_classes.h"
#include "spans.h"

#define CHUNK_SMALL_MOST   ((size_t)32768) /* largest chunk of a size class; larger blocks have a span of their own */
#define CHUNK_FINE_CLASSES HEARTH_SMALL_CLASSES /* up to here one class for each multiple of 16 */
#define CHUNK_FIRST        ((size_t)8)          /* from the start of a span to its first header */
#define CHUNK_CLASSES      HEARTH_HEAP_CLASSES

/* One line of cache each: classes are locked independently. */
struct hearth_size_class {
  hearth_lock lock;
  hearth_class_spans spans;
  char *fresh, *fresh_end; /* of the class's newest span: chunks never handed out */
  char *ready;             /* pages of it before this are there, so far as this is above `fresh` */
  bool is_common;          /* it is not the class's first */
} __attribute__((aligned(64)));
extern struct hearth_size_class hearth_size_classes[CHUNK_CLASSES] __attribute__((visibility("hidden")));

/* Facts about a class that are known from the beginning. */
struct hearth_class_facts {
  uint32_t size;     /* of its chunks */
  uint32_t capacity; /* of these, for the user's bytes */
  uint32_t batch;    /* chunks that are moved at once; 0: threads keep none */
  uint32_t chunks;   /* of a span */
  uint64_t
      reciprocal; /* 2^32 / granules of a chunk, rounded up: multiplying by it divides offsets in small spans exactly */
};
extern struct hearth_class_facts hearth_class_facts[CHUNK_CLASSES] __attribute__((visibility("hidden")));

/* Do the chunks of a class have far headers? */
static inline bool chunk_is_far(unsigned class) { return class >= CHUNK_FINE_CLASSES; }

/* Small, so that they get empty; with room for some chunks. */
static inline size_t span_size(unsigned class) { return chunk_is_far(class) ? 4 * HEARTH_SLICE : HEARTH_SLICE; }

/* Bytes from a span's start that its chunks may take, the first CHUNK_FIRST bytes included. */
static inline size_t span_end(unsigned class) {
  return span_size(class) + (chunk_is_far(class) ? CHUNK_FIRST : 0); /* the last word is for no next one */
}

/* The least class whose chunks have `size` bytes; size in [1, CHUNK_SMALL_MOST]. Classes are those of size_classes.h, from 0. */
static inline unsigned chunk_class_of(size_t size) { return (unsigned)hearth_class_of(size) - 1; }

static inline hearth_header *chunk_follow(hearth_header *first) {
  uint64_t word = hearth_header_load(first);

  return (word & HEARTH_STATE_MASK) == HEARTH_BLOCK_REDIRECT
             ? (hearth_header *)((char *)first + (word >> HEARTH_STATE_BITS))
             : first;
}

/* Bytes from the first header of a chunk to its end, for the user of the chunk. */
static inline size_t chunk_room_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_LARGE ? span->size - CHUNK_FIRST
                                         : hearth_class_facts[span->size_class].capacity + sizeof(hearth_header);
}

/* The slack of a header that does not begin its chunk is always far. */
static inline size_t chunk_capacity_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_SMALL ? hearth_class_facts[span->size_class].capacity : 0;
}

#endif
