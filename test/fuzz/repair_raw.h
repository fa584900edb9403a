/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An input in Hearth's raw layout gets a right checksum first, or nothing behind that check would ever be reached; the check
 * itself is the unit test's. */
#ifndef HEARTH_FUZZ_REPAIR_RAW_H
#define HEARTH_FUZZ_REPAIR_RAW_H

#include <string.h>

#include "hearth/raw.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void repair_checksum(uint8_t *data, size_t size) {
  hearth_raw_header header;
  XXH64_state_t state;
  if (size < sizeof header)
    return;
  memcpy(&header, data, sizeof header);
  if (header.magic != HEARTH_RAW_MAGIC || header.total_size < sizeof header || header.total_size > size)
    return;
  header.checksum = 0;
  XXH64_reset(&state, 0);
  XXH64_update(&state, data + sizeof header, header.total_size - sizeof header);
  XXH64_update(&state, &header, sizeof header);
  header.checksum = XXH64_digest(&state);
  memcpy(data, &header, sizeof header);
}

#endif
