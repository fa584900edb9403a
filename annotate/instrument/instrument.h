/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of this folder share, in the order of the work: code that adds to counters; the accesses of a
 * function, and those of library functions that it calls; global variables; tail calls.
 *
 *   function -> hearth_accesses -> fewer additions (hearth_coalesce_neighbours) -> hearth_counters_add */
#ifndef HEARTH_INSTRUMENT_H
#define HEARTH_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "hearth/status.h"
#include "passes.h"

/* ------------------------------------------------ counters ------------------------------------------------ */

/* Code that adds to access counters: one 32-bit counter for each 16 bytes, at __hearth_counters + address / 16 * 4.
 * A thread of the runtime notices when they wrap around, so an addition is one instruction. In histogram mode,
 * mapping and symbols are those of clang -fmemory-profile (LLVM MemProf): one 8-bit counter, which stays at 255, for
 * each 8 bytes, at __memprof_shadow_memory_dynamic_address + address / 8. */

#define HEARTH_GRANULE 16 /* bytes of memory that one counter is for, outside histogram mode */
#define HEARTH_LINE    64 /* bytes of a block that profiles tell apart, from its start */

typedef struct hearth_counters {
  LLVMModuleRef module;
  LLVMBuilderRef builder; /* where it stands is where code goes */
  LLVMTypeRef i64, pointer, counter;
  bool atomic; /* no thread's addition is lost */
  bool histogram;
  bool stores;              /* of stores to globals: 32 bits, at __hearth_stores, which stay at their greatest number */
  LLVMValueRef shadow_base; /* in the function that code goes to: number, loaded at its start ... */
  LLVMValueRef first;       /* ... and the same as a pointer to counters */
} hearth_counters;

/* Code goes to this function from now on; at the end of it, leave it. */
void hearth_counters_enter(hearth_counters *counters, LLVMValueRef function);
void hearth_counters_leave(hearth_counters *counters);

/* Add `count`, which is below 256, to the counter of `address` (i64). */
void hearth_counters_add(hearth_counters *counters, LLVMValueRef address, uint64_t count);
/* Add 1 for each 8 bytes of `size` (i64) bytes at `pointer`. */
void hearth_counters_add_range(hearth_counters *counters, LLVMValueRef pointer, LLVMValueRef size);

/* Call a function of the runtime with pointers, which become plain ones in `values`, and numbers: at most 4. */
void hearth_counters_call(hearth_counters *counters, const char *name, LLVMValueRef *values, unsigned n);

/* ------------------------------------------------ accesses ------------------------------------------------ */

/* The memory accesses of a function that are to be counted, and how fewer additions count them. */

/* One access, counted before the instruction that makes it. */
typedef struct hearth_access {
  LLVMValueRef instruction;
  LLVMBasicBlockRef block;
  LLVMValueRef pointer;
  int64_t displacement; /* bytes from the pointer to the accessed memory */
  uint64_t weight;      /* its count; 0: counted together with another one */
  uint32_t alignment;   /* of the address, in bytes */
  /* The address again: constant offsets apart from the rest. */
  LLVMValueRef base;
  int64_t offset;
  /* Accesses of one object and place have one counter. Where granules are to be exact, these are base and offset. Else
   * the object is the pointer that the base is computed from, which lies in the same block. The place is then a line of
   * a block that starts at the object, as if all its variable indices were 0. */
  LLVMValueRef object;
  int64_t place;
  uint32_t interruptions; /* before it in its basic block (hearth_flow_interrupts) */
} hearth_access;

typedef struct hearth_accesses {
  hearth_access *items; /* in the order of blocks and instructions */
  size_t count, capacity;
  LLVMValueRef *calls; /* that are left to count: memory intrinsics, library functions */
  size_t n_calls, calls_capacity;
} hearth_accesses;

/* Collect them. False: no memory. Free in either case. */
bool hearth_accesses_collect(LLVMValueRef function, const hearth_pass_options *options, hearth_accesses *ret);
void hearth_accesses_free(hearth_accesses *accesses);

/* Whether the pointer may point into a heap block, or to a global that counts (hearth_global_counts). Counters of
 * other memory are never read. */
bool hearth_may_be_heap(LLVMValueRef pointer);

