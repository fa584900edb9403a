/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Descriptors that the runtime keeps open. They have high numbers: the numbers that a program's own files get are those
 * that they get without the runtime. */
#ifndef HEARTH_RUNTIME_OWN_DESCRIPTOR_H
#define HEARTH_RUNTIME_OWN_DESCRIPTOR_H

/* A copy of `fd`, close-on-exec, with a high number; -1: there is none. */
int hearth_own_descriptor_copy(int fd);

/* In place of `fd`, which is closed; `fd` itself if there is no copy, or if it is an error number. */
int hearth_own_descriptor_move(int fd);

#endif
