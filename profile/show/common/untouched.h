/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Untouched: bytes of parts of blocks, of 64 bytes each, without a counted access. Profiles have a percentage for each block, so
 * that the sum is an estimate. Libraries that are not compiled for profiling access blocks uncounted: those that they allocate
 * themselves, such as a std::string's, are left out. */
#ifndef HEARTH_UNTOUCHED_H
#define HEARTH_UNTOUCHED_H

#include "hearth/profile.h"

/* Of a profile in which some context has percentages. */
static inline bool hearth_untouched_is_known(const hearth_profile_summary *summary) {
  return summary->accesses_counted && !summary->accesses_estimated;
}

static inline uint64_t hearth_untouched_bytes(const hearth_mib *mib) {
  double all = 100 * (double)mib->AllocCount, touched = (double)mib->TotalPercentUtilized;
  return touched < all ? (uint64_t)((double)mib->TotalSize * (1 - touched / all) + 0.5) : 0;
}

#endif
