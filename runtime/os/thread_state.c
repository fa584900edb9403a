/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread's state, and whether it can be used yet. */
#include "thread_state.h"

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_threads_known;
