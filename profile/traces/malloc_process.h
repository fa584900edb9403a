/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The numbers of a running program's allocator, read out of the program's memory while it runs. */
#ifndef HEARTH_MALLOC_PROCESS_H
#define HEARTH_MALLOC_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hearth/running_program.h"

typedef struct malloc_process {
  pid_t pid;
  struct hearth_malloc_status status;
} malloc_process;

/* Parts of the memory. */
enum { MALLOC_COLD, MALLOC_HOT, MALLOC_MAIN, MALLOC_PARTS };

typedef struct malloc_part {
#define MEMBER(name) uint64_t name;
  HEARTH_MALLOC_FIELDS(MEMBER)
  uint64_t huge_bytes; /* in memory, in huge pages */
} malloc_part;

/* A pool: of all threads. */
typedef struct malloc_pool {
  uint64_t live_blocks, live_bytes, placed;
} malloc_pool;

typedef struct malloc_sample {
  malloc_part part[MALLOC_PARTS];
  malloc_pool pool[HEARTH_MALLOC_STATUS_PLACEMENTS]; /* by placement; without large blocks */
  uint64_t passed_on;                                /* hinted requests for none of them, ever */
} malloc_sample;

/* Find the allocator's status in the process. Returns an exit code, after an error that it printed. */
int malloc_process_open(pid_t pid, malloc_process *ret);

/* The numbers now. HEARTH_EXIT_OK; *ret_ended if the process is no more; else an exit code after an error. */
int malloc_process_sample(const malloc_process *process, malloc_sample *ret, bool *ret_ended);

#endif
