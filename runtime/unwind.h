/* Call stacks: by frame pointers where functions keep them, by call frame information where that says that they do not
 * (unwind_rules.h). */
#ifndef HEARTH_RUNTIME_UNWIND_H
#define HEARTH_RUNTIME_UNWIND_H

#include "cfi.h"
#include "thread_state.h"

#include <stddef.h>

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
  bool ends_at_known; /* the walk was ended where frame pointers led to the known frame; they led to all before it */
  size_t frame_count; /* frames that were looked at, if frame pointers link them all; else 0 */
  size_t word_count;  /* words that were used; more than there is room for are not kept */
  hearth_stack_word words[HEARTH_TRAIL_MOST];
} hearth_trail;

/* Rules of code addresses, each where the frame is on the stack: outer frames stay where they are from one walk to the next.
 * All zero at first. */
#define HEARTH_RULE_MEMO_ROWS 512 /* for 16 bytes of stack each */

typedef struct hearth_rule_memo {
  struct {
    uint64_t pc; /* 0: none */
    hearth_cfi_rule rule;
  } rows[HEARTH_RULE_MEMO_ROWS];
} hearth_rule_memo;

/* The calling thread's stack that `frame` is on; empty if there is none. */
hearth_stack_range hearth_unwind_stack(const hearth_frame *frame);

/* Write at most `most` addresses, leaf first: each lies inside the call instruction (return address minus 1). The first
 * is that of the call to the function whose frame is given. Never reads memory that is not known to be a stack; where the
 * next frame would lie elsewhere or below, the stack ends, as it does with the first function of the C library's start
 * code; and at the frame `known`, unless NULL, if frame pointers lead there on a stack that lasts: its return address is
 * not written. `memo`, unless NULL, makes it faster. Returns how many addresses were written. */
size_t hearth_unwind(const hearth_frame *frame, const hearth_frame *known, hearth_rule_memo *memo, uint64_t *ret_pcs,
                     size_t most, hearth_trail *ret_trail);

#endif
