/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Dynamic programming over a table of n x m sums: from the end to the start for one alignment; a second time from the
 * start, with one row kept, to list for each item all partners that it has in some alignment of the greatest sum. */
#include "alignment.h"

#include <stdlib.h>

/* [i * (m + 1) + k]: the greatest sum of the rest from i and k on; NULL if it cannot be had. */
static uint32_t *sums_behind(size_t n, size_t m, hearth_likeness likeness, void *data) {
  size_t width = m + 1;
  if (m && n > HEARTH_ALIGNMENT_LIMIT / m)
    return NULL;
  uint32_t *best = calloc((n + 1) * width, sizeof *best);
  for (size_t i = n; best && i-- > 0;)
    for (size_t k = m; k-- > 0;) {
      uint32_t *here = &best[i * width + k], alike = likeness(i, k, data);
      *here = here[width] > here[1] ? here[width] : here[1];
      if (alike && alike + here[width + 1] > *here)
        *here = alike + here[width + 1];
    }
  return best;
}

bool hearth_align(size_t n, size_t m, hearth_likeness likeness, void *data, size_t *ret) {
  size_t width = m + 1;
  uint32_t *best = sums_behind(n, m, likeness, data);
  if (!best)
    return false;
  for (size_t i = 0, k = 0; i < n;) {
    const uint32_t *here = &best[i * width + k];
    uint32_t alike = k < m ? likeness(i, k, data) : 0;
    ret[i] = HEARTH_UNALIGNED;
    if (alike && *here == alike + here[width + 1])
      ret[i++] = k++;
    else if (k < m && *here == here[1])
      k++;
    else
      i++;
  }
  free(best);
  return true;
}

static void add_choice(hearth_choice *choice, size_t item) {
  choice->first = item < choice->first ? item : choice->first;
  choice->last = choice->first > choice->last || item > choice->last ? item : choice->last;
}

static void clear_choices(hearth_choice *choices, size_t n) {
  for (size_t i = 0; i < n; i++)
    choices[i] = (hearth_choice){SIZE_MAX, 0, false};
}

/* The sum of the items before i and k grows as `before` goes down the rows: it holds row i, then row i + 1. */
bool hearth_align_choices(size_t n, size_t m, hearth_likeness likeness, void *data, hearth_choice *ret_of_n,
                          hearth_choice *ret_of_m) {
  size_t width = m + 1;
  uint32_t *behind = sums_behind(n, m, likeness, data), *before = calloc(2 * width, sizeof *before);
  bool done = behind && before;
  clear_choices(ret_of_n, done ? n : 0);
  clear_choices(ret_of_m, done ? m : 0);
  for (size_t i = 0; done && i <= n; i++) {
    uint32_t *here = before + (i & 1) * width, *next = before + (~i & 1) * width;
    const uint32_t *rest = behind + i * width;
    next[0] = 0;
    for (size_t k = 0; k <= m; k++) {
      if (i < n && here[k] + rest[width + k] == behind[0])
        ret_of_n[i].may_be_none = true;
      if (k < m && here[k] + rest[k + 1] == behind[0])
        ret_of_m[k].may_be_none = true;
      if (i == n || k == m)
        continue;
      uint32_t alike = likeness(i, k, data);
      if (alike && here[k] + alike + rest[width + k + 1] == behind[0]) {
        add_choice(&ret_of_n[i], k);
        add_choice(&ret_of_m[k], i);
      }
      next[k + 1] = here[k + 1] > next[k] ? here[k + 1] : next[k];
      if (alike && here[k] + alike > next[k + 1])
        next[k + 1] = here[k] + alike;
    }
  }
  free(before);
  free(behind);
  return done;
}
