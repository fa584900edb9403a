/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ids of functions, frames and types: hashes (XXH3-64) of the parts that are the same in every build. Suffixes that
 * compilers append to the names of clones are removed first. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/ids.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool ends_with(const char *name, size_t length, const char *suffix) {
  size_t suffix_length = strlen(suffix);
  return length >= suffix_length && memcmp(name + length - suffix_length, suffix, suffix_length) == 0;
}

/* Length without one suffix, or `length` if there is none. */
static size_t strip_one_suffix(const char *name, size_t length) {
  static const char *const numbered[] = {".llvm", ".part", ".isra", ".constprop", ".lto_priv", ".memprof", ".cold"};

  /* Parts that GCC and LLVM split off: unlikely code, and the pieces of a coroutine. */
  static const char *const plain[] = {".cold", ".resume", ".destroy", ".cleanup"};
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
    if (ends_with(name, length, plain[i]))
      return length - strlen(plain[i]);
  size_t end = length;
  while (end > 0 && is_digit(name[end - 1]))
    end--;
  if (end == length || end == 0 || name[end - 1] != '.')
    return length;
  end--;
  /* -funique-internal-linkage-names: the number is a hash of the module, part of the identity. */
  if (ends_with(name, end, ".__uniq"))
    return length;
  for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++)
    if (ends_with(name, end, numbered[i]))
      return end - strlen(numbered[i]);
  return end; /* ".123" alone: linking IR appends it to internal functions of one name */
}

size_t hearth_function_name_length(const char *name, size_t length) {
  for (;;) {
    size_t shorter = strip_one_suffix(name, length);
    if (shorter == length || shorter == 0)
      return length;
    length = shorter;
  }
}

bool hearth_is_name_file(const char *path) {
  return strcmp(path, HEARTH_SCOPE_FILE) == 0 || strcmp(path, HEARTH_HEAP_FILE) == 0;
}

size_t hearth_declared_name_length(const char *name, size_t length, const char *path) {
  return hearth_is_name_file(path) ? length : hearth_function_name_length(name, length);
}

uint64_t hearth_function_id(const char *linkage_name, size_t name_length, const char *path) {
  const char *base = hearth_base_name(path);
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, linkage_name, hearth_declared_name_length(linkage_name, name_length, path));
  XXH3_64bits_update(&state, "", 1);
  XXH3_64bits_update(&state, base, strlen(base));
  return XXH3_64bits_digest(&state);
}

static void put_little_endian(unsigned char *to, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

uint64_t hearth_stack_id(uint64_t function_id, uint32_t line_offset, uint32_t column) {
  unsigned char key[16];
  put_little_endian(key, function_id, 8);
  put_little_endian(key + 8, line_offset, 4);
  put_little_endian(key + 12, column, 4);
  return XXH3_64bits(key, sizeof key);
}

uint64_t hearth_type_id(const char *name, size_t length) {
  uint64_t id = XXH3_64bits(name, length);
  return id == 0 ? 1 : id == UINT64_MAX ? UINT64_MAX - 1 : id;
}

uint32_t hearth_base_discriminator(uint32_t discriminator) {
  /* Each part is prefix-encoded, base first: bit 0 set: the part is 0; else 5 bits, and 7 more if bit 6 is set. */
  if (discriminator & 1)
    return 0;
  uint32_t low = (discriminator >> 1) & 0x1f;
  return discriminator & 0x40 ? ((discriminator >> 2) & 0xfe0) | low : low;
}

/* Function ids of LLVM's profiles: the low 64 bits of the MD5 (RFC 1321) of the name. A hash function of our own,
 * because a dependency on a cryptographic library for this would be out of proportion. */

/* floor(2^32 * abs(sin(i + 1))) */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static const uint8_t rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void md5_block(uint32_t state[4], const uint8_t block[64]) {
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t f, word;
    if (i < 16) {
      f = (b & c) | (~b & d);
      word = i;
    } else if (i < 32) {
      f = (d & b) | (~d & c);
      word = (5 * i + 1) % 16;
    } else if (i < 48) {
      f = b ^ c ^ d;
      word = (3 * i + 5) % 16;
    } else {
      f = c ^ (b | ~d);
      word = 7 * i % 16;
    }
    uint32_t sum = a + f + sines[i] + load32(block + 4 * word);
    uint32_t shift = rotations[i / 16][i % 4];
    a = d;
    d = c;
    c = b;
    b += sum << shift | sum >> (32 - shift);
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

uint64_t hearth_llvm_function_id(const char *linkage_name, size_t name_length) {
  uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  size_t length = hearth_function_name_length(linkage_name, name_length);
  size_t done = 0;
  for (; length - done >= 64; done += 64)
    md5_block(state, (const uint8_t *)linkage_name + done);

  uint8_t tail[128] = {0};
  size_t rest = length - done, tail_size = rest < 56 ? 64 : 128;
  memcpy(tail, linkage_name + done, rest);
  tail[rest] = 0x80;
  for (size_t i = 0; i < 8; i++)
    tail[tail_size - 8 + i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
  for (size_t at = 0; at < tail_size; at += 64)
    md5_block(state, tail + at);
  return (uint64_t)state[1] << 32 | state[0];
}

bool hearth_is_stripped_name(const char *name) {
  return *name == HEARTH_STRIPPED_NAME && strlen(name) == 17 && strspn(name + 1, "0123456789abcdef") == 16;
}

uint64_t hearth_llvm_id_of_name(const char *name) {
  if (hearth_is_stripped_name(name))
    return strtoull(name + 1, NULL, 16);
  return *name ? hearth_llvm_function_id(name, strlen(name)) : 0;
}

bool hearth_is_name_of(const char *known, const char *name, size_t length) {
  if (hearth_is_stripped_name(known))
    return hearth_llvm_function_id(name, length) == hearth_llvm_id_of_name(known);
  size_t declared = hearth_function_name_length(known, strlen(known));
  return hearth_function_name_length(name, length) == declared && memcmp(name, known, declared) == 0;
}
