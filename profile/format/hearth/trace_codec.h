/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events of a trace, packed in columns (docs/formats/trace.md, "Events"): each number, or its difference to that of the
 * event before. Freestanding; all arithmetic is modulo 2^64, so that any number can follow any other. */
#ifndef HEARTH_TRACE_CODEC_H
#define HEARTH_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/raw_codec.h"
#include "hearth/trace_blocks.h"

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
