/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looks at the accessed bits of watched blocks' pages (heap/watched.h), by a thread of the runtime's own, summed up by context,
 * and accesses estimated from that. With the option accesses=pages. */
#ifndef HEARTH_RUNTIME_TOUCH_LOOKS_H
#define HEARTH_RUNTIME_TOUCH_LOOKS_H

#include "mib_view.h"
#include "touch_rates.h"

/* Is this wanted, as far as the way of recording allows it? A message says why not. May set the option sample. */
bool hearth_touches_are_wanted(void);

/* Begin to look, once; the process has one thread. Where the system does not allow it, a message says so. */
void hearth_touches_begin(void);

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_touches_forget(void);
/* In a forked child, which has no such thread, and no looks. */
void hearth_touches_end_in_child(void);

/* While all threads are stopped: set the access fields of all records in the view. False: nothing is known; the fields are as
 * they were. */
bool hearth_touches_estimate(hearth_mib_view *mibs);

/* The same: what is known of a context. */
const hearth_touch_sums *hearth_touches_of(uint32_t context);

#endif
