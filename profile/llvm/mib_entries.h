/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A MIB of LLVM's, field by field, and Hearth's. */
#ifndef HEARTH_LLVM_MIB_ENTRIES_H
#define HEARTH_LLVM_MIB_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/mib.h"

#define HEARTH_LLVM_MIB_LIMIT 28 /* one more than the greatest tag */

typedef struct hearth_llvm_entry {
  uint32_t bytes; /* in a file; 0: there is no such tag */
  int column;     /* of hearth_mib; -1: Hearth does not keep it */
  uint64_t unit;  /* Hearth's number for 1 of LLVM's */
} hearth_llvm_entry;

extern const hearth_llvm_entry hearth_llvm_entries[HEARTH_LLVM_MIB_LIMIT]; /* by tag */

/* Set the field that a value of LLVM's stands for; saturates. */
void hearth_llvm_entry_load(uint32_t tag, uint64_t value, hearth_mib *mib);
/* The value of LLVM's that a field is: the greatest that fits if it is too great (*ret_cut counts those). */
uint64_t hearth_llvm_entry_value(uint32_t tag, const hearth_mib *mib, uint64_t *ret_cut);

/* A bit for each column that some entry holds. */
uint64_t hearth_llvm_held_columns(void);

/* Is a context cold by the rule of LLVM's compiler with its default options? */
bool hearth_llvm_is_cold(const hearth_mib *mib);

#endif
