/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The index: orders by time, in a skip list (Pugh, 1990).
 *
 * A node carries what queries ask for most, the amount and the status, so that they are answered from nodes alone; the
 * order itself is behind a pointer. Keys are unique. */
#ifndef INDEX_H
#define INDEX_H

#include "random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order;

enum { INDEX_MAX_HEIGHT = 12 }; /* with one node in four promoted, enough for 4^12 orders */

enum order_status { ORDER_OPEN, ORDER_AMENDED };

struct index_node {
  uint64_t time_us;
  struct order *order; /* owned by whoever removes the node */
  int32_t amount_cents;
  uint8_t status;
  uint8_t height;
  struct index_node *next[]; /* next[0 .. height - 1], by ascending time; NULL at the end */
};

struct index {
  struct index_node *head; /* holds no order; as high as any node can get */
  unsigned height;         /* levels in use, at least 1 */
  size_t count;
  struct random random;
};

/* What a window of the index adds up to. */
struct turnover {
  uint64_t orders;
  uint64_t amended;
  int64_t amount_cents;
};

void index_init(struct index *index);

/* Returns the new node, or NULL if `time_us` is taken. */
struct index_node *index_insert(struct index *index, uint64_t time_us, int32_t amount_cents, struct order *order);

/* The first node at or after a time, NULL if there is none. Valid until it is removed. */
struct index_node *index_at_or_after(const struct index *index, uint64_t time_us);

/* Remove and free the node with exactly this time. Returns its order, now the caller's; NULL if there is no such node.
 */
struct order *index_remove(struct index *index, uint64_t time_us);

/* Sum of the orders in the half-open window [from_us, to_us). */
struct turnover index_turnover(const struct index *index, uint64_t from_us, uint64_t to_us);

#endif
