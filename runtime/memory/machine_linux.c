/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of Linux, and its futex. Large tables are noted, as programs that lock all memory must not lock sparse ones. */
#define _GNU_SOURCE /* MADV_*, MAP_FIXED_NOREPLACE */
#include "machine.h"

#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#ifndef MADV_DONTNEED_LOCKED /* Linux 5.18; missing from older headers, as the next one, of Linux 5.14 */
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static long memory_call3(long number, void *start, size_t bytes, long last) {
  return hearth_os_call(number, (long)start, (long)bytes, last, 0, 0, 0);
}

static void *map_pages(void *start, size_t bytes, int protection, int flags) {
  long result = hearth_os_call(SYS_mmap, (long)start, (long)bytes, protection,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

  return result < 0 ? NULL : (void *)result;
}

static bool advise_pages(void *start, size_t bytes, int advice) {
  return memory_call3(SYS_madvise, start, bytes, advice) == 0;
}

void hearth_system_release(void *start, size_t bytes) { memory_call3(SYS_munmap, start, bytes, 0); }

/* New mappings lie below the last one, so a place below an aligned one is aligned itself, as a rule. */
void *hearth_system_reserve(size_t bytes, size_t alignment) {
  char *start = map_pages(NULL, bytes, PROT_NONE, 0);
  if (!start || (uintptr_t)start % alignment == 0)
    return start;
  hearth_system_release(start, bytes);
  start = map_pages(NULL, bytes + alignment, PROT_NONE, 0);
  if (!start)
    return NULL;
  size_t before = -(uintptr_t)start % alignment;
  if (before)
    hearth_system_release(start, before);
  hearth_system_release(start + before + bytes, alignment - before);
  return start + before;
}

bool hearth_system_protect(void *start, size_t bytes, bool executable, bool writable) {
  return memory_call3(SYS_mprotect, start, bytes,
                      PROT_READ | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0)) == 0;
}

bool hearth_system_open(void *start, size_t bytes) { return hearth_system_protect(start, bytes, false, true); }

void hearth_system_discard(void *start, size_t bytes) {
  if (!advise_pages(start, bytes, MADV_DONTNEED) && !advise_pages(start, bytes, MADV_DONTNEED_LOCKED))
    memset(start, 0, bytes);
}

void hearth_system_make_huge(void *start, size_t bytes) { advise_pages(start, bytes, MADV_HUGEPAGE); }

void hearth_system_keep_small(void *start, size_t bytes) { advise_pages(start, bytes, MADV_NOHUGEPAGE); }

/* The old place is never unmapped: other threads read the head of its segment, and may be given free addresses. The new
 * mapping there is locked again, if the program has all of them locked. */
bool hearth_system_move(void *from, void *to, size_t bytes) {
  if (hearth_os_call(SYS_mremap, (long)from, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                     (long)to, 0) < 0)
    return false;
  map_pages(from, bytes, PROT_READ | PROT_WRITE, MAP_FIXED);
  return true;
}

/* Asked for once, before the program may have forbidden it. */
uintptr_t hearth_system_random(void) {
  static _Atomic uintptr_t state;
  if (!atomic_load_explicit(&state, memory_order_relaxed)) {
    uintptr_t seed = 0, none = 0;
    memory_call3(SYS_getrandom, &seed, sizeof seed, GRND_NONBLOCK);
    atomic_compare_exchange_strong(&state, &none, (seed ^ (uintptr_t)&state) | 1);
  }
  /* The finaliser of MurmurHash3: neighbouring states give unlike numbers. */
  uint64_t number = atomic_fetch_add_explicit(&state, UINT64_C(0x9e3779b97f4a7c16), memory_order_relaxed);
  number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
  number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
  return (uintptr_t)(number ^ number >> 33);
}

/* Tables. */

#define TABLES_MOST 64
#define TABLE_LEAST ((size_t)1 << 20)

/* What hearth_system_map has given, so far as it is large. */
static struct table {
  _Atomic uintptr_t start; /* 0: free */
  _Atomic uintptr_t end;   /* 0: not set yet */
} tables[TABLES_MOST];

static void note_table(uintptr_t start, size_t bytes) {
  for (struct table *at = tables; at < tables + TABLES_MOST; at++) {
    uintptr_t nothing = 0;
    if (atomic_compare_exchange_strong(&at->start, &nothing, start)) {
      atomic_store(&at->end, start + bytes);
      return;
    }
  }
}

