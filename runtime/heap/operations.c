/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operations of blocks.h, or those of a trace. Compiled with blocks.c; not inlined, so that malloc and free stay short. */
#include "operations.h"

static inline bool is_tracing(void) { return __builtin_expect(hearth_rt.path == HEARTH_PATH_TRACE, false); }

__attribute__((noinline)) void *hearth_operate_allocate_slowly(hearth_trace_kind kind, size_t size, size_t alignment,
                                                               const hearth_frame *frame) {
  return is_tracing() ? hearth_recorder->allocate(kind, size, alignment, frame)
                      : hearth_allocate_slowly(size, alignment, frame);
}

__attribute__((noinline)) void hearth_operate_release_slowly(hearth_trace_kind kind, void *pointer,
                                                             const char *function, const hearth_frame *frame) {
  if (is_tracing())
    hearth_recorder->release(kind, pointer, function, frame);
  else
    hearth_release_slowly(pointer, function);
}

inline void *hearth_operate_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  return is_tracing() ? hearth_recorder->allocate_zeroed(count, size, frame)
                      : hearth_allocate_zeroed(count, size, frame);
}

inline void *hearth_operate_resize(void *pointer, size_t size, const hearth_frame *frame) {
  return is_tracing() ? hearth_recorder->resize(pointer, size, frame) : hearth_resize(pointer, size, frame);
}
