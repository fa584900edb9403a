/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Layouts: the pool of each pool id, as a text, and in a profile that is otherwise left as it is. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "hearth/plan.h"
#include "reader_internal.h"

static const char digits[] = "0123456789abcdefghijklmnopqrstuv";

HEARTH_CHECK_LAYOUT(sizeof digits - 1 == HEARTH_POOLS_MAX + 1);

hearth_status hearth_layout_parse(const char *text, uint32_t id_count, uint8_t ret[HEARTH_POOLS_MAX + 1],
                                  hearth_error *err) {
  uint8_t pools[HEARTH_POOLS_MAX + 1] = {0};
  bool by_call = strcmp(text, "calls") == 0;
  for (uint32_t i = 0; by_call && i < id_count; i++)
    pools[i] = (uint8_t)(i + 1);
  for (uint32_t i = 0; !by_call && strcmp(text, "one") != 0 && (text[i] || i == 0); i++) {
    const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
    if (!digit || i >= HEARTH_POOLS_MAX)
      return hearth_error_set(err, HEARTH_E_USAGE,
                              "layout '%.64s': expected one, calls, or the pool of each id, 0 to 9 and a to v", text);
    pools[i] = (uint8_t)(digit - digits);
    if (pools[i] && i >= id_count)
      return hearth_error_set(err, HEARTH_E_USAGE, "layout '%.64s': the plan has no id above %u", text, id_count);
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
  HEARTH_TRY(hearth_profile_verify(profile, err)); /* the new checksums would hide damage */
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  if (!plan.id)
    return hearth_error_set(err, HEARTH_E_EMPTY, "%s: has no plan: make one by 'hearth plan'", profile->name);
  uint64_t at = hearth_profile_section(profile, HEARTH_SECTION_PLAN)->offset;
  memcpy(&header, profile->data + at, sizeof header);
  HEARTH_TRY(hearth_layout_parse(layout, plan.call_count, header.pools, err));
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
