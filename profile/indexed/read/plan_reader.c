/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the PLAN section: arrays of structs, used where they lie. Sites and tables are found by binary search. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/plan.h"
#include "reader_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* *ret_bits: of the sites, each of which has its own. */
static hearth_status check_sites(hearth_profile *profile, const hearth_plan *plan, uint64_t *ret_bits,
                                 hearth_error *err) {
  *ret_bits = 0;
  for (uint32_t i = 0; i < plan->site_count; i++) {
    const hearth_plan_site *site = &plan->sites[i];
    if (site->bit >= HEARTH_PLAN_SITES_MAX || *ret_bits >> site->bit & 1 || site->is_alone > 1 || site->reserved != 0 ||
        site->frame >= hearth_profile_frame_count(profile) || (i > 0 && site->stack_id <= site[-1].stack_id))
      return hearth_profile_corrupt(profile, err, "decision site %u is impossible", i);
    *ret_bits |= UINT64_C(1) << site->bit;
  }
  return HEARTH_OK;
}

/* A class, or an id that there is. */
static bool is_placement(const hearth_plan *plan, uint32_t placement) {
  return placement < HEARTH_PLACEMENT_POOL + plan->call_count || placement == HEARTH_PLACEMENT_DORMANT;
}

static hearth_status check_tables(hearth_profile *profile, const hearth_plan *plan, uint64_t bits, hearth_error *err) {
  for (uint32_t i = 0; i < plan->table_count; i++) {
    const hearth_plan_table *table = &plan->tables[i];
    bool is_good = table->reserved == 0 && table->frame < hearth_profile_frame_count(profile) &&
                   (i == 0 || table->stack_id > table[-1].stack_id) && (table->mask || table->bytes[1] == 0) &&
                   !(table->mask & ~bits);
    for (int set = 0; set < 2; set++)
      is_good &= is_placement(plan, table->placements[set]) && table->right_bytes[set] <= table->bytes[set];
    if (!is_good)
      return hearth_profile_corrupt(profile, err, "table %u of the plan is impossible", i);
  }
  return HEARTH_OK;
}

static hearth_status check_placements(hearth_profile *profile, const hearth_plan *plan, hearth_error *err) {
  if (plan->context_count != hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "the plan is of other contexts");
  for (uint32_t i = 0; i < plan->context_count; i++)
    if (!is_placement(plan, plan->placements[i]))
      return hearth_profile_corrupt(profile, err, "the plan has no call for context %u", i);
  return HEARTH_OK;
}

static hearth_status check_calls(hearth_profile *profile, const hearth_plan *plan, hearth_error *err) {
  for (uint32_t i = 0; i < plan->call_count; i++) {
    const hearth_plan_call *call = &plan->calls[i];
    if ((call->hotness != HEARTH_CLASS_NOTCOLD && call->hotness != HEARTH_CLASS_HOT) || call->reserved ||
        call->frame >= hearth_profile_frame_count(profile) || (i > 0 && call->weight > call[-1].weight))
      return hearth_profile_corrupt(profile, err, "call %u of the plan is impossible", i);
  }
  for (uint32_t i = 0; i <= HEARTH_POOLS_MAX; i++)
    if (plan->pools[i] > HEARTH_POOLS_MAX ||
        (plan->pools[i] && i >= plan->call_count && !(i == HEARTH_POOL_OF_DORMANT && plan->has_dormant)))
      return hearth_profile_corrupt(profile, err, "the layout has no such pool for id %u", i + 1);
  return HEARTH_OK;
}

static hearth_plan plan_at(const uint8_t *bytes, const hearth_indexed_plan *header) {
  const hearth_plan_site *sites = (const hearth_plan_site *)(bytes + sizeof *header);
  const hearth_plan_table *tables = (const hearth_plan_table *)(sites + header->site_count);
  const hearth_plan_call *calls = (const hearth_plan_call *)(tables + header->table_count);
  hearth_plan plan = {.id = header->id,
                      .sites = sites,
                      .tables = tables,
                      .calls = calls,
                      .placements = (const hearth_placement *)(calls + header->call_count),
                      .site_count = header->site_count,
                      .table_count = header->table_count,
                      .call_count = header->call_count,
                      .context_count = header->context_count,
                      .tuning = {.kind = (enum hearth_tuning)header->tuning,
                                 .rounds = header->rounds,
                                 .time_ppm = header->time_ppm,
                                 .memory_ppm = header->memory_ppm,
                                 .time_spread_ppm = header->time_spread_ppm,
                                 .memory_spread_ppm = header->memory_spread_ppm}};
  memcpy(plan.pools, header->pools, sizeof plan.pools);
  plan.has_dormant = header->context_count && memchr(plan.placements, HEARTH_PLACEMENT_DORMANT, header->context_count);
  return plan;
}

/* Bytes of the section, which cannot overflow: counts have 32 bits. */
static uint64_t plan_reader_size_of(const hearth_indexed_plan *header) {
  return sizeof *header + (uint64_t)header->site_count * sizeof(hearth_plan_site) +
         (uint64_t)header->table_count * sizeof(hearth_plan_table) +
         (uint64_t)header->call_count * sizeof(hearth_plan_call) + ((uint64_t)header->context_count + 7) / 8 * 8;
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
  HEARTH_TRY(hearth_profile_touch(profile, section->offset, section->size, &bytes, err));
  memcpy(&header, bytes, sizeof header);
  if (section->size != plan_reader_size_of(&header) || header.id == 0 || header.call_count > HEARTH_PLAN_CALLS_MAX ||
      header.tuning >= HEARTH_TUNINGS)
    return hearth_profile_corrupt(profile, err, "the plan has a wrong size or no id");
  hearth_plan plan = plan_at(bytes, &header);
  uint64_t bits;
  HEARTH_TRY(check_sites(profile, &plan, &bits, err));
  HEARTH_TRY(check_tables(profile, &plan, bits, err));
  HEARTH_TRY(check_placements(profile, &plan, err));
  HEARTH_TRY(check_calls(profile, &plan, err));
  *ret = plan;
  return HEARTH_OK;
}

