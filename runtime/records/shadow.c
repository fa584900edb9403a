/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Three large sparse mappings hold all counters. Whole pages of counters are made 0 by giving them back. */
#include "shadow.h"

#include "block.h"
#include "os.h"

#include <string.h>

#define DISCARD_LEAST (16 * HEARTH_PAGE_BYTES) /* below this, writing zeros is cheaper than page faults later */

uint64_t __hearth_counters;
uint64_t __hearth_stores;
uint64_t __memprof_shadow_memory_dynamic_address;

bool hearth_shadow_is_histogram;

bool hearth_shadow_is_coarse;

bool hearth_shadow_counts;

/* What counters lack: how often they changed from one half to the other. */
static hearth_granule_words beside;

uint64_t hearth_shadow_beside[HEARTH_BESIDE_BITS / 64];

bool hearth_shadow_has_beside;

/* For so many bytes of memory, one of counters. */
static bool shadow_reserve(uint64_t *ret_base, unsigned memory_for_one) {
  size_t size = ((size_t)1 << hearth_os_address_bits()) / memory_for_one;
  void *space = hearth_system_map_sparse(size);

  if (!space)
    return false;
  *ret_base = (uint64_t)(uintptr_t)space;
  return true;
}

bool hearth_shadow_reserve(void) {
  if (__hearth_counters)
    return true;
  hearth_shadow_counts = shadow_reserve(&__memprof_shadow_memory_dynamic_address, 8) &&
                         shadow_reserve(&__hearth_stores, HEARTH_GRANULE / sizeof(uint32_t)) &&
                         shadow_reserve(&__hearth_counters, HEARTH_GRANULE / sizeof(uint32_t));
  return hearth_shadow_counts;
}

void hearth_shadow_ignore(void) { hearth_shadow_counts = false; }

/* -------------------------------------------------- large counts -------------------------------------------------- */

/* The granule's word, which will not be 0: blocks that end look there from now on. */
static uint64_t *make_word(uintptr_t address) {
  unsigned bit = hearth_shadow_beside_bit(address);

  __atomic_fetch_or(&hearth_shadow_beside[bit / 64], UINT64_C(1) << bit % 64, __ATOMIC_RELAXED);
  __atomic_store_n(&hearth_shadow_has_beside, true, __ATOMIC_RELAXED);
  return hearth_granule_word_make(&beside, address);
}

static bool is_upper(uint32_t counter) { return counter >> 31; }

/* A block that begins has 0 in both. The change to its upper half takes seconds: a counter that is back at once is
 * of a new block. */
void hearth_shadow_note(uintptr_t address, uint32_t seen) {
  uint64_t *word = hearth_granule_word(&beside, address);
  uint64_t halves = word ? __atomic_load_n(word, __ATOMIC_RELAXED) : 0;

  if (is_upper(seen) == (halves & 1) || !(word = make_word(address)))
    return;
  if (__atomic_compare_exchange_n(word, &halves, halves + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED) &&
      is_upper(seen) && !is_upper(__atomic_load_n(hearth_shadow_counter(address), __ATOMIC_SEQ_CST)))
    __atomic_fetch_sub(word, 1, __ATOMIC_RELAXED);
}

/* The counter may have changed its half since it was seen. */
static uint64_t lacks(uint64_t halves, uint32_t counter) {
  halves += (halves & 1) != is_upper(counter);
  return halves / 2 * (UINT64_C(1) << 32);
}

uint64_t hearth_shadow_sum_beside(uintptr_t address, size_t granules) {
  uint64_t sum = 0;

  for (size_t i = 0; i < granules; ++i) {
    uintptr_t at = address + i * HEARTH_GRANULE;
    const uint64_t *word = hearth_granule_word(&beside, at);
    if (word)
      sum +=
          lacks(__atomic_load_n(word, __ATOMIC_RELAXED), __atomic_load_n(hearth_shadow_counter(at), __ATOMIC_RELAXED));
  }
  return sum;
}

void hearth_shadow_clear_beside(uintptr_t address, size_t granules) {
  hearth_granule_words_clear(&beside, address, granules);
}

/* -------------------------------------------------- blocks -------------------------------------------------------- */

