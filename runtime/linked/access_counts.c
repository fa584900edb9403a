/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that instrumented code calls: the ABI of clang -fmemory-profile, from LLVM 14 on, and of Hearth's
 * instrumentation. The usual instrumentation adds to the counters inline and calls only __memprof_mem*, and Hearth's
 * also __hearth_*. */
#include "blocks.h"
#include "heap.h"
#include "hearth/rt.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <wchar.h>

#define RANGE_STEP 8 /* bytes of a range that count as one access */

static void note_instrumentation(void) {
  if (hearth_rt.accesses == HEARTH_ACCESSES_NONE)
    hearth_rt.accesses = HEARTH_ACCESSES_COUNTED;
}

static void ignore_counts(const char *reason) {
  hearth_message("%s; the profile will have no access counts", reason);
  hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
  hearth_shadow_ignore();
}

/* A file of instrumented code is there. */
static void begin(void) {
  if (!__hearth_counters) {
    /* The code that follows would add to counters at addresses that do not exist. */
    hearth_message("instrumented code cannot run without its access counters (the reason is above)");
    hearth_os_exit(1);
  }
  note_instrumentation();
}

/* Called by a constructor in each file that clang -fmemory-profile, histogram mode or an older Hearth has
 * instrumented, and that so has counters of 64 bytes: blocks that begin from now on share none. */
HEARTH_EXPORT void __memprof_init(void) {
  begin();
  hearth_shadow_is_coarse = true;
}

/* Called by a constructor in each other instrumented file. */
HEARTH_EXPORT void __hearth_exact_init(void) { begin(); }

/* Called by a constructor in each file of Hearth's instrumentation: how many bytes its counters count for. */
HEARTH_EXPORT void __hearth_granule(uint32_t bytes) {
  if ((bytes == 8) == hearth_shadow_is_histogram || hearth_rt.accesses == HEARTH_ACCESSES_UNSUPPORTED)
    return;
  ignore_counts("some of the program's files are compiled in histogram mode (-memprof-histogram) and some are not");
}

/* Called by the constructor of each file whose accesses of global variables are counted. */
HEARTH_EXPORT void __hearth_globals(const hearth_global_table *table) { hearth_static_data_add(table); }

/* Its name is the check: code compiled for another ABI does not link. */
HEARTH_EXPORT void __memprof_version_mismatch_check_v1(void) {}

static void count(uintptr_t address) {
  if (!__hearth_counters)
    return;
  note_instrumentation();
  hearth_shadow_count(address, 1);
}

