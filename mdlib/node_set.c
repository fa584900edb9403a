/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Open addressing with linear probing, keyed by the node's address. */
#include "node_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static LLVMMetadataRef *node_set_slot_of(const hearth_node_set *set, LLVMMetadataRef node) {
  size_t i = (size_t)((uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);
  while (set->slots[i] && set->slots[i] != node)
    i = (i + 1) & (set->capacity - 1);
  return &set->slots[i];
}

static bool node_set_grow(hearth_node_set *set) {
  hearth_node_set larger = {.capacity = set->capacity ? set->capacity * 2 : 64, .used = set->used};
  larger.slots = calloc(larger.capacity, sizeof *larger.slots);
  if (!larger.slots)
    return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i])
      *node_set_slot_of(&larger, set->slots[i]) = set->slots[i];
  free(set->slots);
  *set = larger;
  return true;
}

bool hearth_node_set_add(hearth_node_set *set, LLVMMetadataRef node) {
  if (set->used * 2 >= set->capacity && !node_set_grow(set)) {
    set->out_of_memory = true;
    return false;
  }
  LLVMMetadataRef *slot = node_set_slot_of(set, node);
  if (*slot)
    return false;
  *slot = node;
  set->used++;
  return true;
}

void hearth_node_set_free(hearth_node_set *set) {
  free(set->slots);
  memset(set, 0, sizeof *set);
}
