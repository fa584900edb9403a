/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linux, with the C library's `syscall` alone. */
#define _GNU_SOURCE
#include "system_memory.h"

#include <errno.h>
#include <linux/mman.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *map(void *at, size_t bytes, int protection, int flags) {
  int saved_errno = errno;
  long result = syscall(SYS_mmap, at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0L);
  errno = saved_errno;
  return result == -1 ? NULL : (void *)result; /* page 0 is never mapped by itself */
}

void hearth_system_release(void *start, size_t bytes) {
  int saved_errno = errno;
  syscall(SYS_munmap, start, bytes);
  errno = saved_errno;
}

/* New mappings lie below the last one, so a place below an aligned one is aligned itself, as a rule. */
void *hearth_system_reserve(size_t bytes, size_t alignment) {
  char *start = map(NULL, bytes, PROT_NONE, MAP_NORESERVE);
  if (!start || (uintptr_t)start % alignment == 0)
    return start;
  hearth_system_release(start, bytes);
  start = map(NULL, bytes + alignment, PROT_NONE, MAP_NORESERVE);
  if (!start)
    return NULL;
  size_t before = -(uintptr_t)start % alignment;
  if (before)
    hearth_system_release(start, before);
  hearth_system_release(start + before + bytes, alignment - before);
  return start + before;
}

bool hearth_system_protect(void *start, size_t bytes, bool executable, bool writable) {
  int saved_errno = errno;
  long result =
      syscall(SYS_mprotect, start, bytes, PROT_READ | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0));
  errno = saved_errno;
  return result == 0;
}

bool hearth_system_open(void *start, size_t bytes) { return hearth_system_protect(start, bytes, false, true); }

static bool advise(void *start, size_t bytes, int advice) {
  int saved_errno = errno;
  long result = syscall(SYS_madvise, start, bytes, advice);
  errno = saved_errno;
  return result == 0;
}

/* Locked pages cannot be discarded, only replaced. */
void hearth_system_discard(void *start, size_t bytes) {
  if (!advise(start, bytes, MADV_DONTNEED) && !map(start, bytes, PROT_READ | PROT_WRITE, MAP_FIXED))
    memset(start, 0, bytes);
}

void hearth_system_make_huge(void *start, size_t bytes) { advise(start, bytes, MADV_HUGEPAGE); }

/* The old place is never unmapped: other threads read the head of its segment, and may be given free addresses. The new
 * mapping there is locked again, if the program has all of them locked. Before Linux 5.7, nothing is moved. */
bool hearth_system_move(void *from, void *to, size_t bytes) {
  int saved_errno = errno;
  long result = syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to);
  errno = saved_errno;
  if (result == -1)
    return false;
  map(from, bytes, PROT_READ | PROT_WRITE, MAP_FIXED);
  return true;
}

/* Asked for once, before the program may have forbidden it. */
uintptr_t hearth_system_random(void) {
  static _Atomic uintptr_t state;
  if (!atomic_load_explicit(&state, memory_order_relaxed)) {
    int saved_errno = errno;
    uintptr_t seed = 0, none = 0;
    syscall(SYS_getrandom, &seed, sizeof seed, GRND_NONBLOCK);
    errno = saved_errno;
    atomic_compare_exchange_strong(&state, &none, (seed ^ (uintptr_t)&state) | 1);
  }
  /* The finaliser of MurmurHash3: neighbouring states give unlike numbers. */
  uint64_t number = atomic_fetch_add_explicit(&state, UINT64_C(0x9e3779b97f4a7c16), memory_order_relaxed);
  number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
  number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return (uintptr_t)(number ^ number >> 33);
}
