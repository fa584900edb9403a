/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A piece of a file in memory, and bounds-checked reading from it. Little-endian, as all files that are read here and the
 * processors that read them. */
#ifndef HEARTH_BYTES_H
#define HEARTH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed; `data` is NULL if there are none. */
typedef struct hearth_bytes {
  const uint8_t *data;
  size_t size;
} hearth_bytes;

/* Bytes [offset, offset + size); false if they are not all there. */
static inline bool hearth_bytes_slice(hearth_bytes from, uint64_t offset, uint64_t size, hearth_bytes *ret) {
  if (offset > from.size || size > from.size - offset)
    return false;
  *ret = (hearth_bytes){from.data ? from.data + offset : NULL, (size_t)size};
  return true;
}

/* The unsigned number of `size` bytes (1 to 8) at *offset, which moves behind it; false if it is not all there. */
static inline bool hearth_bytes_number(hearth_bytes from, uint64_t *offset, size_t size, uint64_t *ret) {
  hearth_bytes at;
  if (!hearth_bytes_slice(from, *offset, size, &at))
    return false;
  *ret = 0;
  if (from.size - *offset >= sizeof *ret) { /* most are far from the end: one load does, whatever the size */
    memcpy(ret, at.data, sizeof *ret);
    *ret &= UINT64_MAX >> (64 - 8 * size);
  } else {
    memcpy(ret, at.data, size);
  }
  *offset += size;
  return true;
}

/* As hearth_bytes_number, of a ULEB128 number; false also if it needs more than 64 bits. */
static inline bool hearth_bytes_uleb(hearth_bytes from, uint64_t *offset, uint64_t *ret) {
  *ret = 0;
  if (*offset < from.size && from.data[*offset] < 0x80) { /* most are small */
    *ret = from.data[(*offset)++];
    return true;
  }
  if (from.size - *offset >= 2 && *offset < from.size && from.data[*offset + 1] < 0x80) {
    *ret = (from.data[*offset] & 0x7fu) | (uint64_t)from.data[*offset + 1] << 7;
    *offset += 2;
    return true;
  }
  for (unsigned shift = 0; *offset < from.size; shift += 7) {
    uint8_t byte = from.data[(*offset)++];
    if (shift < 64)
      *ret |= (uint64_t)(byte & 0x7f) << shift;
    if ((shift >= 64 && (byte & 0x7f) != 0) || (shift == 63 && (byte & 0x7e) != 0))
      return false;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

/* Move *offset behind a LEB128 number; false if it is not all there. */
static inline bool hearth_bytes_pass_leb(hearth_bytes from, uint64_t *offset) {
  uint64_t bytes;
  if (*offset < from.size && from.size - *offset >= sizeof bytes) {
    memcpy(&bytes, from.data + *offset, sizeof bytes);
    uint64_t ends = ~bytes & UINT64_C(0x8080808080808080);
    if (ends) {
      *offset += ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
      return true;
    }
  }
  while (*offset < from.size)
    if (!(from.data[(*offset)++] & 0x80))
      return true;
  return false;
}

/* As hearth_bytes_uleb, of an SLEB128 number, in two's complement; bits beyond 64 are ignored. */
static inline bool hearth_bytes_sleb(hearth_bytes from, uint64_t *offset, uint64_t *ret) {
  *ret = 0;
  if (*offset < from.size && from.data[*offset] < 0x80) {
    *ret = (uint64_t)(from.data[(*offset)++] ^ 0x40) - 0x40;
    return true;
  }
  for (unsigned shift = 0; *offset < from.size; shift += 7) {
    uint8_t byte = from.data[(*offset)++];
    if (shift < 64)
      *ret |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80)
      continue;
    if ((byte & 0x40) && shift + 7 < 64)
      *ret |= UINT64_MAX << (shift + 7);
    return true;
  }
  return false;
}

/* The string at an offset; NULL: it is not there, or does not end. */
static inline const char *hearth_bytes_string(hearth_bytes from, uint64_t offset) {
  hearth_bytes rest;
  if (offset >= from.size || !hearth_bytes_slice(from, offset, from.size - offset, &rest) ||
      !memchr(rest.data, 0, rest.size))
    return NULL;
  return (const char *)rest.data;
}

#endif
