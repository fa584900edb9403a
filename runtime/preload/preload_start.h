/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of `hearth record` for a program that ran already: it is neither ended nor told of anything. */
#ifndef HEARTH_RUNTIME_PRELOAD_START_H
#define HEARTH_RUNTIME_PRELOAD_START_H

/* Set hearth_recorder; before hearth_start. */
void hearth_preload_attach(void);

#endif