static void forget_table(uintptr_t start) {
  for (struct table *at = tables; at < tables + TABLES_MOST; at++)
    if (atomic_load(&at->start) == start) {
      atomic_store(&at->end, 0);
      atomic_store(&at->start, 0);
      return;
    }
}

void hearth_system_next_table(uintptr_t at, uintptr_t *ret_start, uintptr_t *ret_end) {
  for (const struct table *table = tables; table < tables + TABLES_MOST; table++) {
    uintptr_t start = atomic_load(&table->start), end = atomic_load(&table->end);
    if (end > at && start < *ret_start) {
      *ret_start = start;
      *ret_end = end;
    }
  }
}

void *hearth_system_map(size_t bytes) {
  void *memory = map_pages(NULL, bytes, PROT_READ | PROT_WRITE, 0);

  if (memory && bytes >= TABLE_LEAST)
    note_table((uintptr_t)memory, bytes);
  return memory;
}

void *hearth_system_map_sparse(size_t bytes) {
  size_t whole = HEARTH_WHOLE_PAGES(bytes);
  void *memory = hearth_system_map(whole);

  if (!memory)
    return NULL;
  advise_pages(memory, whole, MADV_DONTDUMP);
  hearth_system_keep_small(memory, whole);
  return memory;
}

void *hearth_system_map_at(void *start, size_t bytes) {
  return map_pages(start, bytes, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE);
}

void hearth_system_unmap(void *start, size_t bytes) {
  if (bytes >= TABLE_LEAST)
    forget_table((uintptr_t)start);
  hearth_system_release(start, bytes);
}

int hearth_system_lock_all(int flags) {
  return (int)hearth_os_call(SYS_mlockall, flags | HEARTH_SYSTEM_LOCK_ON_FAULT, 0, 0, 0, 0, 0);
}

void hearth_system_lock_pages(void *start, size_t bytes) { memory_call3(SYS_mlock, start, bytes, 0); }

/* Gaps are passed over, and told at the end. */
bool hearth_system_forget_accesses(void *start, size_t bytes) {
  long result = memory_call3(SYS_madvise, start, bytes, MADV_COLD);

  return result == 0 || result == -ENOMEM;
}

void hearth_system_populate(void *start, size_t bytes) { advise_pages(start, bytes, MADV_POPULATE_WRITE); }

bool hearth_system_wipe_on_fork(void *start, size_t bytes) { return advise_pages(start, bytes, MADV_WIPEONFORK); }

/* Locks: a futex, on the lower half of the word. A thread that has slept takes the lock as one that others may sleep
 * for: nobody counts them. */

/* Critical sections take some tens of nanoseconds, a sleep and wake-up some microseconds. */
#define SPINS_BEFORE_SLEEP 100

_Atomic uintptr_t hearth_forking_thread;
bool hearth_threads_known;

static void call_futex(hearth_lock *lock, int operation, uint32_t value) {
  hearth_os_call(SYS_futex, (long)(uintptr_t)&lock->holder, operation, value, 0, 0, 0);
}

static bool take_awaited(hearth_lock *lock) {
  uintptr_t nobody = 0;

  return atomic_compare_exchange_strong_explicit(&lock->holder, &nobody, hearth_lock_self() | HEARTH_LOCK_AWAITED,
                                                 memory_order_acquire, memory_order_relaxed);
}

void hearth_lock_wait(hearth_lock *lock) {
  for (unsigned i = 0; i < SPINS_BEFORE_SLEEP; ++i) {
    if (!atomic_load_explicit(&lock->holder, memory_order_relaxed) && hearth_lock_try(lock))
      return;
    hearth_os_pause();
  }
  while (!take_awaited(lock)) {
    uintptr_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed),
              awaited = holder | HEARTH_LOCK_AWAITED;
    if (holder &&
        (holder == awaited || atomic_compare_exchange_strong_explicit(&lock->holder, &holder, awaited,
                                                                      memory_order_relaxed, memory_order_relaxed)))
      call_futex(lock, FUTEX_WAIT_PRIVATE, (uint32_t)awaited);
  }
}

void hearth_lock_wake(hearth_lock *lock) { call_futex(lock, FUTEX_WAKE_PRIVATE, 1); }
