/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the PLAN section: three arrays of structs, used where they lie. They are copied if they are misaligned, or if
 * an entry is ambiguous, as older plans have some: it then loses its class. Sites and tables are found by binary
 * search. */
#include "hearth/plan.h"

#include <stdlib.h>

#include "compare.h"
#include "reader_internal.h"

static hearth_status check(hearth_profile *profile, const hearth_plan *plan, hearth_error *err) {
  for (uint32_t i = 0; i < plan->site_count; i++)
    if (plan->sites[i].bit >= 64 || plan->sites[i].is_alone > 1 || plan->sites[i].reserved != 0 ||
        plan->sites[i].frame >= hearth_profile_frame_count(profile) ||
        (i > 0 && plan->sites[i].stack_id <= plan->sites[i - 1].stack_id))
      return hearth_profile_corrupt(profile, err, "decision site %u is impossible", i);
  for (uint32_t i = 0; i < plan->table_count; i++) {
    const hearth_plan_table *table = &plan->tables[i];
    uint32_t end = i + 1 < plan->table_count ? table[1].first_entry : plan->entry_count;
    if (table->first_entry >= end || end > plan->entry_count || (i == 0 && table->first_entry != 0) ||
        table->frame >= hearth_profile_frame_count(profile) || (i > 0 && table->stack_id <= table[-1].stack_id))
      return hearth_profile_corrupt(profile, err, "table %u of the plan is impossible", i);
    for (uint32_t k = table->first_entry; k < end; k++)
      if (plan->entries[k].bits & ~table->mask || plan->entries[k].hotness > HEARTH_CLASS_HOT ||
          (k > table->first_entry && plan->entries[k].bits <= plan->entries[k - 1].bits))
        return hearth_profile_corrupt(profile, err, "entry %u of the plan is impossible", k);
  }
  return HEARTH_OK;
}

static hearth_status copy(hearth_profile *profile, const hearth_indexed_section *section, const uint8_t **bytes,
                          hearth_error *err) {
  profile->plan_copy = malloc(section->size);
  if (!profile->plan_copy)
    return hearth_error_nomem(err);
  memcpy(profile->plan_copy, *bytes, section->size);
  *bytes = profile->plan_copy;
  return HEARTH_OK;
}

/* Images in memory may lie anywhere. */
static hearth_status touch_aligned(hearth_profile *profile, const hearth_indexed_section *section, const uint8_t **ret,
                                   hearth_error *err) {
  HEARTH_TRY(hearth_profile_touch(profile, section->offset, section->size, ret, err));
  if (profile->plan_copy)
    *ret = profile->plan_copy;
  return (uintptr_t)*ret % _Alignof(hearth_plan_site) == 0 ? HEARTH_OK : copy(profile, section, ret, err);
}

/* Is it more than 5 % of the bytes, `rest` being the others? */
static bool is_much(uint64_t part, uint64_t rest) { return part > rest / 19 + 1; }

/* Where no bit is set, a class takes 95 % of the bytes. */
static bool is_mixed(const hearth_plan_entry *entry) {
  uint64_t others = 0;
  for (uint32_t i = 0; i < 4; i++)
    others += i == entry->hotness ? 0 : entry->bytes[i];
  return is_much(others, entry->bytes[entry->hotness]);
}

/* Hot, but with more than 5 % of cold bytes. */
static bool has_cold(const hearth_plan_entry *entry) {
  uint64_t rest = entry->bytes[0] + entry->bytes[HEARTH_CLASS_NOTCOLD] + entry->bytes[HEARTH_CLASS_HOT];
  return entry->hotness == HEARTH_CLASS_HOT && is_much(entry->bytes[HEARTH_CLASS_COLD], rest);
}

/* Has another entry of the table, of another class, the bits of this one and perhaps more? Those come behind it. */
static bool is_ambiguous(const hearth_plan_entry *entry, const hearth_plan_entry *end) {
  bool has_place = entry->hotness == HEARTH_CLASS_COLD || entry->hotness == HEARTH_CLASS_HOT;
  if (has_cold(entry) || (has_place && entry->bits == 0 && is_mixed(entry)))
    return true;
  for (const hearth_plan_entry *other = entry + 1; has_place && other < end; other++)
    if ((entry->bits & ~other->bits) == 0 && entry->hotness != other->hotness)
      return true;
  return false;
}

