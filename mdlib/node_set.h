/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A set of nodes. */
#ifndef HEARTH_NODE_SET_H
#define HEARTH_NODE_SET_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>

/* All zero is the empty set. Open addressing, power of two, at most half full. */
typedef struct hearth_node_set {
  LLVMMetadataRef *slots;
  size_t capacity, used;
  bool out_of_memory; /* something could not be added */
} hearth_node_set;

/* False if it was in the set, or memory is out. */
bool hearth_node_set_add(hearth_node_set *set, LLVMMetadataRef node);
void hearth_node_set_free(hearth_node_set *set);

#endif
