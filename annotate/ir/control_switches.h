/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls at which control goes elsewhere, or comes back from elsewhere, than calls and returns do: past decision calls whose bits
 * were to be cleared, or into another coroutine, whose bits are others.
 *
 *   saved = load word
 *   setjmp(...)                     ; returns once more, from wherever longjmp was called
 *   store saved, word
 *
 * A context that control is given to has its own bits: it sets them itself, behind the call by which it once gave control
 * away. If that is in code without a plan, or there was none, it has no bits:
 *
 *   saved = load word
 *   store saved & lasting, word
 *   swapcontext(...)
 *   store saved, word
 *
 * Before longjmp the word is cleared in the same way: setjmp may have been called by a library that knows of no
 * plan. */
#ifndef HEARTH_CONTROL_SWITCHES_H
#define HEARTH_CONTROL_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

typedef enum hearth_switch {
  HEARTH_SWITCH_NONE,
  HEARTH_SWITCH_RETURNS_TWICE, /* setjmp, getcontext, vfork */
  HEARTH_SWITCH_LEAVES,        /* swapcontext, setcontext, longjmp */
} hearth_switch;

/* The kind of call that an instruction is. */
hearth_switch hearth_switch_of(LLVMValueRef instruction);

/* Have the call keep the word (an i64 in memory). `lasting`: bits that control takes along wherever it goes. */
void hearth_switch_keep_word(LLVMValueRef call, hearth_switch kind, LLVMValueRef word, uint64_t lasting);

#endif
