/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The stores of a function that may be to global variables, counted apart from all accesses (-memprof-global-stores). */
#ifndef HEARTH_GLOBAL_STORES_H
#define HEARTH_GLOBAL_STORES_H

#include <stdbool.h>
#include <stddef.h>

#include "counter.h"

typedef struct hearth_global_store {
  LLVMValueRef instruction, pointer;
} hearth_global_store;

typedef struct hearth_global_stores {
  hearth_global_store *items;
  size_t count, capacity;
} hearth_global_stores;

/* Collect them before code is added to the function. False: no memory. Free in either case. */
bool hearth_global_stores_collect(LLVMValueRef function, hearth_global_stores *ret);
void hearth_global_stores_free(hearth_global_stores *stores);

/* Add the code that counts them; the instructions still stand where they stood. */
void hearth_global_stores_count(const hearth_global_stores *stores, LLVMValueRef function, hearth_counters *counters);

#endif
