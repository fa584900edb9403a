/* Call stacks: by frame pointers where functions keep them, by call frame information where that says that they do not
 * (unwind_rules.h). */
#ifndef HEARTH_RUNTIME_UNWIND_H
#define HEARTH_RUNTIME_UNWIND_H

#include <stdbool.h>
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
void hearth_unwind_begin(bool frame_pointers_only);

#define HEARTH_TRAIL_MOST 64

typedef struct hearth_stack_word {
  const uintptr_t *at;
  uintptr_t value;
} hearth_stack_word;

/* What a call stack was found by: as long as this is the same, so is the stack. */
typedef struct hearth_trail {
  bool lasts;         /* all is on the thread's own stack, which stays; and no signal handler interrupted the runtime */
  size_t frame_count; /* frames that were looked at, if frame pointers link them all; else 0 */
  size_t word_count;  /* words that were used; more than there is room for are not kept */
  hearth_stack_word words[HEARTH_TRAIL_MOST];
} hearth_trail;

/* Write at most `most` addresses, leaf first: each lies inside the call instruction (return address minus 1). The first
 * is that of the call to the function whose frame is given. Never reads memory that is not known to be a stack; where the
 * next frame would lie elsewhere or below, the stack ends, as it does with the first function of the C library's start
 * code. Returns how many addresses were written. */
size_t hearth_unwind(const hearth_frame *frame, uint64_t *ret_pcs, size_t most, hearth_trail *ret_trail);

/* Keep each cycle of a recursion once, as hearth_builder_fold_recursion does: where an address occurs again further from
 * the root, what lies between is left out. pcs[0..depth), leaf first, is changed in place. Returns the new depth. */
size_t hearth_fold_recursion(uint64_t *pcs, size_t depth);

#endif
