/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rule for a pc comes from its module's call frame information (cfi.c), and is kept in a hash table whose rows
 * are never given back. */
#include "unwind.h"

#include "mappings.h"
#include "os.h"
#include "thread_state.h"

/* Calls that are on the way to an allocation. The rows of most programs lie close together, where processors' caches
 * keep them; those that find no place there may be anywhere in the rest, of which only the used part becomes memory. */
#define NEAR_ROWS ((size_t)1 << 13)
#define FAR_ROWS  ((size_t)1 << 18)
#define ROWS_EACH 8u /* of either kind that one address may be in; if all are taken, its rule is read each time */

/* Rows are taken for ever. `rule` is 0 until it is known. */
typedef struct rule_row {
  uint64_t pc; /* 0: free; atomic */
  union {
    hearth_cfi_rule rule;
    uint64_t word; /* atomic */
  };
} rule_row;

_Static_assert(sizeof(hearth_cfi_rule) == sizeof(uint64_t), "a rule is stored at once");

static rule_row *rows;

bool hearth_unwind_rules_create(void) {
  rows = hearth_system_map_sparse((NEAR_ROWS + FAR_ROWS) * sizeof *rows);
  return rows != NULL;
}

/* Code of no module that is known may be in one that is loaded later. *ret_lasting: that cannot be. A signal handler
 * that interrupted a critical section does not wait for the lock of the mappings. */
static __attribute__((noinline)) hearth_cfi_rule read_rule(uint64_t pc, bool *ret_lasting) {
  if (!hearth_reentry_is_nested())
    hearth_mappings_cover(&pc, 1);
  const hearth_mapping *module = hearth_mappings_find(pc);

  *ret_lasting = module != NULL;
  if (!module || module->frame_header == 0)
    return (hearth_cfi_rule){.kind = HEARTH_CFI_NONE};
  hearth_cfi_tables tables = {module->frame_header, module->frame_low, module->frame_high, hearth_os_peek};
  return hearth_cfi_find(&tables, pc);
}

/* The row of `pc` among `count`, a power of two; taken if need be; NULL: all that it may be in are others'. */
static inline rule_row *row_among(rule_row *among, size_t count, uint64_t pc) {
  size_t first = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40); /* 2^64 / golden ratio */

  for (size_t i = 0; i < ROWS_EACH; ++i) {
    rule_row *row = &among[(first + i) % count];
    uint64_t there = __atomic_load_n(&row->pc, __ATOMIC_RELAXED);
    if (there == pc)
      return row;
    if (there == 0 &&
        (__atomic_compare_exchange_n(&row->pc, &there, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || there == pc))
      return row;
  }
  return NULL;
}

static inline rule_row *rule_row_of(uint64_t pc) {
  rule_row *row = row_among(rows, NEAR_ROWS, pc);

  return row ? row : row_among(rows + NEAR_ROWS, FAR_ROWS, pc);
}

void hearth_unwind_rules_forget_closed(void) {
  for (size_t i = 0; rows && i < NEAR_ROWS + FAR_ROWS; i++) {
    uint64_t pc = __atomic_load_n(&rows[i].pc, __ATOMIC_RELAXED);
    if (pc && !hearth_mappings_find(pc))
      __atomic_store_n(&rows[i].word, 0, __ATOMIC_RELAXED);
  }
}

hearth_cfi_rule hearth_unwind_rules_find(uint64_t pc) {
  rule_row *row = rule_row_of(pc);
  rule_row copy = {.word = row ? __atomic_load_n(&row->word, __ATOMIC_RELAXED) : 0};
  bool lasting;

  if (__builtin_expect(copy.rule.known, true))
    return copy.rule;
  copy.rule = read_rule(pc, &lasting);
  copy.rule.known = lasting;
  if (row && lasting)
    __atomic_store_n(&row->word, copy.word, __ATOMIC_RELAXED);
  return copy.rule;
}
