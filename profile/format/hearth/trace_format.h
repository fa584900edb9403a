/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: a record of every operation on the heap. Change docs/formats/trace.md in the same commit.
 *
 *   | header, command line | block header, payload | block header, payload | ...
 *
 * Little-endian; blocks are independent of each other but for stack nodes, which later blocks refer to. A file may end
 * anywhere: all data before the end is valid. Freestanding: the runtime includes it. */
#ifndef HEARTH_TRACE_FORMAT_H
#define HEARTH_TRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/raw.h"

#define HEARTH_TRACE_MAGIC       UINT64_C(0x8157415452544881) /* bytes 81 48 54 52 54 41 57 81 */
#define HEARTH_TRACE_VERSION     2u
#define HEARTH_TRACE_BLOCK_MAGIC UINT32_C(0x4b4c4281) /* bytes 81 42 4c 4b */
#define HEARTH_TRACE_NO_STACK    HEARTH_RAW_NO_PARENT
#define HEARTH_TRACE_EVENTS_MOST 4096u /* in a block */
#define HEARTH_TRACE_NODES_MOST  65536u
#define HEARTH_TRACE_NODES_TOTAL ((uint32_t)1 << 24) /* in a file */
#define HEARTH_TRACE_BYTES_MOST  ((uint32_t)1 << 24) /* of a payload, packed or not */

/* The function that was called. The first eight numbers are those of CERN openlab's MemProf. */
typedef enum hearth_trace_kind {
  HEARTH_TRACE_MALLOC = 0, /* strdup and the like, too */
  HEARTH_TRACE_CALLOC = 1,
  HEARTH_TRACE_REALLOC = 2, /* its new block */
  HEARTH_TRACE_NEW = 3,
  HEARTH_TRACE_NEW_ARRAY = 4,
  HEARTH_TRACE_FREE = 5,
  HEARTH_TRACE_DELETE = 6,
  HEARTH_TRACE_DELETE_ARRAY = 7,
  HEARTH_TRACE_REALLOC_FREE = 8, /* its old block; the half that follows in the same thread is its new one */
  HEARTH_TRACE_ALIGNED = 9,      /* memalign, aligned_alloc, posix_memalign, valloc, pvalloc */
  HEARTH_TRACE_KINDS
} hearth_trace_kind;

static inline bool hearth_trace_frees(uint8_t kind) {
  return (kind >= HEARTH_TRACE_FREE && kind <= HEARTH_TRACE_REALLOC_FREE);
}

typedef struct hearth_trace_header {
  uint64_t magic;
  uint32_t version;
  uint32_t header_size; /* command line and padding included: the first block's offset */
  uint64_t pid;
  uint64_t start_ns;      /* of the run, monotonic clock; all other times count from here */
  uint64_t start_unix_ns; /* the same moment, UTC */
  uint32_t stack_depth;   /* most addresses of a stack */
  uint32_t command_size;  /* bytes of command line that follow: arguments, each with a NUL; then zeros up to 8 */
} hearth_trace_header;

typedef enum hearth_trace_block_kind {
  HEARTH_TRACE_BLOCK_STACKS = 1,   /* nodes, numbered on from those before */
  HEARTH_TRACE_BLOCK_EVENTS = 2,   /* of one thread, in the order of their ends */
  HEARTH_TRACE_BLOCK_MAPPINGS = 3, /* all so far: the last such block counts */
  HEARTH_TRACE_BLOCK_END = 4       /* a process ends, or is replaced by exec; may be followed by more */
} hearth_trace_block_kind;

typedef struct hearth_trace_block {
  uint32_t magic;
  uint32_t kind;        /* hearth_trace_block_kind; others are passed over */
  uint32_t stored_size; /* bytes of payload that follow */
  uint32_t count;       /* nodes, events or mappings */
  uint64_t first;       /* STACKS: number of the first node. EVENTS: thread, from 1 */
  uint64_t checksum;    /* XXH64, seed 0: the payload, then this header with checksum 0 */
} hearth_trace_block;

/* Before each column of a payload: bytes, and bytes as stored. If these are fewer, they are a frame of zstd. */
typedef struct hearth_trace_column_size {
  uint32_t size, packed;
} hearth_trace_column_size;

#define HEARTH_TRACE_COLUMNS_MOST 16u

/* Payload of HEARTH_TRACE_BLOCK_END. */
typedef struct hearth_trace_end {
  uint64_t duration_ns;
  uint64_t dropped_events; /* not recorded, so far */
  uint64_t dropped_stacks; /* events that have no stack because there was no room for more of them */
} hearth_trace_end;

/* An operation on the heap. Times count from the start of the run. */
typedef struct hearth_trace_event {
  uint64_t address;                    /* of the block */
  uint64_t size;                       /* that was asked for; of a block that is freed, too, or 0 if it is not known */
  uint64_t begin_ns, stack_ns, end_ns; /* stack_ns: when its stack was taken */
  uint32_t stack;                      /* node of its innermost frame, or HEARTH_TRACE_NO_STACK */
  uint8_t kind;                        /* hearth_trace_kind */
} hearth_trace_event;

HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_header) == 48);
HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_block) == 32);
HEARTH_CHECK_LAYOUT(sizeof(hearth_trace_end) == 24);

/* ------------------------------------------------ events ------------------------------------------------ */

/* Events of a trace, packed in columns (docs/formats/trace.md, "Events"): each number, or its difference to that of the
 * event before. Freestanding; all arithmetic is modulo 2^64, so that any number can follow any other. */

