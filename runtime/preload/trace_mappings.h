/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The block of mappings of a trace. Callers have the lock of the file. */
#ifndef HEARTH_RUNTIME_TRACE_MAPPINGS_H
#define HEARTH_RUNTIME_TRACE_MAPPINGS_H

#include "pack.h"

/* Write all mappings that are known, if there are more of them than before. */
void hearth_trace_mappings_add(hearth_packer *packer);

/* The file is another one: it has none. */
void hearth_trace_mappings_forget(void);

#endif
