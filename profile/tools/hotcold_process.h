/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The numbers of a running program's allocator adapter, read out of the program's memory while it runs. */
#ifndef HEARTH_HOTCOLD_PROCESS_H
#define HEARTH_HOTCOLD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hearth/hotcold_status.h"

typedef struct hotcold_process {
  pid_t pid;
  struct hearth_hotcold_status status;
} hotcold_process;

/* One range. */
typedef struct hotcold_range {
  bool is_on;
#define HEARTH_HOTCOLD_FIELD(name, description) uint64_t name;
#include "hearth/hotcold_fields.def"
} hotcold_range;

/* One pool; the cold range is one, too. */
typedef struct hotcold_pool {
  uint64_t live_blocks, live_bytes, placed;
} hotcold_pool;

typedef struct hotcold_sample {
  hotcold_range range[HEARTH_HOTCOLD_STATUS_RANGES];    /* cold, hot */
  uint64_t touched_bytes[HEARTH_HOTCOLD_STATUS_RANGES]; /* bytes of pages that were touched since they were forgotten */
  hotcold_pool pool[HEARTH_HOTCOLD_STATUS_POOLS];
  uint64_t passed_on; /* hinted requests of neither range, ever */
} hotcold_sample;

/* Find the adapter's status in the process. Returns an exit code, after an error that it printed. */
int hotcold_process_open(pid_t pid, hotcold_process *ret);

/* Forget which pages of the process were touched so far, as the system notes it for itself. Returns an exit code, after an error
 * that it printed; HEARTH_EXIT_OK also if the process is no more. */
int hotcold_process_forget_touched(const hotcold_process *process);

/* The numbers now. HEARTH_EXIT_OK; *ret_ended if the process is no more; else an exit code after an error. */
int hotcold_process_sample(const hotcold_process *process, hotcold_sample *ret, bool *ret_ended);

#endif
