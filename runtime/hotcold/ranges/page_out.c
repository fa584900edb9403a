/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that sleeps, asks whether a round is due, and advises the system on the whole cold range. */
#define _GNU_SOURCE
#include "page_out.h"

#include "cold_file.h"
#include "fatal.h"
#include "ranges.h"
#include "thread_pools.h"
#include "warm_tiles.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

/* Linux 5.4; missing from older libc headers. */
#ifndef MADV_COLD
#define MADV_COLD    20
#define MADV_PAGEOUT 21
#endif

enum {
  STACK_BYTES = 64 << 10,
  LONGEST_WAIT = 64, /* intervals */
};

_Atomic bool hearth_page_out_is_wanted;
static enum hearth_cold_mode cold_mode;
static bool corrects_cold;
static unsigned interval_s;

static bool has_swap_space(void) {
  struct sysinfo info;
  return !sysinfo(&info) && info.totalswap;
}

enum hearth_cold_mode hearth_page_out_mode(void) { return has_swap_space() ? HEARTH_COLD_PAGEOUT : HEARTH_COLD_FILE; }

void hearth_page_out_open(enum hearth_cold_mode mode, bool corrects, unsigned seconds) {
  if (mode == HEARTH_COLD_PAGEOUT && !has_swap_space()) {
    hearth_hotcold_warn("cold=pageout has no effect: there is no swap space (cold=file needs none)", "");
    return;
  }
  const struct hearth_region *cold = &hearth_ranges.region[HEARTH_RANGE_COLD];
  cold_mode = mode;
  corrects_cold = corrects && hearth_warm_tiles_create((size_t)cold->pages << HEARTH_PAGE_SHIFT);
  if (corrects && !corrects_cold)
    hearth_hotcold_warn("cold=auto sends out memory that comes back, too: there is no memory for its notes", "");
  interval_s = seconds;
  hearth_page_out_after_fork();
}

void hearth_page_out_after_fork(void) {
  atomic_store_explicit(&hearth_page_out_is_wanted, cold_mode != HEARTH_COLD_KEEP && interval_s, memory_order_relaxed);
}

unsigned hearth_page_out_wait(unsigned waited_s, unsigned least_s, uint64_t sent_bytes, uint64_t returned_bytes) {
  if (!sent_bytes || returned_bytes <= sent_bytes / 4)
    return least_s;
  return waited_s < least_s * (LONGEST_WAIT / 2) ? waited_s * 2 : least_s * LONGEST_WAIT;
}

bool hearth_page_out_is_due(unsigned waited_s, unsigned wait_s, uint64_t committed_then, uint64_t committed_now) {
  return waited_s >= wait_s || committed_now > committed_then + committed_then / 8;
}

/* The bytes that there were in a round, those that it left in memory, and those that it sent out. */
struct round {
  uint64_t committed_bytes, resident_bytes, sent_bytes;
};

static uint64_t committed_bytes(void) { return hearth_region_committed(&hearth_ranges.region[HEARTH_RANGE_COLD]); }

static struct round look(void) {
  return (struct round){.committed_bytes = committed_bytes(),
                        .resident_bytes = hearth_region_resident(&hearth_ranges.region[HEARTH_RANGE_COLD])};
}

static void wait_for_work(unsigned wait_s, const struct round *last) {
  const struct timespec interval = {.tv_sec = (time_t)interval_s};
  unsigned waited_s = 0;
  do {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
    waited_s += interval_s;
  } while (!hearth_page_out_is_due(waited_s, wait_s, last->committed_bytes, committed_bytes()));
}

/* The bytes that are in memory now and were not then, except new memory. */
static uint64_t returned_since(const struct round *then, const struct round *now) {
  uint64_t expected = then->resident_bytes;
  if (now->committed_bytes > then->committed_bytes)
    expected += now->committed_bytes - then->committed_bytes;
  return now->resident_bytes > expected ? now->resident_bytes - expected : 0;
}

/* Pages that are being written when they are to leave the program stay in the system's cache. */
static void drop_cached(struct hearth_region *cold) {
  hearth_futex_lock_acquire(&cold->page_run_lock);
  int descriptor = hearth_cold_file_descriptor();
  hearth_futex_lock_release(&cold->page_run_lock);
  if (descriptor >= 0)
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
}

/* False if the kernel knows no such advice. */
static bool send_out(char *start, size_t bytes) {
  /* Dirty pages of a file are not dropped: they are written first. */
  if (cold_mode == HEARTH_COLD_FILE)
    msync(start, bytes, MS_SYNC);
  return !madvise(start, bytes, cold_mode == HEARTH_COLD_ADVISE ? MADV_COLD : MADV_PAGEOUT) || errno != EINVAL;
}

static bool send_out_cold_tiles(char *base, size_t bytes) {
  bool known = true;
  hearth_warm_tiles_look(base, bytes);
  for (size_t some, at = 0; known; at += some) {
    at = hearth_warm_tiles_stretch(at, bytes, &some);
    if (!some)
      break;
    known = send_out(base + at, some);
  }
  return known;
}

/* The same. */
static bool page_out(void) {
  struct hearth_region *cold = &hearth_ranges.region[HEARTH_RANGE_COLD];
  size_t bytes = hearth_region_extent(cold);
  if (!bytes)
    return true;
  bool known = corrects_cold ? send_out_cold_tiles(cold->base, bytes) : send_out(cold->base, bytes);
  if (cold_mode == HEARTH_COLD_FILE)
    drop_cached(cold);
  return known;
}

static void *run(void *unused) {
  struct round last = {0};
  unsigned wait_s = interval_s;
  prctl(PR_SET_NAME, (unsigned long)"hearth-cold");
  for (;;) {
    wait_for_work(wait_s, &last);
    struct round before = look();
    if (!page_out())
      break;
    if (!corrects_cold)
      wait_s = hearth_page_out_wait(wait_s, interval_s, last.sent_bytes, returned_since(&last, &before));
    last = look();
    last.sent_bytes = before.resident_bytes > last.resident_bytes ? before.resident_bytes - last.resident_bytes : 0;
  }
  hearth_hotcold_warn("cold memory stays: the kernel is too old (before 5.4), or the memory is locked", "");
  return unused;
}

static bool start_thread(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  long least = sysconf(_SC_THREAD_STACK_MIN);
  if (pthread_attr_init(&attributes))
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK_BYTES + (least > 0 ? (size_t)least : 0));
  bool started = !pthread_create(&thread, &attributes, run, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

/* pthread_create allocates by plain malloc; if that leads here again, the thread is no longer wanted. */
void hearth_page_out_start(void) {
  if (!atomic_exchange_explicit(&hearth_page_out_is_wanted, false, memory_order_relaxed))
    return;
  int saved_errno = errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!start_thread())
    hearth_hotcold_warn("cold memory stays: its thread cannot be started", "");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = saved_errno;
}

void hearth_pools_user_allocates(void) { hearth_page_out_ensure(); }
