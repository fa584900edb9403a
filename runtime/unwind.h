/* Call stacks by frame pointers: every function of interest keeps %rbp (-fno-omit-frame-pointer). */
#ifndef HEARTH_RUNTIME_UNWIND_H
#define HEARTH_RUNTIME_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#define HEARTH_DEPTH_MOST 255

/* What a function's frame pointer points to. */
typedef struct hearth_frame {
  const struct hearth_frame *caller;
  uintptr_t return_address;
} hearth_frame;

/* The calling function's own frame. */
#define HEARTH_THIS_FRAME ((const hearth_frame *)__builtin_frame_address(0))

/* Note where the main thread's stack is; to be called by the main thread, once. */
void hearth_unwind_begin(void);

/* Write at most `most` addresses, leaf first: each lies inside the call instruction (return address minus 1). The first
 * is that of the call to the function whose frame is given. Never reads memory that is not known to be a stack; where a
 * frame pointer leads elsewhere or downwards, the stack ends. *ret_looked_at: frames that were looked at, one more than
 * there are addresses if it is that one which ended the stack; 0 unless all are on the thread's own stack and the caller
 * is no signal handler that interrupted the runtime. Returns how many addresses were written. Early. */
size_t hearth_unwind(const hearth_frame *frame, uint64_t *ret_pcs, size_t most, size_t *ret_looked_at);

/* Keep each cycle of a recursion once, as hearth_builder_fold_recursion does: where an address occurs again further from
 * the root, what lies between is left out. pcs[0..depth), leaf first, is changed in place. Returns the new depth. */
size_t hearth_fold_recursion(uint64_t *pcs, size_t depth);

#endif
