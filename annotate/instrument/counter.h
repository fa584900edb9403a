/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code that adds to access counters. Mapping and symbols are those of clang -fmemory-profile (LLVM MemProf): one 64-bit
 * counter for each 64 bytes, at __memprof_shadow_memory_dynamic_address + address / 64 * 8; in histogram mode one 8-bit
 * counter, which stays at 255, for each 8 bytes, at __memprof_shadow_memory_dynamic_address + address / 8. */
#ifndef HEARTH_COUNTER_H
#define HEARTH_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#define HEARTH_GRANULE 64 /* bytes of memory that one counter is for, outside histogram mode */

typedef struct hearth_counters {
  LLVMModuleRef module;
  LLVMBuilderRef builder; /* where it stands is where code goes */
  LLVMTypeRef i64, pointer, counter;
  bool atomic; /* no thread's addition is lost */
  bool histogram;
  bool bursts;              /* only little of the function's code counts: the base is loaded there */
  LLVMValueRef shadow_base; /* in the function that code goes to: number, loaded at its start ... */
  LLVMValueRef first;       /* ... and the same as a pointer to counters */
} hearth_counters;

hearth_counters hearth_counters_create(LLVMModuleRef module, bool atomic, bool histogram);
void hearth_counters_destroy(hearth_counters *counters);

/* Bytes of memory that a counter counts for. */
unsigned hearth_counters_granule(const hearth_counters *counters);

/* Code goes to this function from now on; at the end of it, leave it. */
void hearth_counters_enter(hearth_counters *counters, LLVMValueRef function);
void hearth_counters_leave(hearth_counters *counters);

/* Add `count` (i64) to the counter of `address` (i64). */
void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, LLVMValueRef count);
/* Add `weight` to the counters of `address`, `address` + `stride` ..., `count` of them; all i64. */
void hearth_counters_add_strided(hearth_counters *counters, LLVMValueRef address, LLVMValueRef stride,
                                 LLVMValueRef count, LLVMValueRef weight);
/* Add 1 for each 8 bytes of `size` (i64) bytes at `pointer`. */
void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size);

/* The function of that name, declared if it was not. */
LLVMValueRef hearth_counters_declare(hearth_counters *counters, const char *name, LLVMTypeRef type);

#endif
