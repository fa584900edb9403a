/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What functions of libraries access, where it takes more than an instruction to say how much: strings, ranges up to
 * a difference, struct iovec and msghdr, std::string. Called around their calls by instrumented code. */
#include "heap.h"
#include "hearth/rt.h"
#include "os.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <wchar.h>

typedef enum manner {
  BYTES = 0,
  STRINGS = 1,
  STRINGS_ANY_CASE = 2,
  WIDE_STRINGS = 3
} manner; /* as the compiler passes it */

/* libstdc++'s, since its names have __cxx11. */
typedef struct std_string {
  const char *data;
  size_t length;
} std_string;

static size_t string_bytes(const char *string, size_t most) {
  size_t length = 0;

  if (most == SIZE_MAX)
    return strlen(string) + 1;
  while (length < most && string[length])
    ++length;
  return length < most ? length + 1 : most;
}

/* NULL is none. */
HEARTH_EXPORT void __hearth_count_string(const char *string, size_t most) {
  if (string)
    __memprof_record_access_range(string, string_bytes(string, most));
}

/* Of what is to be copied, the length is found first. */
HEARTH_EXPORT void __hearth_count_printed(const char *string, size_t most) {
  __hearth_count_string(string, most);
  __hearth_count_string(string, most);
}

HEARTH_EXPORT void __hearth_count_wide_string(const wchar_t *string, size_t most) {
  size_t length = 0;

  while (length < most && string[length])
    ++length;
  __memprof_record_access_range(string, (length + (length < most)) * sizeof *string);
}

/* Up to what was found, that included; if nothing was, to the end. */
HEARTH_EXPORT void __hearth_count_until(const char *from, const char *found, size_t most) {
  size_t bytes = found ? (size_t)(found - from) + 1 : most == SIZE_MAX ? strlen(from) + 1 : most;

  __memprof_record_access_range(from, bytes);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static bool in_one_page(const char *string) {
  return ((uintptr_t)string & (HEARTH_PAGE_BYTES - 1)) <= HEARTH_PAGE_BYTES - 8;
}

/* Bytes until a and b differ, or end where both have a NUL; that one included. Words of 8 bytes are read where they
 * lie in one page, as library functions do. */
__attribute__((no_sanitize("address"))) static size_t common_bytes(const char *a, const char *b, size_t most, bool ends,
                                                                   bool any_case) {
  size_t at = 0;

  while (most - at >= 8 && in_one_page(a + at) && in_one_page(b + at)) {
    uint64_t x, y;
    __builtin_memcpy(&x, a + at, sizeof x);
    __builtin_memcpy(&y, b + at, sizeof y);
    if (x != y || (ends && ((x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080))))
      break;
    at += 8;
  }
  for (; at < most; ++at) {
    bool same = a[at] == b[at] || (any_case && lower(a[at]) == lower(b[at]));
    if (!same || (ends && !a[at]))
      return at + 1;
  }
  return most;
}

static size_t common_wide_bytes(const wchar_t *a, const wchar_t *b, size_t most) {
  size_t at = 0;

  while (at < most && a[at] == b[at] && a[at])
    ++at;
  return (at + (at < most)) * sizeof *a;
}

static void count_both(const char *a, const char *b, size_t bytes) {
  __memprof_record_access_range(a, bytes);
  __memprof_record_access_range(b, bytes);
}

HEARTH_EXPORT void __hearth_count_compared(const char *a, const char *b, size_t most, uint64_t manner) {
  count_both(a, b,
             manner == WIDE_STRINGS ? common_wide_bytes((const void *)a, (const void *)b, most)
                                    : common_bytes(a, b, most, manner != BYTES, manner == STRINGS_ANY_CASE));
}

HEARTH_EXPORT void __hearth_count_vectors(const struct iovec *ranges, uint64_t count, uint64_t bytes) {
  for (uint64_t i = 0; i < count && bytes > 0; ++i) {
    size_t size = ranges[i].iov_len < bytes ? ranges[i].iov_len : bytes;
    __memprof_record_access_range(ranges[i].iov_base, size);
    bytes -= size;
  }
}

/* Sent, or received: the ranges are as they were. */
HEARTH_EXPORT void __hearth_count_message(const struct msghdr *message, uint64_t bytes) {
  __hearth_count_vectors(message->msg_iov, message->msg_iovlen, bytes);
}

/* The last bytes, and the NUL. */
HEARTH_EXPORT void __hearth_count_std_string(const std_string *string, size_t last) {
  size_t bytes = last < string->length ? last : string->length;

  __memprof_record_access_range(string->data + (string->length - bytes), bytes + 1);
}

HEARTH_EXPORT void __hearth_count_std_compared(const std_string *a, const void *b, uint64_t is_std_string) {
  const std_string *other = b;
  const char *text = is_std_string ? other->data : b;
  size_t length = is_std_string ? other->length : strlen(text) + 1;
  size_t most = length < a->length ? length : a->length;

  count_both(a->data, text, common_bytes(a->data, text, most, false, false));
}

/* Bytes with these indices, both included, as far as the string goes. */
HEARTH_EXPORT void __hearth_count_std_part(const std_string *string, size_t low, size_t high) {
  if (high >= string->length)
    high = string->length - 1;
  if (string->length > 0 && low <= high)
    __memprof_record_access_range(string->data + low, high - low + 1);
}