static size_t count_granules(const void *memory, size_t size) {
  return ((uintptr_t)memory + (size ? size - 1 : 0)) / HEARTH_GRANULE - (uintptr_t)memory / HEARTH_GRANULE + 1;
}

static size_t count_lines(const void *memory, size_t size) {
  return ((uintptr_t)memory + (size ? size - 1 : 0)) / HEARTH_LINE - (uintptr_t)memory / HEARTH_LINE + 1;
}

/* Nothing needs to be read or written to make whole pages 0. The words beside them are made 0, too, if there are any. */
static void shadow_clear_counters(const void *memory, size_t granules) {
  uint32_t *begin = hearth_shadow_counter((uintptr_t)memory), *end = begin + granules;
  char *first_page, *end_page;

  if (!hearth_pages_within(begin, end, DISCARD_LEAST, &first_page, &end_page)) {
    hearth_counters_clear(begin, (uintptr_t)memory, granules);
    return;
  }
  hearth_shadow_clear_beside((uintptr_t)memory, granules);
  for (uint32_t *counter = begin; (char *)counter < first_page; ++counter)
    *counter = 0;
  hearth_system_discard(first_page, (size_t)(end_page - first_page));
  for (uint32_t *counter = (uint32_t *)end_page; counter < end; ++counter)
    *counter = 0;
}

static void clear_lines(const void *memory, size_t lines) {
  uint64_t *begin = hearth_shadow_line_counter((uintptr_t)memory), *end = begin + lines;
  char *first_page, *end_page;

  if (hearth_pages_within(begin, end, DISCARD_LEAST, &first_page, &end_page)) {
    hearth_system_discard(first_page, (size_t)(end_page - first_page));
    for (uint64_t *counter = (uint64_t *)end_page; counter < end; ++counter)
      __atomic_store_n(counter, 0, __ATOMIC_RELAXED);
    end = (uint64_t *)first_page;
  }
  for (uint64_t *counter = begin; counter < end; ++counter)
    __atomic_store_n(counter, 0, __ATOMIC_RELAXED);
}

void hearth_shadow_clear(const void *memory, size_t size) {
  if (!__hearth_counters)
    return;
  shadow_clear_counters(memory, count_granules(memory, size));
  if (hearth_shadow_is_coarse)
    clear_lines(memory, count_lines(memory, size));
}

void hearth_shadow_clear_added(const void *memory, size_t size, size_t larger) {
  uintptr_t end = (uintptr_t)memory + (size ? size : 1), stop = (uintptr_t)memory + larger;
  uintptr_t granule = (end + HEARTH_GRANULE - 1) & ~(HEARTH_GRANULE - 1);
  uintptr_t line = (end + HEARTH_LINE - 1) & ~(HEARTH_LINE - 1);

  if (__hearth_counters && granule < stop)
    shadow_clear_counters((const void *)granule, count_granules((const void *)granule, stop - granule));
  if (hearth_shadow_is_coarse && line < stop)
    clear_lines((const void *)line, count_lines((const void *)line, stop - line));
}

#define ZEROS                                                                                                          \
  64 /* counters that are looked at together: blocks that grow by small steps have not touched most of theirs */

static inline bool are_zero(const uint32_t *counter) {
  typedef uint64_t words __attribute__((vector_size(ZEROS * sizeof *counter / 2), aligned(4), may_alias));
  words both = ((const words *)counter)[0] | ((const words *)counter)[1];
  uint64_t all = 0;

  for (size_t i = 0; i < sizeof both / sizeof all; i++)
    all |= both[i];
  return all == 0;
}

static void give_back(void *begin, void *end) {
  char *first_page, *end_page;

  if (hearth_pages_within(begin, end, HEARTH_PAGE_BYTES, &first_page, &end_page))
    hearth_system_discard(first_page, (size_t)(end_page - first_page));
}

void hearth_shadow_give_back(const void *memory, size_t size) {
  size_t granules = size / HEARTH_GRANULE, lines = size / HEARTH_LINE;

  if (!__hearth_counters)
    return;
  hearth_shadow_clear_beside((uintptr_t)memory, granules);
  uint32_t *counters = hearth_shadow_counter((uintptr_t)memory);
  give_back(counters, counters + granules);
  if (hearth_shadow_is_coarse) {
    uint64_t *line_counters = hearth_shadow_line_counter((uintptr_t)memory);
    give_back(line_counters, line_counters + lines);
  }
}

