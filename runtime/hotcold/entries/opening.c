/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The entry points' part in the opening of the ranges. */
#include "hinted_calls.h"
#include "hotcold_options.h"
#include "missing_sites.h"
#include "next.h"
#include "ranges.h"

static void opened(const struct hearth_hotcold_options *options) {
  hearth_library_calls_open(options->library_calls);
  hearth_missing_sites_open(options->warns_of_sites);
}

const struct hearth_ranges_user hearth_ranges_user = {hearth_next_is_interposed, opened};
