/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ids of functions, frames and types: hashes (XXH3-64) of the parts that are the same in every build. Suffixes that
 * compilers append to the names of clones are removed first. */
#include "hearth/ids.h"

#include <stdbool.h>
#include <string.h>

#include "path_name.h"

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