/* Each is compressed for itself, since similar numbers compress best together. */
typedef enum hearth_trace_column {
  HEARTH_TRACE_COL_KIND,
  HEARTH_TRACE_COL_GAP,     /* from the end of the event before to the begin */
  HEARTH_TRACE_COL_CAPTURE, /* from the begin to the time of the stack */
  HEARTH_TRACE_COL_REST,    /* from there to the end */
  HEARTH_TRACE_COL_STACK,   /* from the stack of the event before */
  HEARTH_TRACE_COL_SIZE,
  HEARTH_TRACE_COL_ADDRESS, /* from the address of the event before */
  HEARTH_TRACE_COLUMNS
} hearth_trace_column;

/* Room for each column; an address takes 9 bytes at most, and one for the rest. */
#define HEARTH_TRACE_COLUMN_BYTES (HEARTH_TRACE_EVENTS_MOST * HEARTH_RAW_VARINT_MOST)

/* The base of the differences: the event before, in the same block. All zero before the first. */
typedef struct hearth_trace_last {
  uint64_t end_ns, address;
  uint32_t stack;
} hearth_trace_last;

/* The columns that are being written, or read. */
typedef struct hearth_trace_columns {
  uint8_t *to[HEARTH_TRACE_COLUMNS];
} hearth_trace_columns;

typedef struct hearth_trace_cursor {
  const uint8_t *from[HEARTH_TRACE_COLUMNS], *end[HEARTH_TRACE_COLUMNS];
} hearth_trace_cursor;

static inline void hearth_trace_put(hearth_trace_columns *columns, hearth_trace_column column, uint64_t number) {
  columns->to[column] = hearth_raw_put_varint(columns->to[column], number);
}

static inline bool hearth_trace_take(hearth_trace_cursor *cursor, hearth_trace_column column, uint64_t *ret) {
  return hearth_raw_take_varint(&cursor->from[column], cursor->end[column], ret);
}

/* Distances are of either sign, and mostly multiples of 16. */
static inline void hearth_trace_put_distance(hearth_trace_columns *columns, uint64_t distance) {
  uint64_t quotient = (uint64_t)((int64_t)distance >> 4), rest = distance % 16;
  hearth_trace_put(columns, HEARTH_TRACE_COL_ADDRESS, hearth_raw_zigzag(quotient) << 1 | (rest != 0));
  if (rest)
    hearth_trace_put(columns, HEARTH_TRACE_COL_ADDRESS, rest);
}

static inline bool hearth_trace_take_distance(hearth_trace_cursor *cursor, uint64_t *ret) {
  uint64_t number, rest = 0;
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_ADDRESS, &number) ||
      (number & 1 && !hearth_trace_take(cursor, HEARTH_TRACE_COL_ADDRESS, &rest)))
    return false;
  *ret = (hearth_raw_unzigzag(number >> 1) << 4) + rest;
  return rest < 16;
}

static inline void hearth_trace_note(hearth_trace_last *last, const hearth_trace_event *event) {
  *last = (hearth_trace_last){.end_ns = event->end_ns, .address = event->address, .stack = event->stack};
}

/* Add an event, at most HEARTH_TRACE_EVENTS_MOST to a block; each column has HEARTH_TRACE_COLUMN_BYTES. */
static inline void hearth_trace_put_event(hearth_trace_last *last, hearth_trace_columns *columns,
                                          const hearth_trace_event *event) {
  *columns->to[HEARTH_TRACE_COL_KIND]++ = event->kind;
  hearth_trace_put(columns, HEARTH_TRACE_COL_GAP, event->begin_ns - last->end_ns);
  hearth_trace_put(columns, HEARTH_TRACE_COL_CAPTURE, event->stack_ns - event->begin_ns);
  hearth_trace_put(columns, HEARTH_TRACE_COL_REST, event->end_ns - event->stack_ns);
  hearth_trace_put(columns, HEARTH_TRACE_COL_STACK, hearth_raw_zigzag((uint64_t)event->stack - last->stack));
  hearth_trace_put(columns, HEARTH_TRACE_COL_SIZE, event->size);
  hearth_trace_put_distance(columns, event->address - last->address);
  hearth_trace_note(last, event);
}

/* False: the columns end, or hold no such event. */
static inline bool hearth_trace_take_event(hearth_trace_last *last, hearth_trace_cursor *cursor,
                                           hearth_trace_event *ret) {
  uint64_t gap, capture, rest, stack, distance;
  if (cursor->from[HEARTH_TRACE_COL_KIND] == cursor->end[HEARTH_TRACE_COL_KIND] ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_GAP, &gap) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_CAPTURE, &capture) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_REST, &rest) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_STACK, &stack) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_SIZE, &ret->size) || !hearth_trace_take_distance(cursor, &distance))
    return false;
  stack = last->stack + hearth_raw_unzigzag(stack);
  ret->kind = *cursor->from[HEARTH_TRACE_COL_KIND]++;
  ret->begin_ns = last->end_ns + gap;
  ret->stack_ns = ret->begin_ns + capture;
  ret->end_ns = ret->stack_ns + rest;
  ret->stack = (uint32_t)stack;
  ret->address = last->address + distance;
  hearth_trace_note(last, ret);
  return ret->kind < HEARTH_TRACE_KINDS && stack <= UINT32_MAX;
}

#endif
