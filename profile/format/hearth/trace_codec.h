/* Events of a trace, packed in columns (docs/formats/trace.md, "Events"): writer and reader share what each number is
 * predicted from. Freestanding; all arithmetic is modulo 2^64, so that any number can follow any other. */
#ifndef HEARTH_TRACE_CODEC_H
#define HEARTH_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/raw_codec.h"
#include "hearth/trace_blocks.h"

/* Each is compressed for itself, since what is alike compresses best together. */
typedef enum hearth_trace_column {
  HEARTH_TRACE_COL_KIND,
  HEARTH_TRACE_COL_GAP,     /* from the end of the event before to the begin */
  HEARTH_TRACE_COL_CAPTURE, /* from the begin to the time of the stack */
  HEARTH_TRACE_COL_REST,    /* from there to the end */
  HEARTH_TRACE_COL_STACK,   /* rank of the stack's first appearance in the block */
  HEARTH_TRACE_COL_NODE,    /* of each stack that appears first, the node */
  HEARTH_TRACE_COL_SIZE,
  HEARTH_TRACE_COL_PLACE,    /* how the address is found */
  HEARTH_TRACE_COL_DISTANCE, /* where that is not enough */
  HEARTH_TRACE_COLUMNS
} hearth_trace_column;

/* Room for each column. */
#define HEARTH_TRACE_COLUMN_BYTES (HEARTH_TRACE_EVENTS_MOST * HEARTH_RAW_VARINT_MOST)

#define HEARTH_TRACE_SLOTS   (2 * HEARTH_TRACE_EVENTS_MOST) /* of hash tables */
#define HEARTH_TRACE_CLASSES 64u
#define HEARTH_TRACE_NOBODY  UINT16_MAX
#define HEARTH_TRACE_NEAR    8u /* places next to an expected one that have numbers of their own */

/* Numbers of the column PLACE. Of an allocation: */
enum {
  HEARTH_TRACE_REUSED = 0, /* the place of its class that was freed last */
  HEARTH_TRACE_NEXT = 1,   /* as far from the last address of its class as that was from the one before */
  HEARTH_TRACE_AWAY = 2,   /* DISTANCE from the last address of its class */
  /* Of a deallocation: the place so many allocations before the one that was freed last, or */
  HEARTH_TRACE_NEWEST = HEARTH_TRACE_NEAR, /* before the newest one that is live, or */
  HEARTH_TRACE_FAR = 2 * HEARTH_TRACE_NEAR /* DISTANCE from the address freed last */
};

/* An address that appeared in the block. */
typedef struct hearth_trace_place {
  uint64_t address, size;
  uint16_t older, newer; /* live places by allocation; HEARTH_TRACE_NOBODY at the ends */
  uint16_t below;        /* of its class, freed before; may lead in a circle */
  bool live;
} hearth_trace_place;

/* What is known in the middle of a block: the same for who writes and who reads. */
typedef struct hearth_trace_model {
  uint64_t time_ns; /* end of the event before */
  uint64_t last_freed;
  uint32_t last_node;
  uint16_t stack_count, place_count;
  uint16_t newest; /* live place */
  uint16_t cursor; /* live place that was allocated before the one freed last */
  uint16_t free_top[HEARTH_TRACE_CLASSES];
  uint64_t last_address[HEARTH_TRACE_CLASSES], stride[HEARTH_TRACE_CLASSES];
  uint16_t place_slots[HEARTH_TRACE_SLOTS]; /* place + 1; 0: free */
  uint16_t stack_slots[HEARTH_TRACE_SLOTS]; /* rank + 1; only who writes looks stacks up */
  uint32_t nodes[HEARTH_TRACE_EVENTS_MOST]; /* by rank */
  uint64_t sizes[HEARTH_TRACE_EVENTS_MOST]; /* the last one, by rank */
  hearth_trace_place places[HEARTH_TRACE_EVENTS_MOST];
} hearth_trace_model;

static inline void hearth_trace_model_begin(hearth_trace_model *model) {
  model->time_ns = model->last_freed = 0;
  model->last_node = 0;
  model->stack_count = model->place_count = 0;
  model->newest = model->cursor = HEARTH_TRACE_NOBODY;
  for (unsigned i = 0; i < HEARTH_TRACE_CLASSES; ++i) {
    model->free_top[i] = HEARTH_TRACE_NOBODY;
    model->last_address[i] = model->stride[i] = 0;
  }
  for (unsigned i = 0; i < HEARTH_TRACE_SLOTS; ++i)
    model->place_slots[i] = model->stack_slots[i] = 0;
}

