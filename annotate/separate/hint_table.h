/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hint that an allocation concludes from the set bits: a plan's table as a function of the module.
 *
 *   i8 @__hearth_hint.TABLE(i64 word)
 *
 * Cold contexts are listed; all other bits get the hint of the call's contexts that are not cold. */
#ifndef HEARTH_HINT_TABLE_H
#define HEARTH_HINT_TABLE_H

#include <llvm-c/Core.h>

#include "placer.h"

typedef struct hearth_hint_tables {
  LLVMModuleRef module;
  const hearth_plan *plan;
  const hearth_placer *placer;
  const uint8_t *hints; /* by class */
} hearth_hint_tables;

/* The function of a table, made if the module lacks it. */
LLVMValueRef hearth_hint_table_get(const hearth_hint_tables *tables, const hearth_plan_table *table);

/* The hint of an entry. */
uint8_t hearth_hint_table_hint(const hearth_hint_tables *tables, const hearth_plan_entry *entry);

/* The table's entry that has half of its bytes or more; NULL if there is none. */
const hearth_plan_entry *hearth_hint_table_heaviest(const hearth_hint_tables *tables, const hearth_plan_table *table);

#endif