/* Accesses near each other in one block, through one pointer, with no interruption between them, are counted with
 * the first: the weights of the others become 0. A counter is for `granule` bytes. Where there is no memory for
 * that, nothing changes. */
void hearth_coalesce_neighbours(hearth_accesses *accesses, unsigned granule);

/* ------------------------------------------------ library accesses ------------------------------------------------ */

/* Calls of functions that have no counters, as their code is a library's: what they access is counted at their calls.
 * They are those of library_accesses.def, the others of libstdc++ that the module only declares, and the user's own,
 * -memprof-library-accesses. A line of that table is
 *
 *   NAME [ACCESSES]   # comment
 *
 * with the items of library_accesses.def; none: one access through each argument that is a pointer. A * at the end
 * of NAME stands for whatever follows. Of other functions nothing is counted: they may be of a file with counters. */

/* Mark the module's declarations of such functions, with attributes. `path` is the user's table; "": none. E_IO,
 * E_FORMAT, E_NOMEM, with file, line and remedy. */
hearth_status hearth_library_mark(LLVMModuleRef module, const char *path, hearth_error *err);
/* Take the attributes away. */
void hearth_library_forget(LLVMModuleRef module);

/* The call is of such a function. */
bool hearth_library_knows(LLVMValueRef call);

/* `visit` each pointer through which one access counts, as a load in front of the call would. Says whether there is
 * more: what hearth_library_count counts. */
typedef void hearth_library_visit(void *closure, LLVMValueRef call, LLVMValueRef pointer);
bool hearth_library_visit_pointers(LLVMValueRef call, hearth_library_visit *visit, void *closure);

/* Count the ranges that a call accesses, those that are known behind it only if there is a place behind it alone. */
void hearth_library_count(hearth_counters *counters, LLVMValueRef call);

/* ------------------------------------------------ table of globals ------------------------------------------------ */

/* The table by which the profiling runtime finds a module's global variables (hearth/program_tables.h). */

/* Define it, before accesses are collected: those of globals count from then on. Globals begin in granules of their
 * own where the language allows it. `stores`: those are counted, too. False: out of memory. */
bool hearth_global_table_define(LLVMModuleRef module, bool stores);

/* NULL: the module has none. */
LLVMValueRef hearth_global_table_of(LLVMModuleRef module);

/* Accesses of this global count. */
bool hearth_global_counts(LLVMValueRef global);

/* ------------------------------------------------ stores to globals ----------------------------------------------- */

/* The stores of a function that may be to global variables, apart from all accesses (-memprof-global-stores). */

typedef struct hearth_global_store {
  LLVMValueRef instruction, pointer;
} hearth_global_store;

typedef struct hearth_global_stores {
  hearth_global_store *items;
  size_t count, capacity;
} hearth_global_stores;

/* Collect them before code is added to the function. False: no memory. Free in either case. */
bool hearth_global_stores_collect(LLVMValueRef function, hearth_global_stores *ret);
void hearth_global_stores_free(hearth_global_stores *stores);

/* Add the code that counts them; the instructions still stand where they stood. */
void hearth_global_stores_count(const hearth_global_stores *stores, LLVMValueRef function, hearth_counters *counters);

/* ------------------------------------------------ tail calls ------------------------------------------------ */

/* Tail calls of profiled programs. A jump loses the caller's frame, and contexts with it, so the profiling build
 * forbids jumps (-fno-optimize-sibling-calls, the attribute "disable-tail-calls"). But a program that lives by jumps
 * would then overflow its stack. So these stay jumps, as they are in the plain build:
 *
 *   - recursion that LLVM makes a loop;
 *   - calls in a cycle of calls that all come last, as in a state machine, while the same call is in progress. So each
 *     keeps one frame on a stack at most, contexts are those that folding leaves of deep recursion, and decision
 *     sites of the optimised program keep the same frames. */

/* Behind the optimiser, which hearth_pass_tail_calls allowed to find tail calls: forbid those that are in no cycle.
 * Without it the program's flags count. Allocation calls are never jumps: they are the leaves of contexts. False:
 * out of memory, and those of cycles are forbidden, too. */
bool hearth_tail_calls_limit(LLVMModuleRef module);

#endif
