/* The PLAN section: reading it, and making it. */
#include "hearth/plan.h"

#include <stdlib.h>

#include "plan_internal.h"
#include "reader_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { DEFAULT_SITES = 256, DEFAULT_GAIN_PPM = 100 };

/* -------------------------------------------------- reading ------------------------------------------------- */

static hearth_status check(hearth_profile *profile, const hearth_plan *plan, hearth_error *err) {
  for (uint32_t i = 0; i < plan->site_count; i++)
    if (plan->sites[i].bit >= 64 || plan->sites[i].frame >= hearth_profile_frame_count(profile) ||
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

/* Images in memory may lie anywhere. */
static hearth_status touch_aligned(hearth_profile *profile, const hearth_indexed_section *section, const uint8_t **ret,
                                   hearth_error *err) {
  HEARTH_TRY(hearth_profile_touch(profile, section->offset, section->size, ret, err));
  if ((uintptr_t)*ret % _Alignof(hearth_plan_site) == 0)
    return HEARTH_OK;
  if (!profile->aligned_plan) {
    profile->aligned_plan = malloc(section->size);
    if (!profile->aligned_plan)
      return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
    memcpy(profile->aligned_plan, *ret, section->size);
  }
  *ret = profile->aligned_plan;
  return HEARTH_OK;
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
  if (section->size - sizeof header != sites + tables + entries || header.id == 0)
    return hearth_profile_corrupt(profile, err, "the plan has a wrong size or no id");
  hearth_plan plan = {.id = header.id,
                      .sites = (const hearth_plan_site *)(bytes + sizeof header),
                      .tables = (const hearth_plan_table *)(bytes + sizeof header + sites),
                      .entries = (const hearth_plan_entry *)(bytes + sizeof header + sites + tables),
                      .site_count = header.site_count,
                      .table_count = header.table_count,
                      .entry_count = header.entry_count};
  HEARTH_TRY(check(profile, &plan, err));
  *ret = plan;
  return HEARTH_OK;
}

/* Sites and tables begin with their stack id. */
static int compare_ids(const void *key, const void *row) {
  uint64_t x = *(const uint64_t *)key, y = *(const uint64_t *)row;
  return (x > y) - (x < y);
}

const hearth_plan_site *hearth_plan_find_site(const hearth_plan *plan, uint64_t stack_id) {
  return plan->site_count ? bsearch(&stack_id, plan->sites, plan->site_count, sizeof *plan->sites, compare_ids) : NULL;
}

const hearth_plan_table *hearth_plan_find_table(const hearth_plan *plan, uint64_t stack_id) {
  return plan->table_count ? bsearch(&stack_id, plan->tables, plan->table_count, sizeof *plan->tables, compare_ids)
                           : NULL;
}

const hearth_plan_entry *hearth_plan_entries(const hearth_plan *plan, const hearth_plan_table *table,
                                             uint32_t *ret_count) {
  bool last = table + 1 == plan->tables + plan->table_count;
  *ret_count = (last ? plan->entry_count : table[1].first_entry) - table->first_entry;
  return plan->entries + table->first_entry;
}

/* -------------------------------------------------- making --------------------------------------------------- */

hearth_status plan_grow(planner *p, void **items, size_t count, size_t *room, size_t item_size) {
  if (count < *room)
    return HEARTH_OK;
  size_t larger = *room ? *room * 2 : 64;
  void *moved = realloc(*items, larger * item_size);
  if (!moved || larger > UINT32_MAX)
    return hearth_error_set(p->err, HEARTH_E_NOMEM, "out of memory planning");
  *items = moved;
  *room = larger;
  return HEARTH_OK;
}

/* NULL if there is nothing to plan. */
static hearth_status make_section(planner *p, void **ret, size_t *ret_size) {
  *ret = NULL;
  HEARTH_TRY(plan_find_leaves(p));
  if (p->leaf_count == 0)
    return HEARTH_OK;
  HEARTH_TRY(plan_find_candidates(p));
  HEARTH_TRY(plan_make_units(p));
  return plan_choose(p, ret, ret_size);
}

static void release(planner *p) {
  free(p->leaves);
  free(p->contexts);
  free(p->candidates);
  free(p->candidate_table.slots);
  free(p->sets);
  free(p->members);
  free(p->units);
}

static size_t align8(size_t size) { return (size + 7) & ~(size_t)7; }

typedef struct image {
  uint8_t *bytes;
  hearth_indexed_header header;
  hearth_indexed_section *table;
  hearth_indexed_section *checksums; /* in the table */
  size_t end;                        /* of what was copied */
} image;

/* The profile's other sections as they are, and the plan (NULL: none). */
static void copy_sections(image *to, const hearth_profile *profile, const void *plan, size_t plan_size) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < profile->header.section_count; i++) {
    hearth_indexed_section section;
    memcpy(&section, profile->data + profile->header.header_size + i * sizeof section, sizeof section);
    if (section.id != HEARTH_SECTION_PLAN)
      to->table[count++] = section;
  }
  if (plan)
    to->table[count++] = (hearth_indexed_section){.id = HEARTH_SECTION_PLAN, .count = 1, .size = plan_size};
  to->header.section_count = count;
  to->end = sizeof to->header + count * sizeof *to->table;
  for (uint32_t i = 0; i < count; i++) {
    hearth_indexed_section *section = &to->table[i];
    if (section->id == HEARTH_SECTION_CHECKSUMS) {
      to->checksums = section;
      continue;
    }
    memcpy(to->bytes + to->end, section->id == HEARTH_SECTION_PLAN ? plan : profile->data + section->offset,
           section->size);
    section->offset = to->end;
    to->end = align8(to->end + section->size);
  }
}

