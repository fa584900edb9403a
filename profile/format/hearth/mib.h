/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory info block (MIB): the facts about all blocks that one context allocated. Source: heap-profiler RFC (2020),
 * "Heap Info Block"; serialization RFC (2021), "portable entry format".
 *
 * Freestanding: the runtime, the file formats and the metadata library include it. Fields, units and merge rules are in
 * mib_fields.def; docs/formats/indexed.md says how files hold them. */
#ifndef HEARTH_MIB_H
#define HEARTH_MIB_H

#include "hearth/expect.h"

#define HEARTH_MIB_MIXED UINT64_MAX /* SAME rule: records with different ids were merged */

/* Tags as they stand in files. */
enum hearth_mib_tag {
  HEARTH_TAG_StackID = 1,
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) HEARTH_TAG_##Name = tag,
#define HEARTH_MIB_DERIVED(tag, Name, unit, numerator, denominator, ir_bits, ir_default, description)                  \
  HEARTH_TAG_##Name = tag,
#include "hearth/mib_fields.def"
  HEARTH_TAG_Hotness = 36,
  HEARTH_TAG_Pool = 37,
  HEARTH_TAG_LIMIT = 55 /* one more than the greatest tag */
};

/* Memory is idle that is left alone so long (UsedPageBytes), or this part of the run if that is less. */
enum { HEARTH_IDLE_S = 30, HEARTH_IDLE_PART_OF_RUN = 8 };

/* Position of a stored field among the stored fields: column number in files, index of `v`. */
enum hearth_mib_column {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) HEARTH_COL_##Name,
#include "hearth/mib_fields.def"
  HEARTH_MIB_COLUMNS
};

/* One record. AllocCount 0 means "empty": its other fields are then 0 and say nothing. */
typedef union hearth_mib {
  struct {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) uint64_t Name;
#include "hearth/mib_fields.def"
  };
  uint64_t v[HEARTH_MIB_COLUMNS];
} hearth_mib;

HEARTH_CHECK_LAYOUT(sizeof(hearth_mib) == 8 * HEARTH_MIB_COLUMNS);

/* How a context would be treated. The numbers stand in metadata (field Hotness). */
typedef enum hearth_class {
  HEARTH_CLASS_UNKNOWN = 0,
  HEARTH_CLASS_COLD = 1,
  HEARTH_CLASS_NOTCOLD = 2,
  HEARTH_CLASS_HOT = 3
} hearth_class;

/* Where blocks are to lie: a class, or HEARTH_PLACEMENT_POOL + number of a pool of the plan. The number is the pool id
 * of docs/pools.md less 1; the layout says which pool of the allocator that is. Allocation calls have all pool ids but
 * the last one, which is that of dormant blocks: cold ones to the compiler, in memory that stays. */
typedef uint8_t hearth_placement;

enum {
  HEARTH_PLACEMENT_POOL = 4,
  HEARTH_POOLS_MAX = 31,
  HEARTH_PLAN_CALLS_MAX = HEARTH_POOLS_MAX - 1,
  HEARTH_POOL_OF_DORMANT = HEARTH_PLAN_CALLS_MAX, /* its number */
  HEARTH_PLACEMENT_DORMANT = HEARTH_PLACEMENT_POOL + HEARTH_POOL_OF_DORMANT,
  HEARTH_PLACEMENTS
};

static inline uint64_t hearth_merge_SUM(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
static inline uint64_t hearth_merge_MIN(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t hearth_merge_MAX(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint64_t hearth_merge_SAME(uint64_t a, uint64_t b) {
  return a == b || b == 0 ? a : a == 0 ? b : HEARTH_MIB_MIXED;
}

/* The value that `weight` (at least 1) equal values merge to. */
static inline uint64_t hearth_repeat_SUM(uint64_t value, uint64_t weight) {
  return value > UINT64_MAX / weight ? UINT64_MAX : value * weight;
}
static inline uint64_t hearth_repeat_MIN(uint64_t value, uint64_t weight) { return (void)weight, value; }
static inline uint64_t hearth_repeat_MAX(uint64_t value, uint64_t weight) { return (void)weight, value; }
static inline uint64_t hearth_repeat_SAME(uint64_t value, uint64_t weight) { return (void)weight, value; }

/* Turn a record into the record that `weight` (at least 1) equal ones merge to. */
static inline void hearth_mib_repeat(hearth_mib *mib, uint64_t weight) {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  mib->Name = hearth_repeat_##merge(mib->Name, weight);
#include "hearth/mib_fields.def"
}

/* All blocks of the record are live at exit. */
static inline void hearth_mib_set_live(hearth_mib *mib) {
  mib->LiveAtExit = mib->SizedAtExit = mib->AllocCount;
  mib->LiveBytes = mib->TotalSize;
}

/* Merge `from` into `into` by the table's rules. Associative, commutative; the empty record is neutral. */
static inline void hearth_mib_merge(hearth_mib *into, const hearth_mib *from) {
  if (from->AllocCount == 0)
    return;
  if (into->AllocCount == 0) {
    *into = *from;
    return;
  }
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  into->Name = hearth_merge_##merge(into->Name, from->Name);
#include "hearth/mib_fields.def"
}

#endif
