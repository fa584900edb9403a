/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Make the checksums of an indexed profile right again after its bytes were changed: what a hostile or mistaken writer
 * could produce, as opposed to what a disk does. Does nothing where the bytes are too broken to find the tables. */
#ifndef HEARTH_TEST_RESEAL_H
#define HEARTH_TEST_RESEAL_H

#include <stdint.h>
#include <string.h>

#include "hearth/indexed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline void reseal(uint8_t *data, size_t size) {
  hearth_indexed_header header;
  hearth_indexed_section s;
  if (size < sizeof header)
    return;
  memcpy(&header, data, sizeof header);
  if (header.header_size < sizeof header || header.header_size > size ||
      header.section_count > (size - header.header_size) / sizeof s)
    return;
  size_t covered = header.header_size + header.section_count * sizeof s;
  header.checksum = 0;
  memcpy(data, &header, sizeof header);
  header.checksum = XXH3_64bits(data, covered);
  memcpy(data, &header, sizeof header);
  for (uint32_t i = 0; i < header.section_count; i++) {
    memcpy(&s, data + header.header_size + i * sizeof s, sizeof s);
    if (s.id != HEARTH_SECTION_CHECKSUMS || s.offset > size || s.size > size - s.offset)
      continue;
    for (size_t block = 0; block < s.size / 8 && block * HEARTH_BLOCK_SIZE < s.offset; block++) {
      size_t begin = block * HEARTH_BLOCK_SIZE, rest = s.offset - begin;
      uint64_t sum = XXH3_64bits(data + begin, rest < HEARTH_BLOCK_SIZE ? rest : HEARTH_BLOCK_SIZE);
      memcpy(data + s.offset + block * 8, &sum, 8);
    }
  }
}

#endif
