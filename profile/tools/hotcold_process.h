/* What a running program's allocator adapter says, read out of its memory while it runs. */
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

/* One range. Blocks that lie in threads' caches do not count as live. */
typedef struct hotcold_range {
  bool is_on;
  uint64_t blocks, bytes;                          /* live now */
  uint64_t committed_bytes;                        /* in use or kept for reuse */
  uint64_t resident_bytes, huge_bytes, swap_bytes; /* as /proc/PID/smaps has them */
  uint64_t placed;                                 /* hinted requests served, ever */
  uint64_t fallbacks;                              /* and those that went elsewhere */
} hotcold_range;

typedef struct hotcold_sample {
  hotcold_range range[HEARTH_HOTCOLD_STATUS_RANGES]; /* cold, hot */
  uint64_t passed_on;                                /* hinted requests of neither range, ever */
} hotcold_sample;

/* Find the adapter's status in the process. Returns an exit code, after an error that it printed. */
int hotcold_process_open(pid_t pid, hotcold_process *ret);

/* The numbers now. HEARTH_EXIT_OK; *ret_ended if the process is no more; else an exit code after an error. */
int hotcold_process_sample(const hotcold_process *process, hotcold_sample *ret, bool *ret_ended);

#endif
