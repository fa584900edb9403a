/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's MIBs to Hearth's and back, field by field, by the table mib_entries.def. */
#include "mib_entries.h"

enum { UNIT_SAME = 1, UNIT_MS = 1000000 };

const hearth_llvm_entry hearth_llvm_entries[HEARTH_LLVM_MIB_LIMIT] = {
#define HEARTH_LLVM_MIB_ENTRY(tag, Name, bits, Column, unit) [tag] = {(bits) / 8, HEARTH_COL_##Column, UNIT_##unit},
#define HEARTH_LLVM_MIB_IGNORED(tag, Name, bits)             [tag] = {(bits) / 8, -1, 1},
#include "mib_entries.def"
};

void hearth_llvm_entry_load(uint32_t tag, uint64_t value, hearth_mib *mib) {
  const hearth_llvm_entry *entry = &hearth_llvm_entries[tag];
  if (entry->column >= 0)
    mib->v[entry->column] = value > UINT64_MAX / entry->unit ? UINT64_MAX : value * entry->unit;
}

uint64_t hearth_llvm_entry_value(uint32_t tag, const hearth_mib *mib, uint64_t *ret_cut) {
  const hearth_llvm_entry *entry = &hearth_llvm_entries[tag];
  uint64_t value = mib->v[entry->column] / entry->unit;
  if (entry->bytes == 8 || value <= UINT32_MAX)
    return value;
  ++*ret_cut;
  return UINT32_MAX;
}

uint64_t hearth_llvm_held_columns(void) {
  uint64_t held = 0;
#define HEARTH_LLVM_MIB_ENTRY(tag, Name, bits, Column, unit) held |= UINT64_C(1) << HEARTH_COL_##Column;
#include "mib_entries.def"
  return held;
}

/* -memprof-lifetime-access-density-cold-threshold=0.05 and -memprof-ave-lifetime-cold-threshold=200, in single
 * precision as there. */
bool hearth_llvm_is_cold(const hearth_mib *mib) {
  uint64_t cut = 0;
  float blocks = (float)hearth_llvm_entry_value(1, mib, &cut);
  float density = (float)mib->TotalLifetimeAccessDensity / blocks / 100;
  float lifetime_ms = (float)hearth_llvm_entry_value(10, mib, &cut) / blocks;
  return density < 0.05F && lifetime_ms >= 200 * 1000;
}