const char *hearth_placement_name(hearth_placement placement) {
  static const char *const names[HEARTH_PLACEMENTS] = {
      "unknown", "cold",  "notcold", "hot",   "id 1",  "id 2",  "id 3",  "id 4",  "id 5",  "id 6",  "id 7",   "id 8",
      "id 9",    "id 10", "id 11",   "id 12", "id 13", "id 14", "id 15", "id 16", "id 17", "id 18", "id 19",  "id 20",
      "id 21",   "id 22", "id 23",   "id 24", "id 25", "id 26", "id 27", "id 28", "id 29", "id 30", "dormant"};
  return placement < HEARTH_PLACEMENTS ? names[placement] : names[0];
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

/* Layouts: the pool of each pool id, as a text, and in a profile that is otherwise left as it is. */

static const char digits[] = "0123456789abcdefghijklmnopqrstuv";

HEARTH_CHECK_LAYOUT(sizeof digits - 1 == HEARTH_POOLS_MAX + 1);

hearth_status hearth_layout_parse(const char *text, uint32_t call_count, bool has_dormant,
                                  uint8_t ret[HEARTH_POOLS_MAX + 1], hearth_error *err) {
  uint8_t pools[HEARTH_POOLS_MAX + 1] = {0};
  bool by_call = strcmp(text, "calls") == 0, is_named = by_call || strcmp(text, "one") == 0;
  for (uint32_t i = 0; by_call && i < call_count; i++)
    pools[i] = (uint8_t)(i + 1);
  if (is_named && has_dormant)
    pools[HEARTH_POOL_OF_DORMANT] = HEARTH_POOL_OF_DORMANT + 1;
  for (uint32_t i = 0; !is_named && (text[i] || i == 0); i++) {
    const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
    if (!digit || i >= HEARTH_POOLS_MAX)
      return hearth_error_set(err, HEARTH_E_USAGE,
                              "layout '%.64s': expected one, calls, or the pool of each id, 0 to 9 and a to v", text);
    pools[i] = (uint8_t)(digit - digits);
    if (pools[i] && i >= call_count && !(i == HEARTH_POOL_OF_DORMANT && has_dormant))
      return hearth_error_set(err, HEARTH_E_USAGE, "layout '%.64s': the plan has no id %u", text, i + 1);
  }
  memcpy(ret, pools, sizeof pools);
  return HEARTH_OK;
}

void hearth_layout_print(const uint8_t pools[HEARTH_POOLS_MAX + 1], char ret[HEARTH_POOLS_MAX + 1]) {
  uint32_t length = 1;
  for (uint32_t i = 0; i < HEARTH_POOLS_MAX; i++) {
    ret[i] = digits[pools[i]];
    length = pools[i] ? i + 1 : length;
  }
  ret[length] = '\0';
}

const char *hearth_tuning_name(enum hearth_tuning tuning) {
  static const char *const names[HEARTH_TUNINGS] = {"none", "time", "memory"};
  return (unsigned)tuning < HEARTH_TUNINGS ? names[tuning] : names[0];
}

static void seal(const hearth_profile *profile, uint8_t *data) {
  const hearth_indexed_section *checksums = hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS);
  for (uint64_t at = 0, i = 0; at < checksums->offset; at += HEARTH_BLOCK_SIZE, i++) {
    uint64_t left = checksums->offset - at, size = left < HEARTH_BLOCK_SIZE ? left : HEARTH_BLOCK_SIZE;
    uint64_t sum = XXH3_64bits(data + at, size);
    memcpy(data + checksums->offset + 8 * i, &sum, sizeof sum);
  }
}

hearth_status hearth_plan_set_layout(hearth_profile *profile, const char *layout, const hearth_plan_tuning *tuning,
                                     void **ret_data, size_t *ret_size, hearth_error *err) {
  static const hearth_plan_tuning given = {.kind = HEARTH_TUNING_NONE};
  const hearth_plan_tuning *t = tuning ? tuning : &given;
  hearth_indexed_plan header;
  hearth_plan plan;
  uint8_t *data;
  HEARTH_TRY(hearth_profile_check(profile, err)); /* the new checksums would hide damage */
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  if (!plan.id)
    return hearth_error_set(err, HEARTH_E_EMPTY, "%s: has no plan: make one by 'hearth merge'", profile->name);
  uint64_t at = hearth_profile_section(profile, HEARTH_SECTION_PLAN)->offset;
  memcpy(&header, profile->data + at, sizeof header);
  HEARTH_TRY(hearth_layout_parse(layout, plan.call_count, plan.has_dormant, header.pools, err));
  header.tuning = t->kind;
  header.rounds = t->rounds;
  header.time_ppm = t->time_ppm;
  header.memory_ppm = t->memory_ppm;
  header.time_spread_ppm = t->time_spread_ppm;
  header.memory_spread_ppm = t->memory_spread_ppm;
  HEARTH_TRY(hearth_array_create(&data, profile->size, 1, err));
  memcpy(data, profile->data, profile->size);
  memcpy(data + at, &header, sizeof header);
  seal(profile, data);
  *ret_data = data;
  *ret_size = profile->size;
  return HEARTH_OK;
}