static void sign(image *to) {
  size_t blocks = (to->end + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE;
  uint64_t *sums = (uint64_t *)(to->bytes + to->end);
  *to->checksums =
      (hearth_indexed_section){HEARTH_SECTION_CHECKSUMS, (uint32_t)blocks, to->end, blocks * sizeof(uint64_t)};
  to->header.header_size = sizeof to->header;
  to->header.file_size = to->end + to->checksums->size;
  to->header.checksum = 0;
  memcpy(to->bytes, &to->header, sizeof to->header);
  to->header.checksum = XXH3_64bits(to->bytes, sizeof to->header + to->header.section_count * sizeof *to->table);
  memcpy(to->bytes, &to->header, sizeof to->header);
  for (size_t at = 0; at < to->end; at += HEARTH_BLOCK_SIZE)
    *sums++ = XXH3_64bits(to->bytes + at, to->end - at < HEARTH_BLOCK_SIZE ? to->end - at : HEARTH_BLOCK_SIZE);
}

static hearth_status rewrite(const hearth_profile *profile, const void *plan, size_t plan_size, void **ret,
                             size_t *ret_size, hearth_error *err) {
  image to = {.header = profile->header};
  size_t sections = sizeof to.header + (to.header.section_count + (size_t)1) * sizeof *to.table;
  size_t room = sections + align8(profile->size) + align8(plan_size);
  room += 8 * to.header.section_count; /* other writers may align sections less */
  room += (room / HEARTH_BLOCK_SIZE + 1) * sizeof(uint64_t);
  to.bytes = calloc(room, 1);
  if (!to.bytes)
    return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory planning");
  to.table = (hearth_indexed_section *)(to.bytes + sizeof to.header);
  copy_sections(&to, profile, plan, plan_size);
  sign(&to);
  *ret = to.bytes;
  *ret_size = to.header.file_size;
  return HEARTH_OK;
}

hearth_status hearth_plan_make(hearth_profile *profile, const hearth_plan_options *options, void **ret_data,
                               size_t *ret_size, hearth_error *err) {
  planner p = {.profile = profile, .err = err};
  void *plan = NULL;
  size_t plan_size = 0;
  if (options)
    p.options = *options;
  p.options.max_sites = p.options.max_sites ? p.options.max_sites : DEFAULT_SITES;
  p.options.min_gain_ppm = p.options.min_gain_ppm ? p.options.min_gain_ppm : DEFAULT_GAIN_PPM;
  hearth_status status = make_section(&p, &plan, &plan_size);
  if (status == HEARTH_OK)
    status = hearth_profile_check_blocks(profile, err); /* the new checksums are made of what was checked */
  if (status == HEARTH_OK)
    status = rewrite(profile, plan, plan_size, ret_data, ret_size, err);
  free(plan);
  release(&p);
  return status;
}
