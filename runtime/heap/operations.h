/* What the program's calls come to: the operations of blocks.h, and a record of each where a trace is written, which only
 * the preloaded runtime does. */
#ifndef HEARTH_RUNTIME_OPERATIONS_H
#define HEARTH_RUNTIME_OPERATIONS_H

#include "blocks.h"
#include "recorder.h"
#include "running_profile.h"

static inline bool hearth_is_tracing(void) { return __builtin_expect(hearth_rt.path == HEARTH_PATH_TRACE, false); }

static inline void *hearth_operate_allocate(hearth_trace_kind kind, size_t size, size_t alignment,
                                            const hearth_frame *frame) {
  return hearth_is_tracing() ? hearth_recorder->allocate(kind, size, alignment, frame)
                             : hearth_allocate(size, alignment, frame);
}

static inline void *hearth_operate_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame) {
  return hearth_is_tracing() ? hearth_recorder->allocate_zeroed(count, size, frame)
                             : hearth_allocate_zeroed(count, size, frame);
}

static inline void *hearth_operate_resize(void *pointer, size_t size, const hearth_frame *frame) {
  return hearth_is_tracing() ? hearth_recorder->resize(pointer, size, frame) : hearth_resize(pointer, size, frame);
}

static inline void hearth_operate_release(hearth_trace_kind kind, void *pointer, const char *function,
                                          const hearth_frame *frame) {
  if (hearth_is_tracing())
    hearth_recorder->release(kind, pointer, function, frame);
  else
    hearth_release(pointer, function);
}

#endif
