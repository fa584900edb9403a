/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "index.h"

#include "memory.h"

#include <assert.h>

enum { SLOT_US = 16000, SLOTS_LEAST = 1024 };

static_assert(sizeof(struct entry) == RECORD_BYTES, "an entry is a record");

void index_init(struct index *index) { *index = (struct index){0}; }

static void grow(struct index *index, size_t slot) {
  size_t count = index->slot_count ? index->slot_count : SLOTS_LEAST;
  while (count <= slot)
    count *= 2;
  struct entry **slots = store_alloc(count * sizeof *slots);
  for (size_t i = 0; i < count; i++)
    slots[i] = i < index->slot_count ? index->slots[i] : NULL;
  store_free(index->slots);
  index->slots = slots;
  index->slot_count = count;
}

/* The link to the first entry of the slot at or after a time, or to NULL; NULL if there is no such slot yet. */
static struct entry **find_link(const struct index *index, uint64_t time_us) {
  size_t slot = time_us / SLOT_US;
  if (slot >= index->slot_count)
    return NULL;
  struct entry **link = &index->slots[slot];
  while (*link && (*link)->time_us < time_us)
    link = &(*link)->next;
  return link;
}

struct entry *index_insert(struct index *index, uint64_t time_us, int32_t amount_cents, struct order *order) {
  if (time_us / SLOT_US >= index->slot_count)
    grow(index, time_us / SLOT_US);
  struct entry **link = find_link(index, time_us);
  if (*link && (*link)->time_us == time_us)
    return NULL;
  struct entry *entry = store_alloc(sizeof *entry);
  *entry = (struct entry){
      .next = *link, .time_us = time_us, .order = order, .amount_cents = amount_cents, .status = ORDER_OPEN};
  *link = entry;
  index->count++;
  return entry;
}

struct entry *index_at_or_after(const struct index *index, uint64_t time_us) {
  struct entry **link = find_link(index, time_us);
  struct entry *entry = link ? *link : NULL;
  for (size_t slot = time_us / SLOT_US + 1; !entry && slot < index->slot_count; slot++)
    entry = index->slots[slot];
  return entry;
}

struct order *index_remove(struct index *index, uint64_t time_us) {
  struct entry **link = find_link(index, time_us);
  struct entry *entry = link ? *link : NULL;
  if (!entry || entry->time_us != time_us)
    return NULL;
  *link = entry->next;
  struct order *order = entry->order;
  store_free(entry);
  index->count--;
  return order;
}

struct turnover index_turnover(const struct index *index, uint64_t from_us, uint64_t to_us) {
  struct turnover sum = {0};
  for (size_t slot = from_us / SLOT_US; slot < index->slot_count && slot * SLOT_US < to_us; slot++)
    for (const struct entry *entry = index->slots[slot]; entry && entry->time_us < to_us; entry = entry->next)
      if (entry->time_us >= from_us) {
        sum.orders++;
        sum.amended += entry->status == ORDER_AMENDED;
        sum.amount_cents += entry->amount_cents;
      }
  return sum;
}
