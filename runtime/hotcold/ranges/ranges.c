/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One reservation holds both ranges. It is opened by the first call that needs it, under a lock. */
#define _GNU_SOURCE
#include "ranges.h"

#include "cold_file.h"
#include "fatal.h"
#include "guard.h"
#include "hearth/hints.h"
#include "hearth/optional.h"
#include "hotcold_options.h"
#include "huge_pages.h"
#include "page_out.h"
#include "sanitizers.h"
#include "statistics_file.h"
#include "status_page.h"
#include "thread_pools.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Both ranges together. Valgrind refuses 64 GiB and more, and address space limits less. */
#define MOST_RESERVED_BYTES  ((size_t)128 << 30)
#define LEAST_RESERVED_BYTES ((size_t)2 << 30)
/* Before them: an inaccessible page, and the status that `hearth top` finds behind it. */
#define HEAD_BYTES ((size_t)2 * HEARTH_PAGE_BYTES)

/* The cold range gives back at once, and in pages. The hot range keeps more, and gives back whole huge pages first: giving back a
 * part breaks the page up. */
static const struct hearth_region_limits cold_limits = {.least_keep_pages = (1 << 20) / HEARTH_PAGE_BYTES,
                                                        .keep_pages = (1 << 20) / HEARTH_PAGE_BYTES,
                                                        .release_pages = 1,
                                                        .small_release_pages = 1};
static const struct hearth_region_limits hot_limits = {.least_keep_pages = (1 << 20) / HEARTH_PAGE_BYTES,
                                                       .keep_pages = (16 << 20) / HEARTH_PAGE_BYTES,
                                                       .keep_ms = HEARTH_KEEP_MS,
                                                       .release_pages = HEARTH_HUGE_PAGE_BYTES / HEARTH_PAGE_BYTES,
                                                       .small_release_pages = 16};

struct hearth_ranges hearth_ranges = {.hot_from = UINT8_MAX + 1,
                                      .pool_of_hint = {[0 ... UINT8_MAX] = HEARTH_POOL_UNKNOWN}};

static struct hearth_futex_lock open_lock;
static _Thread_local hearth_guard opening __attribute__((tls_model("initial-exec")));

/* `bytes` of address space aligned to a huge page, with HEAD_BYTES before them, or NULL. */
static char *reserve(size_t bytes) {
  size_t slack = HEARTH_HUGE_PAGE_BYTES + HEAD_BYTES;
  char *map = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED)
    return NULL;
  size_t before = -((uintptr_t)map + HEAD_BYTES) & (HEARTH_HUGE_PAGE_BYTES - 1);
  if (before)
    munmap(map, before);
  char *base = map + before + HEAD_BYTES;
  munmap(base + bytes, (size_t)(map + slack - base));
  return base;
}

/* For /proc/PID/smaps. Refused by kernels before 5.17; the ranges work without. */
static void set_name(char *start, size_t bytes, const char *name) {
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, (unsigned long)start, bytes, (unsigned long)name);
}

static bool create_regions(char *base, size_t bytes) {
  size_t half = bytes / 2, cold_bytes = half - HEARTH_PAGE_BYTES;
  if (!hearth_region_create(&hearth_ranges.region[HEARTH_RANGE_COLD], base, cold_bytes, cold_limits))
    return false;
  if (!hearth_region_create(&hearth_ranges.region[HEARTH_RANGE_HOT], base + half, half, hot_limits)) {
    hearth_region_destroy(&hearth_ranges.region[HEARTH_RANGE_COLD]);
    return false;
  }
  if (!hearth_tiles_open(base, bytes, &hearth_ranges.region[HEARTH_RANGE_COLD],
                         &hearth_ranges.region[HEARTH_RANGE_HOT])) {
    hearth_region_destroy(&hearth_ranges.region[HEARTH_RANGE_COLD]);
    hearth_region_destroy(&hearth_ranges.region[HEARTH_RANGE_HOT]);
    return false;
  }
  /* The system's accounts are by mapping: the two ranges must not become one. */
  mprotect(base + cold_bytes, HEARTH_PAGE_BYTES, PROT_NONE);
  set_name(base, half, "hearth cold");
  set_name(base + half, half, "hearth hot");
  return true;
}

static size_t bytes_of(const struct hearth_region *region) { return (size_t)region->pages << HEARTH_PAGE_SHIFT; }

static void back_by_huge_pages(struct hearth_region *region) {
  hearth_huge_pages_open(region->base, bytes_of(region));
  region->backing = hearth_huge_pages_backing;
}

/* Put the cold range into a file, if it is to be; without one its memory stays. Memory that is to leave does so page by page; other
 * memory is as any. */
static void back_cold_range(struct hearth_hotcold_options *options) {
  struct hearth_region *cold = &hearth_ranges.region[HEARTH_RANGE_COLD];
  if (options->cold_below && options->cold_mode == HEARTH_COLD_FILE) {
    if (hearth_cold_file_open(options->directory, cold->base, bytes_of(cold))) {
      cold->backing = hearth_cold_file_backing;
      return;
    }
    options->cold_mode = HEARTH_COLD_KEEP;
  }
  if (options->cold_mode == HEARTH_COLD_KEEP)
    back_by_huge_pages(cold);
  else
    madvise(cold->base, bytes_of(cold), MADV_NOHUGEPAGE);
}

