/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bytes that were live when the profile was written. LLVM's profiles, and those made before there was the field LiveBytes, know
 * the number of these blocks only. */
#ifndef HEARTH_LIVE_BYTES_H
#define HEARTH_LIVE_BYTES_H

#include "hearth/mib.h"

/* Those that the other fields give: exact if all blocks were live, or none; else by the blocks' average size. */
static inline uint64_t hearth_estimate_live_bytes(const hearth_mib *mib) {
  if (mib->LiveAtExit == mib->AllocCount)
    return mib->TotalSize;
  double bytes = mib->AllocCount ? (double)mib->TotalSize / (double)mib->AllocCount * (double)mib->LiveAtExit : 0;
  return bytes >= 0x1p64 ? UINT64_MAX : (uint64_t)(bytes + 0.5);
}

static inline uint64_t hearth_live_bytes(const hearth_mib *mib) {
  return mib->LiveBytes ? mib->LiveBytes : hearth_estimate_live_bytes(mib);
}

#endif