static uint32_t end_of(const hearth_plan *plan, uint32_t table) {
  return table + 1 < plan->table_count ? plan->tables[table + 1].first_entry : plan->entry_count;
}

/* An entry has no class if contexts of another class would have its bits after they lost some. Older plans can hold
 * such entries. */
static hearth_status forget_ambiguous(hearth_profile *profile, const hearth_indexed_section *section,
                                      const uint8_t *bytes, hearth_plan *plan, hearth_error *err) {
  size_t entries = (size_t)((const uint8_t *)plan->entries - bytes);
  for (uint32_t i = 0; i < plan->table_count; i++)
    for (uint32_t k = plan->tables[i].first_entry; k < end_of(plan, i); k++) {
      if (!is_ambiguous(&plan->entries[k], plan->entries + end_of(plan, i)))
        continue;
      if (!profile->plan_copy)
        HEARTH_TRY(copy(profile, section, &bytes, err));
      ((hearth_plan_entry *)(profile->plan_copy + entries))[k].hotness = HEARTH_CLASS_UNKNOWN;
    }
  return HEARTH_OK;
}

static hearth_plan plan_at(const uint8_t *bytes, const hearth_indexed_plan *header) {
  const hearth_plan_site *sites = (const hearth_plan_site *)(bytes + sizeof *header);
  const hearth_plan_table *tables = (const hearth_plan_table *)(sites + header->site_count);
  return (hearth_plan){.id = header->id,
                       .sites = sites,
                       .tables = tables,
                       .entries = (const hearth_plan_entry *)(tables + header->table_count),
                       .site_count = header->site_count,
                       .table_count = header->table_count,
                       .entry_count = header->entry_count,
                       .library_calls = header->library_calls};
}

hearth_status hearth_profile_get_plan(hearth_profile *profile, hearth_plan *ret, hearth_error *err) {
  const hearth_indexed_section *section = hearth_profile_section(profile, HEARTH_SECTION_PLAN);
  const uint8_t *bytes;
  hearth_indexed_plan header;
  memset(ret, 0, sizeof *ret);
  if (section->id == 0)
    return HEARTH_OK;
  if (section->size < sizeof header)
    return hearth_profile_corrupt(profile, err, "the plan is cut short");
  HEARTH_TRY(touch_aligned(profile, section, &bytes, err));
  memcpy(&header, bytes, sizeof header);
  uint64_t sites = (uint64_t)header.site_count * sizeof(hearth_plan_site),
           tables = (uint64_t)header.table_count * sizeof(hearth_plan_table),
           entries = (uint64_t)header.entry_count * sizeof(hearth_plan_entry);
  if (section->size - sizeof header != sites + tables + entries || header.id == 0 ||
      header.library_calls > header.table_count)
    return hearth_profile_corrupt(profile, err, "the plan has a wrong size or no id");
  hearth_plan plan = plan_at(bytes, &header);
  HEARTH_TRY(check(profile, &plan, err));
  HEARTH_TRY(forget_ambiguous(profile, section, bytes, &plan, err));
  *ret = plan_at(profile->plan_copy ? profile->plan_copy : bytes, &header);
  return HEARTH_OK;
}

const hearth_plan_site *hearth_plan_find_site(const hearth_plan *plan, uint64_t stack_id) {
  return plan->site_count ? bsearch(&stack_id, plan->sites, plan->site_count, sizeof *plan->sites, hearth_compare_u64)
                          : NULL;
}

const hearth_plan_table *hearth_plan_find_table(const hearth_plan *plan, uint64_t stack_id) {
  return plan->table_count
             ? bsearch(&stack_id, plan->tables, plan->table_count, sizeof *plan->tables, hearth_compare_u64)
             : NULL;
}

const hearth_plan_entry *hearth_plan_entries(const hearth_plan *plan, const hearth_plan_table *table,
                                             uint32_t *ret_count) {
  bool last = table + 1 == plan->tables + plan->table_count;
  *ret_count = (last ? plan->entry_count : table[1].first_entry) - table->first_entry;
  return plan->entries + table->first_entry;
}