static bool reserve_ranges(struct hearth_hotcold_options *options) {
  for (size_t bytes = MOST_RESERVED_BYTES; bytes >= LEAST_RESERVED_BYTES; bytes /= 2) {
    char *base = reserve(bytes);
    if (!base)
      continue;
    if (create_regions(base, bytes)) {
      back_cold_range(options);
      back_by_huge_pages(&hearth_ranges.region[HEARTH_RANGE_HOT]);
      atomic_store_explicit(&hearth_ranges.base, (uintptr_t)base, memory_order_relaxed);
      atomic_store_explicit(&hearth_ranges.bytes, bytes, memory_order_release);
      mprotect(base - HEAD_BYTES, HEARTH_PAGE_BYTES, PROT_NONE);
      hearth_status_write(base - HEARTH_PAGE_BYTES);
      return true;
    }
    munmap(base - HEAD_BYTES, bytes + HEAD_BYTES);
  }
  return false;
}

/* Handlers that the program registered before ours run between these two: their prepare after ours, their parent and
 * child handlers before ours. They find this thread past all locks, and every other thread that needs one waits. */

static void before_fork(void) {
  hearth_futex_lock_acquire(&open_lock);
  hearth_thread_pools_lock();
  for (unsigned i = 0; i < HEARTH_RANGES; i++)
    hearth_futex_lock_acquire(&hearth_ranges.region[i].page_run_lock);
  hearth_cold_file_before_fork();
  hearth_thread_is_forking = true;
}

static void after_fork(void) {
  hearth_thread_is_forking = false;
  for (unsigned i = HEARTH_RANGES; i-- > 0;)
    hearth_futex_lock_release(&hearth_ranges.region[i].page_run_lock);
  hearth_thread_pools_unlock();
  hearth_futex_lock_release(&open_lock);
}

static void after_fork_in_child(void) {
  after_fork();
  hearth_page_out_after_fork();
  hearth_thread_pools_after_fork();
}

/* Does a profiling runtime record the program? It is to see all blocks: none may lie in ranges of our own. */
static bool is_recorded(void) {
  void *of_runtime;

  HEARTH_FIND_OPTIONAL(of_runtime, __hearth_scope_enter);
  return of_runtime;
}

static void tell_foreign_free(void) {
  const char *sanitizer = hearth_sanitizer_find();
  if (sanitizer)
    hearth_hotcold_warn("hints are ignored: free is that of ", sanitizer);
  else
    hearth_hotcold_warn(
        "hints are ignored: free or realloc is not the adapter's, but that of a library before it (preload the "
        "adapter: "
        "LD_PRELOAD=$(hearth flags use PROFILE --preload)), or of a static libc ('--static' has the flags for that)",
        "");
}

static uint8_t pool_of(unsigned hint) {
  if (hearth_ranges.is_verified)
    return HEARTH_POOL_VERIFIED;
  if (hint < hearth_ranges.cold_below)
    return HEARTH_POOL_COLD;
  if (hint >= hearth_ranges.hot_from)
    return HEARTH_POOL_HOT;
  return (uint8_t)(hearth_ranges.has_pools && hint >= HEARTH_HINT_POOL && hint < HEARTH_HINT_HOT
                       ? HEARTH_POOL_FIRST + hint - HEARTH_HINT_POOL
                       : HEARTH_POOL_NONE);
}

static void set_pools(void) {
  for (unsigned hint = 0; hint <= UINT8_MAX; hint++)
    atomic_store_explicit(&hearth_ranges.pool_of_hint[hint], pool_of(hint), memory_order_release);
}

unsigned hearth_pool_for_hint(uint8_t hint) {
  unsigned pool = hearth_pool_of_hint(hint);
  if (pool != HEARTH_POOL_UNKNOWN)
    return pool;
  hearth_ranges_open();
  pool = hearth_pool_of_hint(hint);
  return pool == HEARTH_POOL_UNKNOWN ? HEARTH_POOL_NONE : pool;
}

static void open_once(void) {
  /* secure_getenv: the user of a setuid program does not choose its allocator's behaviour. */
  struct hearth_hotcold_options options = hearth_hotcold_options_parse(secure_getenv("HEARTH_HOTCOLD"));
  if (is_recorded()) {
    options.cold_below = 0;
    options.pools = false;
    hearth_ranges.is_verified = options.verify;
  } else if (options.verify) {
    hearth_hotcold_warn("verify needs a recording: run the program by 'hearth record', then 'hearth verify'", "");
  }
  bool corrects_cold = options.cold_mode == HEARTH_COLD_AUTO;
  if (corrects_cold)
    options.cold_mode = hearth_page_out_mode();
  hearth_ranges.cold_below = options.cold_below;
  hearth_ranges.has_pools = options.pools;
  hearth_ranges.hot_from = options.pools ? options.hot_from : UINT8_MAX + 1;
  hearth_statistics_file_open(options.statistics);
  hearth_thread_pools_open();
  if (options.cold_below == 0 && !options.pools)
    return;
  if (!hearth_ranges_user.is_interposed()) {
    tell_foreign_free();
    return;
  }
  if (!reserve_ranges(&options)) {
    hearth_hotcold_warn("hints are ignored: cannot reserve address space", "");
    return;
  }
  if (pthread_atfork(before_fork, after_fork, after_fork_in_child))
    hearth_hotcold_warn("cannot register fork handlers: do not fork while threads allocate", "");
  if (options.cold_below)
    hearth_page_out_open(options.cold_mode, corrects_cold, options.interval_s);
  hearth_ranges_user.opened(&options);
}

void hearth_ranges_open(void) {
  if (hearth_guard_is_held(&opening))
    return;
  bool outer = hearth_guard_enter(&opening);
  int saved_errno = errno;
  hearth_futex_lock_acquire(&open_lock);
  if (!atomic_load_explicit(&hearth_ranges.opened, memory_order_relaxed)) {
    open_once();
    set_pools();
    atomic_store_explicit(&hearth_ranges.opened, true, memory_order_release);
  }
  hearth_futex_lock_release(&open_lock);
  errno = saved_errno;
  hearth_guard_leave(&opening, outer);
}
