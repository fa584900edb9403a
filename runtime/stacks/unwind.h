/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks: by frame pointers where functions keep them, by call frame information where that says that they do not.
 * In a signal handler that interrupted the runtime it takes no lock, and goes without what the thread remembers. */
#ifndef HEARTH_RUNTIME_UNWIND_H
#define HEARTH_RUNTIME_UNWIND_H

#include "thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Forget what was remembered of code that is not mapped any more (hearth_mappings_close). */
void hearth_unwind_forget_closed(void);

/* Call frame information: the place of a function's caller, as compilers describe it for exceptions. It also covers
 * code without frame pointers. Read from a module's .eh_frame, by way of the table in its .eh_frame_hdr (Linux Standard
 * Base Core 5.0, chapter 10.6; DWARF 5, section 6.4; x86-64 only). */

/* Compilers for other processors keep frame pointers unless told otherwise, as those for 64-bit Arm do: the two words
 * that they link are not at a fixed place of a frame there, but all functions that call others have them. */
#if defined(__x86_64__)
#define HEARTH_CFI_IS_USED true
#else
#define HEARTH_CFI_IS_USED false
#endif

typedef enum hearth_cfi_kind {
  HEARTH_CFI_NONE,   /* there is no information, or it cannot be used here */
  HEARTH_CFI_RSP,    /* canonical frame address (CFA) = rsp + cfa */
  HEARTH_CFI_RBP,    /* CFA = rbp + cfa */
  HEARTH_CFI_LOADED, /* CFA = *(rbp + cfa), the caller's rbp = *rbp (GCC: aligned stacks) */
  HEARTH_CFI_ROOT,   /* the function has no caller */
} hearth_cfi_kind;

/* The return address lies below the CFA; the caller's rsp is the CFA. */
typedef struct hearth_cfi_rule {
  uint8_t kind; /* hearth_cfi_kind */
  bool known;   /* for tables of rules: false is no rule at all */
  int16_t rbp;  /* the caller's rbp lies at CFA + rbp; 0: it is still in rbp */
  int32_t cfa;  /* bytes */
} hearth_cfi_rule;

/* Copy `size` bytes at `address` to `to`. False: they cannot be read. */
typedef bool hearth_cfi_read(uintptr_t address, void *to, size_t size);

/* Where a module has its call frame information. */
typedef struct hearth_cfi_tables {
  uintptr_t header;      /* address of .eh_frame_hdr */
  uintptr_t low, high;   /* [low, high) is there as long as the process runs, and read as it lies there; may be empty */
  hearth_cfi_read *read; /* for all else */
} hearth_cfi_tables;

/* The rule for the instruction at `pc`, which lies in the module that has these tables. Whatever they hold, it reads
 * only the memory that they allow, and it ends. */
hearth_cfi_rule hearth_cfi_find(const hearth_cfi_tables *tables, uintptr_t pc);

#endif
