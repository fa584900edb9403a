/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table over one growing array of pairs. */
#include "pair_set.h"

void hearth_pair_set_destroy(hearth_pair_set *set) {
  free(set->pairs);
  free(set->table.slots);
  *set = (hearth_pair_set){0};
}

static bool equal(const void *owner, uint32_t item, const void *key) {
  const hearth_pair *x = &((const hearth_pair_set *)owner)->pairs[item], *y = key;
  return x->first == y->first && x->second == y->second;
}

static hearth_status reserve(hearth_pair_set *set, hearth_error *err) {
  if (set->count == UINT32_C(1) << 31)
    return hearth_error_set(err, HEARTH_E_FULL, "more than 2^31 different call chains");
  return id_table_reserve_row(&set->table, &set->pairs, &set->room, set->count, sizeof *set->pairs, err);
}

hearth_status hearth_pair_set_add(hearth_pair_set *set, hearth_pair pair, uint32_t *ret, hearth_error *err) {
  uint64_t hash = id_table_mix((uint64_t)pair.first << 32 | pair.second);
  *ret = id_table_find(&set->table, hash, equal, set, &pair);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(reserve(set, err));
  *ret = set->count++;
  set->pairs[*ret] = pair;
  id_table_insert(&set->table, hash, *ret);
  return HEARTH_OK;
}
