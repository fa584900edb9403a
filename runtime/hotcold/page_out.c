#define _GNU_SOURCE
#include "page_out.h"

#include "fatal.h"
#include "ranges.h"

#include <errno.h>
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

enum { STACK_BYTES = 64 << 10 };

_Atomic bool hearth_page_out_is_wanted;
static enum hearth_cold_mode cold_mode;
static unsigned interval_s;

static bool has_swap_space(void) {
  struct sysinfo info;
  return !sysinfo(&info) && info.totalswap;
}

void hearth_page_out_open(enum hearth_cold_mode mode, unsigned seconds) {
  if (mode == HEARTH_COLD_PAGEOUT && !has_swap_space()) {
    hearth_hotcold_warn("cold=pageout has no effect: there is no swap space (cold=file needs none)", "");
    return;
  }
  cold_mode = mode;
  interval_s = seconds;
  hearth_page_out_after_fork();
}

void hearth_page_out_after_fork(void) {
  atomic_store_explicit(&hearth_page_out_is_wanted, cold_mode != HEARTH_COLD_KEEP && interval_s, memory_order_relaxed);
}

/* False if the kernel knows no such advice. */
static bool page_out(void) {
  struct hearth_region *cold = &hearth_ranges.region[HEARTH_RANGE_COLD];
  size_t bytes = hearth_region_extent(cold);
  if (!bytes)
    return true;
  /* Dirty pages of a file are not dropped: they are written first. */
  if (cold_mode == HEARTH_COLD_FILE)
    msync(cold->base, bytes, MS_SYNC);
  return !madvise(cold->base, bytes, cold_mode == HEARTH_COLD_ADVISE ? MADV_COLD : MADV_PAGEOUT) || errno != EINVAL;
}

static void *run(void *unused) {
  const struct timespec interval = {.tv_sec = (time_t)interval_s};
  prctl(PR_SET_NAME, (unsigned long)"hearth-cold");
  do {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
  } while (page_out());
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

/* What pthread_create allocates, it does by plain malloc; should that lead here again, the thread is no longer wanted. */
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
