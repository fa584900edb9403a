/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions by the names that the dynamic loader finds them by. A module's table of symbols is memory: what it says
 * is changed here, so that lookups find a function of ours whichever way they go. At the start of the program, while
 * there is one thread; in static programs there is nothing to find. */
#ifndef HEARTH_GUARD_LOADER_NAMES_H
#define HEARTH_GUARD_LOADER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_loader_mapping {
  uintptr_t start, end;
  bool writable, executable;
} hearth_loader_mapping;

/* Runtime and allocator ask for the mapping of an address, each in its way. False: it is not known. */
typedef bool hearth_loader_find(const void *address, hearth_loader_mapping *ret_mapping);

/* Have the program's definition of `name`, and the modules that are bound to it, be `function`. Returns what it was;
 * NULL: there is none, or the system refuses the change. */
void *hearth_loader_replace(hearth_loader_find *find, const char *name, void *function);

#define HEARTH_LOADER_NAMES_MOST 64

/* Where the module that has `function` under the first of the names is the first that defines a name, the others'
 * definitions of it give way. Lookups that pass by it (RTLD_DEEPBIND, dlsym with a library's handle) then find the
 * same. */
void hearth_loader_unify(hearth_loader_find *find, const char *const *names, size_t count, const void *function);

#endif
