/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entries of heap dumps: their sums, and the merging of small ones into their callers. Nodes are gone through from the
 * callees to the callers; entries below the floor move to the caller's list, where equal ones are summed. */
#include <stdlib.h>
#include <string.h>

#include "hearth/heap_dumps.h"

const char *hearth_heap_occasion_name(enum hearth_raw_occasion occasion) {
  static const char *const names[] = {"none", "exit", "period", "request", "peak"};
  return names[occasion];
}

void hearth_heap_add(hearth_heap_entry *into, const hearth_heap_entry *from) {
  into->blocks = hearth_merge_SUM(into->blocks, from->blocks);
  into->bytes = hearth_merge_SUM(into->bytes, from->bytes);
  for (size_t i = 0; i < HEARTH_RAW_RESIDENCIES; i++)
    into->residency[i] = hearth_merge_SUM(into->residency[i], from->residency[i]);
}

hearth_heap_entry hearth_heap_total(const hearth_heap_dump *dump) {
  hearth_heap_entry total = {0};
  for (size_t i = 0; i < dump->entry_count; i++)
    hearth_heap_add(&total, &dump->entries[i]);
  return total;
}

static bool is_alike(const hearth_heap_entry *a, const hearth_heap_entry *b) {
  return a->node == b->node && a->type == b->type && a->heap == b->heap;
}

/* Callees have higher nodes; entries without node come first of all. */
static int compare_entries(const void *a, const void *b) {
  const hearth_heap_entry *x = a, *y = b;
  uint32_t nodes[] = {x->node + 1, y->node + 1}; /* HEARTH_NONE is 0 */
  if (nodes[0] != nodes[1])
    return nodes[0] < nodes[1] ? -1 : 1;
  if (x->heap != y->heap)
    return x->heap < y->heap ? -1 : 1;
  return (x->type > y->type) - (x->type < y->type);
}

/* The entries of one node: a list, as entries arrive from callees while it is walked. */
typedef struct merging {
  hearth_heap_entry *entries;
  uint32_t *next;  /* of the same node: entry + 1 */
  uint32_t *first; /* by node: entry + 1; 0: none */
} merging;

static void put(merging *m, uint32_t entry) {
  uint32_t node = m->entries[entry].node;
  for (uint32_t i = m->first[node]; i; i = m->next[i - 1])
    if (is_alike(&m->entries[i - 1], &m->entries[entry])) {
      hearth_heap_add(&m->entries[i - 1], &m->entries[entry]);
      m->entries[entry].blocks = m->entries[entry].bytes = 0;
      return;
    }
  m->next[entry] = m->first[node];
  m->first[node] = entry + 1;
}

static void merge_small(merging *m, const hearth_heap_dumps *dumps, uint64_t floor) {
  for (uint32_t node = (uint32_t)dumps->node_count; node-- > 0;) {
    uint32_t parent = dumps->nodes[node].parent;
    for (uint32_t i = m->first[node], next; i && parent != HEARTH_NONE; i = next) {
      next = m->next[i - 1];
      if (m->entries[i - 1].bytes >= floor)
        continue;
      m->entries[i - 1].node = parent; /* it stays in this node's list, which nobody walks again */
      put(m, i - 1);
    }
  }
}

hearth_status hearth_heap_merge_small(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump, uint64_t floor,
                                      hearth_heap_entry **ret, size_t *ret_count, hearth_error *err) {
  merging m = {.entries = malloc((dump->entry_count + 1) * sizeof *m.entries),
               .next = calloc(dump->entry_count + 1, sizeof *m.next),
               .first = calloc(dumps->node_count + 1, sizeof *m.first)};
  bool good = m.entries && m.next && m.first;
  size_t count = 0;
  if (good && dump->entry_count > 0)
    memcpy(m.entries, dump->entries, dump->entry_count * sizeof *m.entries);
  for (uint32_t i = 0; good && i < dump->entry_count; i++)
    if (m.entries[i].node != HEARTH_NONE)
      put(&m, i);
  if (good)
    merge_small(&m, dumps, floor);
  for (size_t i = 0; good && i < dump->entry_count; i++)
    if (m.entries[i].blocks > 0)
      m.entries[count++] = m.entries[i];
  free(m.next);
  free(m.first);
  if (!good) {
    free(m.entries);
    return hearth_error_nomem(err);
  }
  qsort(m.entries, count, sizeof *m.entries, compare_entries);
  *ret = m.entries;
  *ret_count = count;
  return HEARTH_OK;
}

bool hearth_heap_same_process(const hearth_heap_dump *a, const hearth_heap_dump *b) {
  return a->pid == b->pid && a->start_unix_ns == b->start_unix_ns;
}
