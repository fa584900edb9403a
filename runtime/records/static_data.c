/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables are only added. The memory of one is read as other memory that may be gone, and compared with what it was: nothing has
 * to be told of closed libraries. The same table may be added twice; the indexer takes each global once. */
#include "shadow.h"

#include "os.h"

#include <string.h>

#define TABLES_MOST  ((uint32_t)1 << 16)
#define ROWS_AT_ONCE 64u

static struct {
  const hearth_global_table *at[TABLES_MOST]; /* NULL: not there yet */
  uint32_t row_counts[TABLES_MOST];
  uint32_t count; /* more than TABLES_MOST: the rest is dropped */
} tables;

void hearth_static_data_add(const hearth_global_table *table) {
  uint32_t i = __atomic_fetch_add(&tables.count, 1, __ATOMIC_RELAXED);

  if (i >= TABLES_MOST)
    return;
  tables.row_counts[i] = table->row_count;
  __atomic_store_n(&tables.at[i], table, __ATOMIC_RELEASE);
}

static uint32_t table_limit(void) {
  uint32_t count = __atomic_load_n(&tables.count, __ATOMIC_RELAXED);

  return count < TABLES_MOST ? count : TABLES_MOST;
}

uint64_t hearth_static_data_dropped(void) {
  return __atomic_load_n(&tables.count, __ATOMIC_RELAXED) - (uint64_t)table_limit();
}

/* False: it is not there, or not any more. */
static bool read_table(uint32_t i, hearth_global_table *ret) {
  const hearth_global_table *at = __atomic_load_n(&tables.at[i], __ATOMIC_ACQUIRE);

  return at && hearth_os_peek((uintptr_t)at, ret, sizeof *ret) && ret->magic == HEARTH_GLOBALS_MAGIC &&
         ret->row_count == tables.row_counts[i];
}

uint64_t hearth_static_data_each(hearth_static_data_visit *visit, void *closure) {
  hearth_global_table table;
  uint64_t count = 0;

  for (uint32_t i = 0; i < table_limit(); i++) {
    if (!read_table(i, &table))
      continue;
    const hearth_global_row *rows = (const hearth_global_row *)(uintptr_t)table.rows;
    const char *names = (const char *)(uintptr_t)table.names;
    count += table.row_count;
    for (uint32_t k = 0; visit && k < table.row_count; k++)
      visit(&rows[k], names + rows[k].name, names + rows[k].file, closure);
  }
  return count;
}

void hearth_static_data_peek(void (*visit)(const char *memory, size_t size, uint32_t flags)) {
  hearth_global_table table;
  hearth_global_row rows[ROWS_AT_ONCE];

  for (uint32_t i = 0; i < table_limit(); i++) {
    if (!read_table(i, &table))
      continue;
    for (uint32_t k = 0, some; k < table.row_count; k += some) {
      some = table.row_count - k < ROWS_AT_ONCE ? table.row_count - k : ROWS_AT_ONCE;
      if (!hearth_os_peek(table.rows + k * sizeof *rows, rows, some * sizeof *rows))
        break;
      for (uint32_t j = 0; j < some; j++)
        visit((const char *)(uintptr_t)rows[j].address, rows[j].size, rows[j].flags);
    }
  }
}

static void clear(const char *memory, size_t size, uint32_t flags) {
  hearth_shadow_clear_in_place(memory, size);
  if (flags & HEARTH_GLOBAL_STORES)
    hearth_shadow_clear_stores(memory, size);
}

void hearth_static_data_clear(void) { hearth_static_data_peek(clear); }
