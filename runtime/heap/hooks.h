/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls from the heap up into process/, which sets them at the start. */
#ifndef HEARTH_RUNTIME_HOOKS_H
#define HEARTH_RUNTIME_HOOKS_H

#include "lock.h"

#include <stdint.h>

typedef struct hearth_heap_hooks {
  /* Write the dumps, snapshots and spilled records that are due now, in ns since the start. Outside of critical sections. */
  void (*dump_due)(uint64_t now_ns);

  /* In a forked child, forget its parent's records, before anything is recorded; other libraries' fork handlers may
   * allocate before the runtime's own. Does nothing at other times. */
  void (*watch_child)(void);
} hearth_heap_hooks;

/* Until the start, both do nothing. */
extern hearth_heap_hooks hearth_hooks __attribute__((visibility("hidden")));

static inline void hearth_watch_forks(void) {
  if (hearth_this_thread_forks())
    hearth_hooks.watch_child();
}

#endif
