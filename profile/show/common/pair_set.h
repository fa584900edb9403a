/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers for pairs of numbers: equal pairs get equal ones, from 0 in order of first use. Chains of any kind are pairs
 * of (element, rest of the chain). */
#ifndef HEARTH_PAIR_SET_H
#define HEARTH_PAIR_SET_H

#include "hearth/status.h"
#include "id_table.h"

typedef struct hearth_pair {
  uint32_t first, second;
} hearth_pair;

/* All zero is the empty set. */
typedef struct hearth_pair_set {
  hearth_pair *pairs;
  uint32_t count;
  size_t room;
  id_table table;
} hearth_pair_set;

void hearth_pair_set_destroy(hearth_pair_set *set);
/* E_NOMEM; E_FULL beyond 2^31 pairs. */
hearth_status hearth_pair_set_add(hearth_pair_set *set, hearth_pair pair, uint32_t *ret, hearth_error *err);

#endif