static uint64_t sum_bytes(uint64_t counters) {
  uint64_t sum = 0;

  for (; counters; counters >>= 8)
    sum += counters & UINT8_MAX;
  return sum;
}

/* With both kinds of counters: lines of the address space are the common measure. */
static hearth_access_sum sum_by_lines(const void *memory, size_t size) {
  uintptr_t at = (uintptr_t)memory & ~(HEARTH_GRANULE - 1), end = (uintptr_t)memory + (size ? size : 1);
  hearth_access_sum sum = {.lines = count_lines(memory, size)};

  while (at < end) {
    uintptr_t next = (at | (HEARTH_LINE - 1)) + 1, stop = next < end ? next : end;
    size_t granules = (stop - at + HEARTH_GRANULE - 1) / HEARTH_GRANULE;
    uint64_t line = __atomic_load_n(hearth_shadow_line_counter(at), __ATOMIC_RELAXED);
    uint64_t accesses = hearth_counters_sum(hearth_shadow_counter(at), at, granules).accesses;
    accesses += hearth_shadow_is_histogram ? sum_bytes(line) : line;
    sum.accesses += accesses;
    sum.touched += accesses != 0;
    at = next;
  }
  return sum;
}

static hearth_access_sum sum_granules(uintptr_t at, size_t granules) {
  const uint32_t *counter = hearth_shadow_counter(at);
  hearth_access_sum sum = {0};

  for (size_t left = granules, some; left > 0; left -= some, counter += some, at += some * HEARTH_GRANULE) {
    some = left < ZEROS ? left : ZEROS;
    if (some == ZEROS && are_zero(counter) && !hearth_shadow_may_have_beside(at, some))
      continue;
    hearth_access_sum part = hearth_counters_sum(counter, at, some);
    sum.accesses += part.accesses;
    sum.touched += part.touched;
  }
  sum.lines = (granules + 3) / 4;
  return sum;
}

hearth_access_sum hearth_shadow_sum(const void *memory, size_t size) {
  size_t granules = count_granules(memory, size);

  if (!hearth_shadow_counts)
    return (hearth_access_sum){.lines = (granules + 3) / 4};
  if (hearth_shadow_is_coarse)
    return sum_by_lines(memory, size);
  return sum_granules((uintptr_t)memory, granules);
}

static uint32_t *stores_of(const void *memory) {
  return (uint32_t *)__hearth_stores + (uintptr_t)memory / HEARTH_GRANULE;
}

uint64_t hearth_shadow_sum_stores(const void *memory, size_t size) {
  uint64_t sum = 0;

  for (size_t i = 0; hearth_shadow_counts && i < count_granules(memory, size); ++i)
    sum += stores_of(memory)[i];
  return sum;
}

void hearth_shadow_clear_stores(const void *memory, size_t size) {
  for (size_t i = 0; __hearth_counters && i < count_granules(memory, size); ++i)
    stores_of(memory)[i] = 0;
}

hearth_byte_counters hearth_shadow_bytes(const void *memory, size_t size) {
  uintptr_t lead = (uintptr_t)memory % HEARTH_LINE / 8;

  if (!hearth_shadow_counts)
    return (hearth_byte_counters){NULL, NULL, 0};
  const uint8_t *first = hearth_shadow_byte((uintptr_t)memory);
  return (hearth_byte_counters){first - lead, first, size ? (size + 7) / 8 : 1};
}

/* -------------------------------------------------- globals ------------------------------------------------------- */

/* Tables are only added. The memory of one is read as other memory that may be gone, and compared with what it was:
 * nothing has to be told of closed libraries. The same table may be added twice; the indexer takes each global once. */

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

static void clear_global(const char *memory, size_t size, uint32_t flags) {
  hearth_shadow_clear(memory, size);
  if (flags & HEARTH_GLOBAL_STORES)
    hearth_shadow_clear_stores(memory, size);
}

void hearth_static_data_clear(void) { hearth_static_data_peek(clear_global); }
