/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's calls come here. They do the operations of blocks.h, and record each where a trace is written, which
 * only the preloaded runtime does. The test for a trace comes after the fast paths, which are not taken if there is
 * one. */
#ifndef HEARTH_RUNTIME_OPERATIONS_H
#define HEARTH_RUNTIME_OPERATIONS_H

#include "blocks.h"
#include "recorder.h"
#include "running_profile.h"

/* For the functions below only. */
void *hearth_operate_allocate_slowly(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame);
void hearth_operate_release_slowly(hearth_trace_kind kind, void *pointer, const char *function,
                                   const hearth_frame *frame);

void *hearth_operate_allocate_zeroed(size_t count, size_t size, const hearth_frame *frame);
void *hearth_operate_resize(void *pointer, size_t size, const hearth_frame *frame);

static inline void *hearth_operate_allocate(hearth_trace_kind kind, size_t size, size_t alignment,
                                            const hearth_frame *frame) {
  if (__builtin_expect(hearth_rt.path == HEARTH_PATH_RECORD, true))
    return hearth_allocate_as_recorded(size, alignment, frame);
  return hearth_rt.path == HEARTH_PATH_SAMPLE ? hearth_allocate_sampled(size, alignment, frame)
                                              : hearth_operate_allocate_slowly(kind, size, alignment, frame);
}

static inline void hearth_operate_release(hearth_trace_kind kind, void *pointer, const char *function,
                                          const hearth_frame *frame) {
  if (pointer && !hearth_release_fast(pointer, function))
    hearth_operate_release_slowly(kind, pointer, function, frame);
}

#endif