HEARTH_EXPORT void __memprof_load(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_store(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_hist_load(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_hist_store(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_record_access(const volatile void *address) { count((uintptr_t)address); }

/* What code of Hearth's histogram mode cannot do inline. */
HEARTH_EXPORT void __hearth_count_atomic(uintptr_t address, uint64_t count) {
  hearth_shadow_count_atomic(address, (uint32_t)count);
}

#define MANY 16 /* counters: for fewer, wide loads may wait for what the program has just added to one of them */

/* To each of neighbouring counters. */
static inline void count_each(uint32_t *counter, uint64_t counters, uint32_t count) {
  typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

  for (; counters >= MANY; counters -= 4, counter += 4)
    *(four *)counter += count;
  for (; counters > 0; counters--)
    *counter++ += count;
}

/* As many steps begin in each granule, but for the first and the last. */
static void count_over_granules(uintptr_t address, uint64_t steps) {
  enum { WHOLE = HEARTH_GRANULE / RANGE_STEP };
  uint32_t *counter = hearth_shadow_counter(address);
  uint64_t first = (HEARTH_GRANULE - 1 - address % HEARTH_GRANULE) / RANGE_STEP + 1;

  first = first < steps ? first : steps;
  *counter++ += (uint32_t)first;
  steps -= first;
  count_each(counter, steps / WHOLE, WHOLE);
  if (steps % WHOLE)
    counter[steps / WHOLE] += (uint32_t)(steps % WHOLE);
}

/* Apart from its callers, which so have no registers to save in the usual case of a short range. */
__attribute__((noinline)) static void count_long_range(uintptr_t address, uint64_t steps) {
  if (!hearth_shadow_is_histogram)
    count_over_granules(address, steps);
  else
    for (; steps > 0; steps--, address += RANGE_STEP)
      hearth_shadow_count(address, 1);
}

static inline bool is_within_granule(uintptr_t address, uint64_t steps) {
  return ((address ^ (address + (steps - 1) * RANGE_STEP)) & ~(hearth_shadow_granule() - 1)) == 0;
}

/* One count for each 8 bytes from the first on, to the counter of the granule that the 8 bytes begin in. */
static inline void count_range(const volatile void *address, size_t size) {
  uint64_t steps = size / RANGE_STEP + (size % RANGE_STEP != 0);
  if (size == 0)
    return;
  if (is_within_granule((uintptr_t)address, steps))
    hearth_shadow_count((uintptr_t)address, (uint32_t)steps);
  else
    count_long_range((uintptr_t)address, steps);
}

HEARTH_EXPORT void __memprof_record_access_range(const volatile void *address, unsigned long size) {
  if (!__hearth_counters)
    return;
  note_instrumentation();
  count_range(address, size);
}

/* Only instrumented code calls these, and its constructors say that there is some. */
HEARTH_EXPORT void *__memprof_memcpy(void *to, const void *from, size_t size) {
  if (__hearth_counters) {
    count_range(from, size);
    count_range(to, size);
  }
  return memcpy(to, from, size);
}

HEARTH_EXPORT void *__memprof_memmove(void *to, const void *from, size_t size) {
  if (__hearth_counters) {
    count_range(from, size);
    count_range(to, size);
  }
  return memmove(to, from, size);
}

HEARTH_EXPORT void *__memprof_memset(void *to, int byte, size_t size) {
  if (__hearth_counters)
    count_range(to, size);
  return memset(to, byte, size);
}

/* -- functions of libraries -------------------------------------------------------------------------------------------- */

/* What they access, where it takes more than an instruction to say how much: strings, ranges up to a difference, struct
 * iovec and msghdr, std::string. Called around their calls by instrumented code. */

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

/* strdup and strndup count for themselves. The C library's have no frames of their own: where frame pointers are all
 * there is, their callers would be missing from call stacks. */

/* A string of `length` characters; `read` bytes of `string` were looked at. */
static char *duplicate(const char *string, size_t length, size_t read, const hearth_frame *frame) {
  char *copy = hearth_allocate(length + 1, HEARTH_MALLOC_ALIGNMENT, frame);

  if (!copy) {
    errno = ENOMEM;
    return NULL;
  }
  if (hearth_rt.accesses == HEARTH_ACCESSES_COUNTED) { /* in an uninstrumented program, nothing is counted */
    __memprof_record_access_range(string, read);
    __memprof_record_access_range(copy, length + 1);
  }
  memcpy(copy, string, length);
  copy[length] = '\0';
  return copy;
}

static char *duplicate_all(const char *string, const hearth_frame *frame) {
  size_t length = strlen(string);

  return duplicate(string, length, length + 1, frame);
}

static char *duplicate_most(const char *string, size_t most, const hearth_frame *frame) {
  size_t length = 0;

  while (length < most && string[length])
    ++length;
  return duplicate(string, length, length < most ? length + 1 : length, frame);
}

HEARTH_EXPORT_WEAK char *strdup(const char *string) { return duplicate_all(string, HEARTH_THIS_FRAME); }

HEARTH_EXPORT_WEAK char *__strdup(const char *string) { return duplicate_all(string, HEARTH_THIS_FRAME); }

HEARTH_EXPORT_WEAK char *strndup(const char *string, size_t most) {
  return duplicate_most(string, most, HEARTH_THIS_FRAME);
}

HEARTH_EXPORT_WEAK char *__strndup(const char *string, size_t most) {
  return duplicate_most(string, most, HEARTH_THIS_FRAME);
}
