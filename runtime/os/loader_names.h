/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions by the names that the dynamic loader finds them by. A module's table of symbols is memory: what it says is
 * changed here, so that lookups find a function of ours whichever way they go. At the start of the program, while there is
 * one thread; in static programs there is nothing to find. */
#ifndef HEARTH_RUNTIME_LOADER_NAMES_H
#define HEARTH_RUNTIME_LOADER_NAMES_H

/* Have the program's definition of `name`, and the modules that are bound to it, be `function`. Returns what it was; NULL:
 * there is none, or the system refuses the change. */
void *hearth_loader_replace(const char *name, void *function);

#endif
