/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Accesses estimated from sums of looks (hearth/touch_rate.h). */
#ifndef HEARTH_BUILDER_ESTIMATES_H
#define HEARTH_BUILDER_ESTIMATES_H

#include "hearth/builder.h"
#include "hearth/touch_rate.h"

/* Set the estimated part of the access fields: the accesses of each block's first use, and of touches, `rate` times
 * a second. Counted accesses weigh more. hearth_mib_forget_estimate takes that part out. Both may be repeated. */
void hearth_mib_estimate(hearth_mib *mib, double rate);
void hearth_mib_forget_estimate(hearth_mib *mib);

/* Estimate the accesses of all contexts, if any run had looks. E_NOMEM. */
hearth_status hearth_builder_estimate(hearth_builder *builder, hearth_error *err);

#endif