/* Blocks of one class are expected to replace each other: multiples of 64 bytes, then four classes for each doubling. */
static inline unsigned hearth_trace_class(uint64_t size) {
  uint64_t granules = size / 64 + (size % 64 > 32 ? 2 : 1);
  if (granules <= 16)
    return (unsigned)granules - 1;
  unsigned doubling = 59u - (unsigned)__builtin_clzll(granules - 1);
  unsigned found = 16 + 4 * doubling + ((unsigned)((granules - 1) >> (doubling + 2)) & 3);
  return found < HEARTH_TRACE_CLASSES ? found : HEARTH_TRACE_CLASSES - 1;
}

static inline unsigned hearth_trace_slot(uint64_t key) {
  return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 51) % HEARTH_TRACE_SLOTS; /* 2^64 / golden ratio */
}

/* NOBODY: the address did not appear so far; *ret_slot is where it belongs. */
static inline uint16_t hearth_trace_find(const hearth_trace_model *model, uint64_t address, unsigned *ret_slot) {
  unsigned slot = hearth_trace_slot(address);
  for (; model->place_slots[slot]; slot = (slot + 1) % HEARTH_TRACE_SLOTS)
    if (model->places[model->place_slots[slot] - 1].address == address)
      break;
  *ret_slot = slot;
  return model->place_slots[slot] ? (uint16_t)(model->place_slots[slot] - 1) : HEARTH_TRACE_NOBODY;
}

/* The place of an address, made if need be: there is room for one of each event. */
static inline uint16_t hearth_trace_place_of(hearth_trace_model *model, uint64_t address) {
  unsigned slot;
  uint16_t place = hearth_trace_find(model, address, &slot);
  if (place != HEARTH_TRACE_NOBODY)
    return place;
  place = model->place_count++;
  model->place_slots[slot] = (uint16_t)(place + 1);
  model->places[place] = (hearth_trace_place){.address = address};
  return place;
}

/* The free place of a class that is expected to be taken next. */
static inline uint16_t hearth_trace_reusable(const hearth_trace_model *model, unsigned class_number) {
  uint16_t place = model->free_top[class_number];
  for (unsigned step = 0; place != HEARTH_TRACE_NOBODY && step < HEARTH_TRACE_NEAR; ++step) {
    if (!model->places[place].live)
      return place;
    place = model->places[place].below;
  }
  return HEARTH_TRACE_NOBODY;
}

/* The place `steps` before `place`. */
static inline uint16_t hearth_trace_older(const hearth_trace_model *model, uint16_t place, unsigned steps) {
  for (; place != HEARTH_TRACE_NOBODY && steps > 0; --steps)
    place = model->places[place].older;
  return place;
}

static inline void hearth_trace_unlink(hearth_trace_model *model, uint16_t number) {
  hearth_trace_place *place = &model->places[number];
  if (place->newer != HEARTH_TRACE_NOBODY)
    model->places[place->newer].older = place->older;
  else
    model->newest = place->older;
  if (place->older != HEARTH_TRACE_NOBODY)
    model->places[place->older].newer = place->newer;
  if (model->cursor == number)
    model->cursor = place->older;
}

static inline void hearth_trace_note_allocation(hearth_trace_model *model, uint64_t address, uint64_t size) {
  unsigned class_number = hearth_trace_class(size);
  uint16_t reusable = hearth_trace_reusable(model, class_number);
  uint16_t number = hearth_trace_place_of(model, address);
  hearth_trace_place *place = &model->places[number];
  if (number == reusable)
    model->free_top[class_number] = place->below;
  if (place->live)
    hearth_trace_unlink(model, number);
  place->size = size;
  place->live = true;
  place->older = model->newest;
  place->newer = HEARTH_TRACE_NOBODY;
  if (model->newest != HEARTH_TRACE_NOBODY)
    model->places[model->newest].newer = number;
  model->newest = number;
  model->stride[class_number] = address - model->last_address[class_number];
  model->last_address[class_number] = address;
}

static inline void hearth_trace_note_deallocation(hearth_trace_model *model, uint64_t address, uint64_t size) {
  unsigned class_number = hearth_trace_class(size);
  uint16_t number = hearth_trace_place_of(model, address);
  hearth_trace_place *place = &model->places[number];
  if (place->live) {
    hearth_trace_unlink(model, number);
    model->cursor = place->older;
  }
  place->live = false;
  place->size = size;
  place->below = model->free_top[class_number];
  model->free_top[class_number] = number;
  model->last_freed = address;
}

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
  hearth_trace_put(columns, HEARTH_TRACE_COL_DISTANCE, hearth_raw_zigzag(quotient) << 1 | (rest != 0));
  if (rest)
    hearth_trace_put(columns, HEARTH_TRACE_COL_DISTANCE, rest);
}

static inline bool hearth_trace_take_distance(hearth_trace_cursor *cursor, uint64_t *ret) {
  uint64_t number, rest = 0;
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_DISTANCE, &number) ||
      (number & 1 && !hearth_trace_take(cursor, HEARTH_TRACE_COL_DISTANCE, &rest)))
    return false;
  *ret = (hearth_raw_unzigzag(number >> 1) << 4) + rest;
  return rest < 16;
}

