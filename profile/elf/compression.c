/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The size that a section claims is believed only if its method can pack that much; then one call unpacks it. */
#include "compression.h"

#include <string.h>

#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI; glibc of 2022 does not name it */
#endif

/* The most that a byte can become: a block of zstd is 128 KiB at most, in 4 bytes at least; zlib's limit is 1032. */
static bool is_believable(const hearth_packed_section *section) {
  size_t most = section->method == HEARTH_ZSTD ? 32768 : 1032;
  return section->plain_size / most <= section->packed.size;
}

bool hearth_compression_detect(const Elf64_Shdr *header, hearth_bytes content, hearth_packed_section *ret,
                               uint32_t *ret_method) {
  Elf64_Chdr compression;
  *ret_method = 0;
  if (!(header->sh_flags & SHF_COMPRESSED)) {
    *ret = (hearth_packed_section){HEARTH_PLAIN, content, content.size};
    return true;
  }
  if (content.size < sizeof compression)
    return false;
  memcpy(&compression, content.data, sizeof compression);
  *ret_method = compression.ch_type;
  if (compression.ch_type != ELFCOMPRESS_ZLIB && compression.ch_type != ELFCOMPRESS_ZSTD)
    return false;
  *ret = (hearth_packed_section){compression.ch_type == ELFCOMPRESS_ZLIB ? HEARTH_ZLIB : HEARTH_ZSTD,
                                 {content.data + sizeof compression, content.size - sizeof compression},
                                 compression.ch_size};
  *ret_method = is_believable(ret) ? *ret_method : 0;
  return is_believable(ret);
}

bool hearth_compression_unpack(const hearth_packed_section *section, uint8_t *to) {
  uLongf size = section->plain_size;
  switch (section->method) {
  case HEARTH_PLAIN:
    if (section->plain_size > 0)
      memcpy(to, section->packed.data, section->plain_size);
    return true;
  case HEARTH_ZLIB:
    return uncompress(to, &size, section->packed.data, section->packed.size) == Z_OK && size == section->plain_size;
  case HEARTH_ZSTD:
    return ZSTD_decompress(to, section->plain_size, section->packed.data, section->packed.size) == section->plain_size;
  }
  return false;
}
