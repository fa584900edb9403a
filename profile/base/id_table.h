/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Open-addressing hash table of item numbers: the items live in an array of the owner, the table finds equal ones. */
#ifndef HEARTH_ID_TABLE_H
#define HEARTH_ID_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"
#include "hearth/expect.h"
#include "hearth/indexed.h"

/* A slot keeps the item's hash: most slots of other items are passed without a look at the owner's array, which is out
 * of the cache, and growing needs no look at all. */
typedef struct id_table_slot {
  uint32_t item; /* HEARTH_NONE: free */
  uint32_t hash;
} id_table_slot;

typedef struct id_table {
  id_table_slot *slots;
  size_t size; /* of slots; 0 or a power of two, at most 2^32 */
  size_t count;
} id_table;

typedef bool id_table_equal(const void *owner, uint32_t item, const void *key);

/* Finalizer of MurmurHash3 (public domain): every bit of the key reaches the low bits, which choose the slot. */
static inline uint64_t id_table_mix(uint64_t x) {
  x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
  x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ (x >> 33);
}

/* The item equal to `key`, or HEARTH_NONE. Of a hash, the lower half is used. */
static inline uint32_t id_table_find(const id_table *table, uint64_t hash, id_table_equal *equal, const void *owner,
                                     const void *key) {
  if (table->size == 0)
    return HEARTH_NONE;
  for (size_t at = (uint32_t)hash & (table->size - 1);; at = (at + 1) & (table->size - 1)) {
    id_table_slot slot = table->slots[at];
    if (slot.item == HEARTH_NONE || (slot.hash == (uint32_t)hash && equal(owner, slot.item, key)))
      return slot.item;
  }
}

static inline void id_table_place(id_table *table, id_table_slot slot) {
  size_t at = slot.hash & (table->size - 1);
  while (table->slots[at].item != HEARTH_NONE)
    at = (at + 1) & (table->size - 1);
  table->slots[at] = slot;
}

/* Make room for `count` items in all; false when out of memory (the table is unchanged). */
static inline bool id_table_expect(id_table *table, size_t count) {
  if (count * 4 <= table->size * 3)
    return true;
  id_table bigger = {.size = table->size ? table->size * 2 : 64, .count = table->count};
  while (count * 4 > bigger.size * 3)
    bigger.size *= 2;
  bigger.slots = malloc(bigger.size * sizeof *bigger.slots);
  if (!bigger.slots)
    return false;
  for (size_t i = 0; i < bigger.size; i++)
    bigger.slots[i] = (id_table_slot){HEARTH_NONE, 0};
  for (size_t i = 0; i < table->size; i++)
    if (table->slots[i].item != HEARTH_NONE)
      id_table_place(&bigger, table->slots[i]);
  free(table->slots);
  *table = bigger;
  return true;
}

/* Make room for one more item; false as above. */
static inline bool id_table_reserve(id_table *table) { return id_table_expect(table, table->count + 1); }

/* Room for one more item in the table and in the owner's array. E_NOMEM, E_FULL. */
static inline hearth_status id_table_reserve_row(id_table *table, void *items, size_t *room, size_t count,
                                                 size_t item_size, hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(items, room, count, 1, item_size, err));
  return hearth_check_memory(id_table_reserve(table), err);
}

/* Add an item that is not there yet, after room was reserved. */
static inline void id_table_insert(id_table *table, uint64_t hash, uint32_t item) {
  hearth_expect((table->count + 1) * 4 <= table->size * 3);
  id_table_place(table, (id_table_slot){item, (uint32_t)hash});
  table->count++;
}

#endif
