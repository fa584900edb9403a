/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "index.h"

#include "memory.h"

static struct index_node *node_create(unsigned height) {
  struct index_node *node = store_alloc(sizeof *node + height * sizeof node->next[0]);
  node->height = (uint8_t)height;
  for (unsigned level = 0; level < height; level++)
    node->next[level] = NULL;
  return node;
}

void index_init(struct index *index) {
  index->head = node_create(INDEX_MAX_HEIGHT);
  index->height = 1;
  index->count = 0;
  index->random = random_seeded(1);
}

static unsigned height_for_new_node(struct index *index) {
  unsigned height = 1;
  while (height < INDEX_MAX_HEIGHT && random_below(&index->random, 4) == 0)
    height++;
  return height;
}

/* The last node before `time_us`, possibly the head. If `path` is given, path[level] is the last such node of each
 * level: the nodes whose links change when a node is inserted or removed here. */
static struct index_node *node_before(const struct index *index, uint64_t time_us, struct index_node **path) {
  struct index_node *node = index->head;
  for (unsigned level = index->height; level-- > 0;) {
    while (node->next[level] && node->next[level]->time_us < time_us)
      node = node->next[level];
    if (path)
      path[level] = node;
  }
  return node;
}

struct index_node *index_insert(struct index *index, uint64_t time_us, int32_t amount_cents, struct order *order) {
  struct index_node *path[INDEX_MAX_HEIGHT];
  struct index_node *before = node_before(index, time_us, path);
  if (before->next[0] && before->next[0]->time_us == time_us)
    return NULL;

  unsigned height = height_for_new_node(index);
  while (index->height < height)
    path[index->height++] = index->head;

  struct index_node *node = node_create(height);
  node->time_us = time_us;
  node->order = order;
  node->amount_cents = amount_cents;
  node->status = ORDER_OPEN;
  for (unsigned level = 0; level < height; level++) {
    node->next[level] = path[level]->next[level];
    path[level]->next[level] = node;
  }
  index->count++;
  return node;
}

struct index_node *index_at_or_after(const struct index *index, uint64_t time_us) {
  return node_before(index, time_us, NULL)->next[0];
}

struct order *index_remove(struct index *index, uint64_t time_us) {
  struct index_node *path[INDEX_MAX_HEIGHT];
  struct index_node *node = node_before(index, time_us, path)->next[0];
  if (!node || node->time_us != time_us)
    return NULL;

  for (unsigned level = 0; level < node->height; level++)
    path[level]->next[level] = node->next[level];
  struct order *order = node->order;
  store_free(node);
  index->count--;
  return order;
}

struct turnover index_turnover(const struct index *index, uint64_t from_us, uint64_t to_us) {
  struct turnover sum = {0};
  const struct index_node *node = index_at_or_after(index, from_us);
  for (; node && node->time_us < to_us; node = node->next[0]) {
    sum.orders++;
    sum.amended += node->status == ORDER_AMENDED;
    sum.amount_cents += node->amount_cents;
  }
  return sum;
}
