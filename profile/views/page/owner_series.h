/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Live bytes by time and by the owners of contexts. */
#ifndef HEARTH_PAGE_OWNER_SERIES_H
#define HEARTH_PAGE_OWNER_SERIES_H

#include "model.h"

/* Of a profile whose records have the tallies of a trace; the model has its contexts and functions. Errors: E_NOMEM, the
 * reader's. */
hearth_status hearth_page_owner_series_read(hearth_page_model *model, hearth_profile *profile, hearth_error *err);

#endif
