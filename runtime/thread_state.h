/* What the runtime knows of a thread. It lies in the program's static TLS block, so that reading it never allocates. */
#ifndef HEARTH_RUNTIME_THREAD_STATE_H
#define HEARTH_RUNTIME_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that stack frames may lie in; half open. */
typedef struct hearth_stack_range {
  uintptr_t low, high;
  bool lasting; /* a thread's own: readable as long as code runs on it; others may be unmapped in part any time */
} hearth_stack_range;

#define HEARTH_STACK_RANGES 2 /* the thread's own stack, and a signal stack or coroutine's */

typedef struct hearth_thread_state {
  bool in_runtime; /* the runtime is calling foreign code: what that allocates is not recorded */
  hearth_stack_range stacks[HEARTH_STACK_RANGES]; /* most recent first */
} hearth_thread_state;

extern _Thread_local hearth_thread_state hearth_this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
