/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compressed sections. Debian's libelf (elfutils 0.188) knows zlib only, so all methods are undone here. */
#ifndef HEARTH_COMPRESSION_H
#define HEARTH_COMPRESSION_H

#include <libelf.h>

#include "bytes.h"

typedef enum hearth_compression { HEARTH_PLAIN, HEARTH_ZLIB, HEARTH_ZSTD } hearth_compression;

/* The content of a section: `packed` is plain, or is to be unpacked to `plain_size` bytes. */
typedef struct hearth_packed_section {
  hearth_compression method;
  hearth_bytes packed;
  size_t plain_size;
} hearth_packed_section;

/* Tell from header and content of a section: SHF_COMPRESSED as in the gABI.
 * False: compressed by an unknown method (number in *ret_method), or its header is damaged (0). */
bool hearth_compression_detect(const Elf64_Shdr *header, hearth_bytes content, hearth_packed_section *ret,
                               uint32_t *ret_method);
/* Write `plain_size` bytes to `to`. False: the data is damaged. */
bool hearth_compression_unpack(const hearth_packed_section *section, uint8_t *to);

#endif
