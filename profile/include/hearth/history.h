/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many bytes were live in each part of the run, in all and in the contexts that held most. Of several runs, sums. */
#ifndef HEARTH_HISTORY_H
#define HEARTH_HISTORY_H

#include "hearth/profile.h"
#include "hearth/raw.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_history_row {
  uint32_t context;
  uint64_t levels[HEARTH_RAW_POINTS];
} hearth_history_row;

typedef struct hearth_heap_history {
  uint64_t runs;     /* whose history is known; 0: there is none */
  uint64_t peak_ppm; /* when most was live, in millionths of the run: the sum over these runs */
  uint64_t levels[HEARTH_RAW_POINTS];
  size_t count; /* rows, by ascending context */
  hearth_history_row *rows;
} hearth_heap_history;

/* E_CORRUPT, E_NOMEM; nothing is to be freed then. */
hearth_status hearth_profile_get_history(hearth_profile *profile, hearth_heap_history *ret, hearth_error *err);
void hearth_heap_history_free(hearth_heap_history *history);

#ifdef __cplusplus
}
#endif
#endif
