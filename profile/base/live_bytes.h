/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bytes that were live when the profile was written. Of blocks of LLVM's profiles, and of those made before there
 * was the field LiveBytes, the number is known only. Views estimate these; profiles hold what is known. */
#ifndef HEARTH_LIVE_BYTES_H
#define HEARTH_LIVE_BYTES_H

#include <stdbool.h>

#include "hearth/mib.h"

/* Else LiveBytes, or TotalSize if all blocks are live, is exact. */
static inline bool hearth_live_bytes_estimated(const hearth_mib *mib) {
  return mib->SizedAtExit < mib->LiveAtExit && mib->LiveAtExit < mib->AllocCount;
}

/* Blocks of unknown size have the average size of all. */
static inline uint64_t hearth_live_bytes(const hearth_mib *mib) {
  if (mib->SizedAtExit >= mib->LiveAtExit)
    return mib->LiveBytes;
  if (mib->LiveAtExit >= mib->AllocCount)
    return mib->TotalSize;
  double average = (double)mib->TotalSize / (double)mib->AllocCount;
  double bytes = average * (double)(mib->LiveAtExit - mib->SizedAtExit);
  return bytes >= 0x1p64 ? UINT64_MAX : hearth_merge_SUM(mib->LiveBytes, (uint64_t)(bytes + 0.5));
}

/* For sums over contexts of all kinds: the estimate in the place of what is unknown. Not to be stored. */
static inline void hearth_fill_live_bytes(hearth_mib *mib) {
  mib->LiveBytes = hearth_live_bytes(mib);
  mib->SizedAtExit = mib->LiveAtExit;
}

#endif
