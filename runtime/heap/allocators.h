/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of the program's own allocators (hearth/allocator.h): a register by address for each allocator, as there is no
 * header before such a block. Registers are mapped, bounded (option allocator_blocks), and take memory as it is used. */
#ifndef HEARTH_RUNTIME_ALLOCATORS_H
#define HEARTH_RUNTIME_ALLOCATORS_H

#include "mib_table.h"

/* Call `visit` for each block that is live: the facts that its header would have, its address, and the accesses to it.
 * The caller holds hearth_allocators_lock. */
typedef void hearth_allocators_visit(const hearth_block *block, uint64_t address, hearth_access_sum accesses,
                                     void *closure);
void hearth_allocators_each(hearth_allocators_visit *visit, void *closure);

/* The record of such a block alone, if it ended at `end`; weighed where blocks are sampled. */
hearth_mib hearth_allocators_mib(const hearth_block *block, uint64_t address, hearth_access_sum accesses,
                                 hearth_moment end);

/* Keep others from changing the registers; with signals blocked. Returns how many do not give them. */
unsigned hearth_allocators_lock(void);
void hearth_allocators_unlock(void);

/* Memory that the registers have in use, in bytes. */
uint64_t hearth_allocators_memory(void);

#endif
