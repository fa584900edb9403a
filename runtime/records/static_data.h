/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The global variables of instrumented code, whose accesses are in the counters of their granules (shadow.h). Their tables lie in
 * the program and its libraries: those of a library that was closed are found to be gone, and left out. */
#ifndef HEARTH_RUNTIME_STATIC_DATA_H
#define HEARTH_RUNTIME_STATIC_DATA_H

#include "hearth/globals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From a constructor of the module. */
void hearth_static_data_add(const hearth_global_table *table);

/* Tables that found no room. */
uint64_t hearth_static_data_dropped(void);

/* `visit` each of the globals; no library is unloaded meanwhile. The strings are of the table. Returns how many there are; NULL:
 * count them only. */
typedef void hearth_static_data_visit(const hearth_global_row *row, const char *name, const char *file, void *closure);
uint64_t hearth_static_data_each(hearth_static_data_visit *visit, void *closure);

/* `visit` the memory of each; libraries may be unloaded meanwhile. `flags`: hearth/globals.h. */
void hearth_static_data_peek(void (*visit)(const char *memory, size_t size, uint32_t flags));

/* Make the counters of all 0. */
void hearth_static_data_clear(void);

#endif
