/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory of Linux. Large tables are noted, as programs that lock all memory must not lock sparse ones. */
#define _GNU_SOURCE /* MADV_*, MAP_FIXED_NOREPLACE */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdatomic.h>
#include <sys/uio.h>

#ifndef MADV_DONTNEED_LOCKED /* Linux 5.18 */
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_POPULATE_WRITE /* Linux 5.14; older kernels refuse it, and pages come by faults */
#define MADV_POPULATE_WRITE 23
#endif

static long memory_call3(long number, long a, long b, long c) { return hearth_os_call(number, a, b, c, 0, 0, 0); }

static void *memory_map(size_t size, int protection) {
  long result = hearth_os_call(SYS_mmap, 0, (long)size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

  return result < 0 ? NULL : (void *)result;
}

void *hearth_os_reserve(size_t size) { return memory_map(size, PROT_NONE); }

bool hearth_os_commit(void *at, size_t size) {
  return memory_call3(SYS_mprotect, (long)at, (long)size, PROT_READ | PROT_WRITE) == 0;
}

bool hearth_os_protect(void *at, size_t size, bool executable, bool writable) {
  int protection = PROT_READ | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0);

  return memory_call3(SYS_mprotect, (long)at, (long)size, protection) == 0;
}

#define TABLES_MOST 64
#define TABLE_LEAST ((size_t)1 << 20)

/* What hearth_os_map has given, so far as it is large. */
static struct table {
  _Atomic uintptr_t start; /* 0: free */
  _Atomic uintptr_t end;   /* 0: not set yet */
} tables[TABLES_MOST];

static void note_table(uintptr_t start, size_t size) {
  for (struct table *at = tables; at < tables + TABLES_MOST; at++) {
    uintptr_t nothing = 0;
    if (atomic_compare_exchange_strong(&at->start, &nothing, start)) {
      atomic_store(&at->end, start + size);
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

void hearth_os_next_table(uintptr_t at, uintptr_t *ret_start, uintptr_t *ret_end) {
  for (const struct table *table = tables; table < tables + TABLES_MOST; table++) {
    uintptr_t start = atomic_load(&table->start), end = atomic_load(&table->end);
    if (end > at && start < *ret_start) {
      *ret_start = start;
      *ret_end = end;
    }
  }
}

int hearth_os_lock_all(int flags) { return (int)memory_call3(SYS_mlockall, flags | HEARTH_OS_LOCK_ON_FAULT, 0, 0); }

void hearth_os_lock_pages(void *at, size_t size) { memory_call3(SYS_mlock, (long)at, (long)size, 0); }

void *hearth_os_map(size_t size) {
  void *memory = memory_map(size, PROT_READ | PROT_WRITE);

  if (memory && size >= TABLE_LEAST)
    note_table((uintptr_t)memory, size);
  return memory;
}

void *hearth_os_map_sparse(size_t size) {
  size_t whole = hearth_os_whole_pages(size);
  void *memory = hearth_os_map(whole);

  if (!memory)
    return NULL;
  memory_call3(SYS_madvise, (long)memory, (long)whole, MADV_DONTDUMP);
  hearth_os_keep_small_pages(memory, whole);
  return memory;
}

void *hearth_os_map_at(void *at, size_t size) {
  long result = hearth_os_call(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

  if (result == (long)at)
    return at;
  if (result > 0) /* Linux before 4.17 takes the address for a wish */
    memory_call3(SYS_munmap, result, (long)size, 0);
  return NULL;
}

void hearth_os_keep_small_pages(void *at, size_t size) {
  memory_call3(SYS_madvise, (long)at, (long)size, MADV_NOHUGEPAGE);
}

/* Gaps are passed over, and told at the end. */
bool hearth_os_forget_accesses(void *at, size_t size) {
  long result = memory_call3(SYS_madvise, (long)at, (long)size, MADV_COLD);

  return result == 0 || result == -ENOMEM;
}

void hearth_os_unmap(void *at, size_t size) {
  if (size >= TABLE_LEAST)
    forget_table((uintptr_t)at);
  memory_call3(SYS_munmap, (long)at, (long)size, 0);
}

void hearth_os_discard(void *at, size_t size) {
  if (memory_call3(SYS_madvise, (long)at, (long)size, MADV_DONTNEED) == 0 ||
      memory_call3(SYS_madvise, (long)at, (long)size, MADV_DONTNEED_LOCKED) == 0)
    return;
  /* Older kernels cannot drop locked pages (mlockall), but callers of this rely on zeros. */
  for (volatile uint64_t *word = at, *end = (uint64_t *)((char *)at + size); word < end; ++word)
    *word = 0;
}

void hearth_os_populate(void *at, size_t size) { memory_call3(SYS_madvise, (long)at, (long)size, MADV_POPULATE_WRITE); }

bool hearth_os_wipe_on_fork(void *at, size_t size) {
  return memory_call3(SYS_madvise, (long)at, (long)size, MADV_WIPEONFORK) == 0;
}

/* The kernel, too, copies what it can read, and refuses the rest. Sizes are below those of pipes. */
static bool copy_by_pipe(uintptr_t from, uintptr_t to, size_t size) {
  int ends[2];

  if (memory_call3(SYS_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK, 0) != 0)
    return false;
  bool copied = memory_call3(SYS_write, ends[1], (long)from, (long)size) == (long)size &&
                memory_call3(SYS_read, ends[0], (long)to, (long)size) == (long)size;
  hearth_os_close(ends[0]);
  hearth_os_close(ends[1]);
  return copied;
}

/* Filters of containers may refuse the system call that is made for this; emulators lack it. */
bool hearth_os_peek(uintptr_t address, void *to, size_t size) {
  struct iovec local = {to, size}, remote = {(void *)address, size};
  long result = hearth_os_call(SYS_process_vm_readv, hearth_os_pid(), (long)&local, 1, (long)&remote, 1, 0);

  return result == (long)size ||
         ((result == -EPERM || result == -ENOSYS) && copy_by_pipe(address, (uintptr_t)to, size));
}
