/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code that adds to access counters: one 32-bit counter for each 16 bytes, at __hearth_counters + address / 16 * 4. A
 * thread of the runtime notices when they wrap around, so an addition is one instruction. In histogram mode, mapping and
 * symbols are those of clang -fmemory-profile (LLVM MemProf): one 8-bit counter, which stays at 255, for each 8 bytes, at
 * __memprof_shadow_memory_dynamic_address + address / 8. */
#ifndef HEARTH_COUNTER_H
#define HEARTH_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#define HEARTH_GRANULE 16 /* bytes of memory that one counter is for, outside histogram mode */
#define HEARTH_LINE    64 /* bytes of a block that profiles tell apart, from its start */

/* An addition of a number that is not known: what is too much for a counter is told to the runtime. */
typedef struct hearth_large_count {
  LLVMValueRef added;   /* the instruction that adds the part that is not too much */
  LLVMValueRef granule; /* i64: whose counter it is, address / 16 */
  LLVMValueRef rest;    /* i64: what has not been added */
  LLVMValueRef any;     /* i1: it is not 0 */
} hearth_large_count;

typedef struct hearth_counters {
  LLVMModuleRef module;
  LLVMBuilderRef builder; /* where it stands is where code goes */
  LLVMTypeRef i64, pointer, counter;
  bool atomic; /* no thread's addition is lost */
  bool histogram;
  bool stores;              /* of global_stores.h: 32 bits, at __hearth_stores, which stay at their greatest number */
  LLVMValueRef shadow_base; /* in the function that code goes to: number, loaded at its start ... */
  LLVMValueRef first;       /* ... and the same as a pointer to counters */
  hearth_large_count
      *large; /* of the function: the calls of the runtime are added when it is left, as they need branches */
  size_t n_large, large_capacity;
  bool no_memory;
} hearth_counters;

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic, bool histogram);
void hearth_counters_destroy(hearth_counters *counters);

/* Bytes of memory that a counter counts for. */
unsigned hearth_counters_granule(const hearth_counters *counters);

/* Code goes to this function from now on; at the end of it, leave it. Leaving makes new blocks: afterwards a flow of the
 * function must not be asked anything. */
void hearth_counters_enter(hearth_counters *counters, LLVMValueRef function);
void hearth_counters_leave(hearth_counters *counters);

/* Add `count` (i64) to the counter of `address` (i64). The second is for a count that is certainly below 2^24. */
void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count);
void hearth_counters_add_few(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count);
/* Add `weight` to the counters of `address`, `address` + `stride` ..., `count` of them; all i64. */
void hearth_counters_add_strided(hearth_counters *counters, LLVMValueRef address, LLVMValueRef stride,
                                 LLVMValueRef count, LLVMValueRef weight);
/* Add 1 for each 8 bytes of `size` (i64) bytes at `pointer`. */
void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size);

/* The function of that name, declared if it was not. */
LLVMValueRef hearth_counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type);

#endif