/* The rank of a stack in its block. */
static inline uint16_t hearth_trace_put_stack(hearth_trace_model *model, hearth_trace_columns *columns, uint32_t node) {
  unsigned slot = hearth_trace_slot(node);
  while (model->stack_slots[slot] && model->nodes[model->stack_slots[slot] - 1] != node)
    slot = (slot + 1) % HEARTH_TRACE_SLOTS;
  if (!model->stack_slots[slot]) {
    model->nodes[model->stack_count] = node;
    model->sizes[model->stack_count] = 0;
    model->stack_slots[slot] = ++model->stack_count;
    hearth_trace_put(columns, HEARTH_TRACE_COL_NODE, hearth_raw_zigzag((uint64_t)node - model->last_node));
    model->last_node = node;
  }
  uint16_t rank = (uint16_t)(model->stack_slots[slot] - 1);
  hearth_trace_put(columns, HEARTH_TRACE_COL_STACK, rank);
  return rank;
}

static inline bool hearth_trace_take_stack(hearth_trace_model *model, hearth_trace_cursor *cursor, uint16_t *ret) {
  uint64_t rank, number;
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_STACK, &rank) || rank > model->stack_count)
    return false;
  *ret = (uint16_t)rank;
  if (rank < model->stack_count)
    return true;
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_NODE, &number))
    return false;
  number = model->last_node + hearth_raw_unzigzag(number);
  if (number > UINT32_MAX)
    return false;
  model->last_node = (uint32_t)number;
  model->nodes[rank] = (uint32_t)number;
  model->sizes[rank] = 0;
  ++model->stack_count;
  return true;
}

/* 0: as expected; else the size plus 1. */
static inline void hearth_trace_put_size(hearth_trace_columns *columns, uint64_t size, uint64_t expected) {
  hearth_trace_put(columns, HEARTH_TRACE_COL_SIZE, size == expected ? 0 : size + 1);
}

static inline bool hearth_trace_take_size(hearth_trace_cursor *cursor, uint64_t expected, uint64_t *ret) {
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_SIZE, ret))
    return false;
  *ret = *ret == 0 ? expected : *ret - 1;
  return true;
}

static inline void hearth_trace_put_allocation(hearth_trace_model *model, hearth_trace_columns *columns,
                                               const hearth_trace_event *event) {
  unsigned class_number = hearth_trace_class(event->size);
  uint16_t reusable = hearth_trace_reusable(model, class_number);
  uint64_t last = model->last_address[class_number];
  if (reusable != HEARTH_TRACE_NOBODY && model->places[reusable].address == event->address) {
    hearth_trace_put(columns, HEARTH_TRACE_COL_PLACE, HEARTH_TRACE_REUSED);
  } else if (event->address == last + model->stride[class_number]) {
    hearth_trace_put(columns, HEARTH_TRACE_COL_PLACE, HEARTH_TRACE_NEXT);
  } else {
    hearth_trace_put(columns, HEARTH_TRACE_COL_PLACE, HEARTH_TRACE_AWAY);
    hearth_trace_put_distance(columns, event->address - last);
  }
  hearth_trace_note_allocation(model, event->address, event->size);
}

static inline bool hearth_trace_take_allocation(hearth_trace_model *model, hearth_trace_cursor *cursor,
                                                hearth_trace_event *event) {
  unsigned class_number = hearth_trace_class(event->size);
  uint16_t reusable = hearth_trace_reusable(model, class_number);
  uint64_t how, distance = model->stride[class_number];
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_PLACE, &how) || how > HEARTH_TRACE_AWAY ||
      (how == HEARTH_TRACE_REUSED && reusable == HEARTH_TRACE_NOBODY) ||
      (how == HEARTH_TRACE_AWAY && !hearth_trace_take_distance(cursor, &distance)))
    return false;
  event->address =
      how == HEARTH_TRACE_REUSED ? model->places[reusable].address : model->last_address[class_number] + distance;
  hearth_trace_note_allocation(model, event->address, event->size);
  return true;
}

/* How a live place is found; HEARTH_TRACE_FAR: by its distance. */
static inline unsigned hearth_trace_way_to(const hearth_trace_model *model, uint16_t place) {
  uint16_t from_cursor = model->cursor, from_newest = model->newest;
  for (unsigned steps = 0; steps < HEARTH_TRACE_NEAR; ++steps) {
    if (from_cursor == place)
      return steps;
    if (from_newest == place)
      return HEARTH_TRACE_NEWEST + steps;
    from_cursor = hearth_trace_older(model, from_cursor, 1);
    from_newest = hearth_trace_older(model, from_newest, 1);
  }
  return HEARTH_TRACE_FAR;
}

