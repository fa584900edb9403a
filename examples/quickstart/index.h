/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The index: orders by time, as a calendar (Brown's calendar queue, 1988): one sorted list for each slot of time.
 *
 * An entry carries what queries ask for most, the amount and the status, so that they are answered from entries alone; the
 * order itself is behind a pointer. Times are unique. */
#ifndef INDEX_H
#define INDEX_H

#include <stddef.h>
#include <stdint.h>

struct order;

enum order_status { ORDER_OPEN, ORDER_AMENDED };

struct entry {
  struct entry *next; /* of the same slot, by ascending time */
  uint64_t time_us;
  struct order *order; /* owned by whoever removes the entry */
  int32_t amount_cents;
  uint32_t status;
};

struct index {
  struct entry **slots;
  size_t slot_count;
  size_t count; /* of entries */
};

/* What a window of the index adds up to. */
struct turnover {
  uint64_t orders;
  uint64_t amended;
  int64_t amount_cents;
};

void index_init(struct index *index);

/* Returns the new entry, or NULL if `time_us` is taken. */
struct entry *index_insert(struct index *index, uint64_t time_us, int32_t amount_cents, struct order *order);

/* The first entry at or after a time, NULL if there is none. Valid until it is removed. */
struct entry *index_at_or_after(const struct index *index, uint64_t time_us);

/* Remove and free the entry with exactly this time. Returns its order, now the caller's; NULL if there is no such entry. */
struct order *index_remove(struct index *index, uint64_t time_us);

/* Sum of the orders in the half-open window [from_us, to_us). */
struct turnover index_turnover(const struct index *index, uint64_t from_us, uint64_t to_us);

#endif
