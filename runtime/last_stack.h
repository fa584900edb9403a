/* The call stack that a thread captured last. The next one mostly differs from it in a few calls at the leaf: the frames
 * from the root on are compared with copies, which needs no load to wait for the one before it, and only what is new is
 * unwound and folded. */
#ifndef HEARTH_RUNTIME_LAST_STACK_H
#define HEARTH_RUNTIME_LAST_STACK_H

#include "fold.h"
#include "thread_state.h"

typedef struct hearth_known_frame {
  const hearth_frame *at;
  hearth_frame copy;
} hearth_known_frame;

/* Leaf first, at the ends of the arrays: the root's place stays the same. */
typedef struct hearth_last_stack {
  size_t count;             /* of frames, all of which frame pointers link; 0: none are known */
  hearth_stack_range range; /* that they are on, or would be */
  hearth_known_frame frames[HEARTH_DEPTH_MOST];
  uint64_t pcs[HEARTH_DEPTH_MOST];
  hearth_fold_tops tops;
} hearth_last_stack;

/* Forget frames that are no longer as they were. The stack that begins with `frame` is the last one's from the frame that is
 * returned on, if frame pointers lead there; NULL: none is left. Reads nothing but what lies on the calling thread's own
 * stack, which it is in use from `frame` on. */
const hearth_frame *hearth_last_stack_keep(hearth_last_stack *last, const hearth_frame *frame);

/* After hearth_last_stack_keep: make the stack that begins with `frame` the last one, of at most `most` addresses: pcs[0..depth) is what hearth_unwind
 * found up to what was kept, or all; the trail becomes that of the whole. False: it is too deep, or not linked by frame
 * pointers alone, or does not last; then nothing changes. */
bool hearth_last_stack_set(hearth_last_stack *last, const hearth_frame *frame, const uint64_t *pcs, size_t depth,
                           size_t most, hearth_trail *trail);

/* Write the addresses of the last stack, folded or not. Returns how many: at most HEARTH_DEPTH_MOST. */
size_t hearth_last_stack_copy(const hearth_last_stack *last, bool folded, uint64_t *ret_pcs);

#endif