/* The size comes first, as it is expected where the place is known. */
static inline void hearth_trace_put_deallocation(hearth_trace_model *model, hearth_trace_columns *columns,
                                                 const hearth_trace_event *event, uint16_t rank) {
  unsigned slot;
  uint16_t place = hearth_trace_find(model, event->address, &slot);
  bool live = place != HEARTH_TRACE_NOBODY && model->places[place].live;
  unsigned way = live ? hearth_trace_way_to(model, place) : HEARTH_TRACE_FAR;
  hearth_trace_put(columns, HEARTH_TRACE_COL_PLACE, way);
  if (way == HEARTH_TRACE_FAR)
    hearth_trace_put_distance(columns, event->address - model->last_freed);
  hearth_trace_put_size(columns, event->size, live ? model->places[place].size : model->sizes[rank]);
  hearth_trace_note_deallocation(model, event->address, event->size);
}

static inline bool hearth_trace_take_deallocation(hearth_trace_model *model, hearth_trace_cursor *cursor,
                                                  hearth_trace_event *event, uint16_t rank) {
  unsigned slot;
  uint64_t way, distance;
  if (!hearth_trace_take(cursor, HEARTH_TRACE_COL_PLACE, &way) || way > HEARTH_TRACE_FAR)
    return false;
  if (way == HEARTH_TRACE_FAR) {
    if (!hearth_trace_take_distance(cursor, &distance))
      return false;
    event->address = model->last_freed + distance;
  } else {
    uint16_t from = way < HEARTH_TRACE_NEWEST ? model->cursor : model->newest;
    uint16_t place = hearth_trace_older(model, from, (unsigned)way % HEARTH_TRACE_NEAR);
    if (place == HEARTH_TRACE_NOBODY)
      return false;
    event->address = model->places[place].address;
  }
  uint16_t place = hearth_trace_find(model, event->address, &slot);
  bool live = place != HEARTH_TRACE_NOBODY && model->places[place].live;
  if (!hearth_trace_take_size(cursor, live ? model->places[place].size : model->sizes[rank], &event->size))
    return false;
  hearth_trace_note_deallocation(model, event->address, event->size);
  return true;
}

/* Add an event, at most HEARTH_TRACE_EVENTS_MOST to a model; each column has HEARTH_TRACE_COLUMN_BYTES. */
static inline void hearth_trace_put_event(hearth_trace_model *model, hearth_trace_columns *columns,
                                          const hearth_trace_event *event) {
  *columns->to[HEARTH_TRACE_COL_KIND]++ = event->kind;
  hearth_trace_put(columns, HEARTH_TRACE_COL_GAP, event->begin_ns - model->time_ns);
  hearth_trace_put(columns, HEARTH_TRACE_COL_CAPTURE, event->stack_ns - event->begin_ns);
  hearth_trace_put(columns, HEARTH_TRACE_COL_REST, event->end_ns - event->stack_ns);
  model->time_ns = event->end_ns;
  uint16_t rank = hearth_trace_put_stack(model, columns, event->stack);
  if (hearth_trace_frees(event->kind)) {
    hearth_trace_put_deallocation(model, columns, event, rank);
  } else {
    hearth_trace_put_size(columns, event->size, model->sizes[rank]);
    hearth_trace_put_allocation(model, columns, event);
  }
  model->sizes[rank] = event->size;
}

/* False: the columns end, or hold no such event. */
static inline bool hearth_trace_take_event(hearth_trace_model *model, hearth_trace_cursor *cursor,
                                           hearth_trace_event *ret) {
  uint16_t rank;
  uint64_t gap, capture, rest;
  if (cursor->from[HEARTH_TRACE_COL_KIND] == cursor->end[HEARTH_TRACE_COL_KIND] ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_GAP, &gap) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_CAPTURE, &capture) ||
      !hearth_trace_take(cursor, HEARTH_TRACE_COL_REST, &rest) || !hearth_trace_take_stack(model, cursor, &rank))
    return false;
  *ret = (hearth_trace_event){.stack = model->nodes[rank], .kind = *cursor->from[HEARTH_TRACE_COL_KIND]++};
  ret->begin_ns = model->time_ns + gap;
  ret->stack_ns = ret->begin_ns + capture;
  ret->end_ns = model->time_ns = ret->stack_ns + rest;
  bool taken = ret->kind < HEARTH_TRACE_KINDS;
  if (taken && hearth_trace_frees(ret->kind))
    taken = hearth_trace_take_deallocation(model, cursor, ret, rank);
  else if (taken)
    taken = hearth_trace_take_size(cursor, model->sizes[rank], &ret->size) &&
            hearth_trace_take_allocation(model, cursor, ret);
  model->sizes[rank] = ret->size;
  return taken;
}

#endif
