/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names that the program gives: of scopes, heaps and types. Each is kept once and numbered; nothing is ever removed.
 * Lock-free: any thread may add and look up at any time. */
#ifndef HEARTH_RUNTIME_CONTEXT_NAMES_H
#define HEARTH_RUNTIME_CONTEXT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_NO_NAME   UINT32_MAX
#define HEARTH_NAME_MOST 255 /* bytes that are kept of one */

/* False: no address space. */
bool hearth_context_names_create(void);

/* The number of a NUL-terminated name, which is copied; HEARTH_NO_NAME: there is no room. */
uint32_t hearth_context_name(const char *name);

/* Numbers ever given out are below this; a few may have no name, and then the empty one. */
uint32_t hearth_context_name_limit(void);

/* The bytes of a name; not NUL-terminated. */
const char *hearth_context_name_text(uint32_t number, uint32_t *ret_size);

/* Memory that is in use, in bytes. */
uint64_t hearth_context_names_memory(void);

#endif
