/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hint that an allocation concludes from the set bits: a plan's table as a function of the module.
 *
 *   i8 @__hearth_hint.TABLE(i64 word)
 *
 * Small tables are compiled as a switch. Large ones are data, which take a third of that: a sorted array of keys, the hint's
 * number in their last three bits, that one function of the module searches for all tables. */
#ifndef HEARTH_HINT_TABLE_H
#define HEARTH_HINT_TABLE_H

#include <llvm-c/Core.h>

#include "placer.h"

typedef struct hearth_hint_tables {
  LLVMModuleRef module;
  const hearth_plan *plan;
  const hearth_placer *placer;
  const uint8_t *hints; /* by class */
  LLVMValueRef search;  /* made when it is first needed */
} hearth_hint_tables;

/* The function of a table, made if the module lacks it: the hint for each value of the bits that the table heeds, and that
 * of ambiguous calls for all others. */
LLVMValueRef hearth_hint_table_get(hearth_hint_tables *tables, const hearth_plan_table *table);

/* The hint of an entry. */
uint8_t hearth_hint_table_hint(const hearth_hint_tables *tables, const hearth_plan_entry *entry);

/* The table's entry that has half of its bytes or more; NULL if there is none. */
const hearth_plan_entry *hearth_hint_table_heaviest(const hearth_hint_tables *tables, const hearth_plan_table *table);

#endif
