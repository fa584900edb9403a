/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's own writes. Where a file may not become larger, or nobody reads a pipe, the system sends a signal
 * besides the error. The signal would end the program, so it is taken back. */
#ifndef HEARTH_RUNTIME_OWN_WRITES_H
#define HEARTH_RUNTIME_OWN_WRITES_H

#include "os.h"

#define HEARTH_WRITE_SIGNALS (UINT64_C(1) << (SIGXFSZ - 1) | UINT64_C(1) << (SIGPIPE - 1))

typedef struct hearth_own_writes {
  uint64_t blocked, pending; /* signals, before */
} hearth_own_writes;

/* The signals of `mask`, at least those that writes send, are blocked between the two. */
static inline hearth_own_writes hearth_own_writes_begin(uint64_t mask) {
  uint64_t blocked = hearth_os_block(mask | HEARTH_WRITE_SIGNALS);

  return (hearth_own_writes){blocked, hearth_os_pending()};
}

static inline void hearth_own_writes_end(hearth_own_writes before) {
  while (hearth_os_take_pending(HEARTH_WRITE_SIGNALS & ~before.pending))
    ;
  hearth_os_restore_signals(before.blocked);
}

#endif
