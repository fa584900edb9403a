/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs of the user's own command under a layout of the allocator's, measured. */
#ifndef HEARTH_TUNE_RUN_H
#define HEARTH_TUNE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "hearth/plan.h"

/* Figures of the command and all processes that it waited for. */
typedef struct tune_measurement {
  double cpu_s, elapsed_s; /* user and system; from start to end */
  uint64_t peak_bytes;     /* resident, of the largest process */
  int status;              /* exit status; 128 + the number of the signal that ended it */
} tune_measurement;

typedef struct tune_command {
  char **argv;         /* ends with NULL; borrowed */
  const char *options; /* the user's HEARTH_MALLOC; NULL: none */
  off_t input; /* where standard input begins, if that is a file, which each run reads anew; -1: runs have none */
  uint64_t peak_bytes; /* the most of all runs so far */
} tune_command;

void hearth_tune_command_init(tune_command *ret, char **argv);

/* Its standard output is thrown away. `statistics`: a file to which the allocator appends; NULL: none. E_IO: it could not be run.
 *
 * As much memory as it took at most is written to before: the host of a virtual machine may have taken back what was free, and
 * getting a page again takes up to twenty times as long as clearing it. */
hearth_status hearth_tune_run(tune_command *command, const uint8_t pools[HEARTH_POOLS_MAX + 1], const char *statistics,
                              tune_measurement *ret, hearth_error *err);

/* What the allocator of the processes of a run wrote. */
typedef struct tune_statistics {
  uint32_t processes;  /* that have the allocator */
  uint32_t pools;      /* a bit for each pool, 1 to 31, that got a block in a process with the plan */
  uint64_t other_plan; /* of a process that has pools by another plan; 0: there is none */
} tune_statistics;

/* E_IO. */
hearth_status hearth_tune_statistics_read(const char *path, uint64_t plan, tune_statistics *ret, hearth_error *err);

#endif
