/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that programs call are exported; all else is hidden. */
#ifndef HEARTH_RUNTIME_EXPORTED_H
#define HEARTH_RUNTIME_EXPORTED_H

#define HEARTH_EXPORT __attribute__((visibility("default")))

#endif
