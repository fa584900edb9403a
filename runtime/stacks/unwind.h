/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks: by frame pointers where functions keep them, by call frame information where that says that they do not.
 * In a signal handler that interrupted the runtime it takes no lock, and goes without what the thread remembers. */
#ifndef HEARTH_RUNTIME_UNWIND_H
#define HEARTH_RUNTIME_UNWIND_H

#include "cfi.h"
#include "depot.h"
#include "thread_state.h"

#include <stddef.h>

#define HEARTH_DEPTH_MOST 255

/* The words that a function's frame pointer points to. */
typedef struct hearth_frame {
  const struct hearth_frame *caller;
  uintptr_t return_address;
} hearth_frame;

/* The calling function's own frame. */
#define HEARTH_THIS_FRAME ((const hearth_frame *)__builtin_frame_address(0))

/* Note where the main thread's stack is; once. */
void hearth_unwind_begin(bool frame_pointers_only);

typedef struct hearth_stack_word {
  const uintptr_t *at;
  uintptr_t value;
} hearth_stack_word;

/* A place that a walk passed: a later walk that comes there goes on the same way, if the words that were found behind
 * it have not changed. */
typedef struct hearth_trail_place {
  uintptr_t sp, pc; /* sp 0: bp mattered there, and is not known any more */
  uintptr_t bp_at;  /* where bp has to be saved, with the value below; 0: it does not matter */
  uintptr_t bp;
} hearth_trail_place;

/* The known part of a stack that frame pointers do not link: the places of its outer frames, leaf first. */
typedef struct hearth_known_stack {
  const hearth_trail_place *places, *end;
} hearth_known_stack;

#define HEARTH_TRAIL_MOST  128
#define HEARTH_TRAIL_BLIND 0x80u /* a bit of an index: the place's sp is to be 0 */

/* The words that a call stack was found by: as long as they are the same, so is the stack. */
typedef struct hearth_trail {
  bool lasts; /* all is on the thread's own stack, which stays; and no signal handler interrupted the runtime */
  const hearth_trail_place *ends_at; /* the walk was ended where it came to this known place; NULL: it was not */
  size_t frame_count;                /* frames that were looked at, if frame pointers link them all; else 0 */
  size_t word_count;                 /* words that were used; more than there is room for are not kept */
  const hearth_stack_word *words;
  hearth_stack_word own[HEARTH_TRAIL_MOST];
  uint8_t return_words[HEARTH_DEPTH_MOST]; /* by address written: which word it is */
} hearth_trail;

/* The calling thread's stack that `frame` is on; empty if there is none. */
hearth_stack_range hearth_unwind_stack(const hearth_frame *frame);

/* Is the caller of the code at `pc`, an address as hearth_unwind writes them, found by the frame pointer wherever it is
 * called from, as long as the process runs? May wait for a lock. */
bool hearth_unwind_is_linked(uint64_t pc);

/* Write at most `most` addresses, leaf first: each lies inside the call instruction (return address minus 1). The first
 * is the address of the call to the function whose frame is given. It never reads memory that is not known to be a
 * stack. The stack ends where the next frame would lie elsewhere or below, and with the first function of the C
 * library's start code. It also ends where it comes to the known part, unless NULL: the return address of that
 * place is not written, and words behind are not in the trail. Returns how many
 * addresses were written. */
size_t hearth_unwind(const hearth_frame *frame, const hearth_known_stack *known, uint64_t *ret_pcs, size_t most,
                     hearth_trail *ret_trail);

/* A memory of the rules that find the callers of code addresses: reading call frame information costs microseconds, and
 * looking a rule up again costs two memory accesses. Lock-free, also in signal handlers that interrupt the runtime. */

/* Make room to remember rules; once. False: there are no rules for this processor, nor need of them, or no address
 * space. */
bool hearth_unwind_rules_create(void);

/* The rule of the code at `pc`, of the module that is loaded there. HEARTH_CFI_NONE: there is none that can be used. */
hearth_cfi_rule hearth_unwind_rules_find(uint64_t pc);

/* Forget the rules of code that is not mapped any more (hearth_mappings_close). */
void hearth_unwind_rules_forget_closed(void);

#endif
