/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded, it gives programs with HEARTH_OPTIONS, those that are profiled, their processor time in place of the time. What part of a
 * run a block lives for does then not depend on what else the machine does: for how long the program waits to be loaded, or for a
 * processor. Time goes on in a forked child. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool is_profiled;
static uint64_t before_ns; /* of the processes that forked this one */
static uint64_t fork_ns;

static int ask_system(clockid_t clock, struct timespec *ret) { return (int)syscall(SYS_clock_gettime, clock, ret); }

static uint64_t processor_ns(void) {
  struct timespec own;

  ask_system(CLOCK_PROCESS_CPUTIME_ID, &own);
  return before_ns + (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec;
}

static void before_fork(void) { fork_ns = processor_ns(); }

static void after_fork(void) { before_ns = fork_ns; }

__attribute__((constructor)) static void begin(void) { pthread_atfork(before_fork, NULL, after_fork); }

int clock_gettime(clockid_t clock, struct timespec *ret) {
  if (clock != CLOCK_MONOTONIC || !(is_profiled = is_profiled || getenv("HEARTH_OPTIONS")))
    return ask_system(clock, ret);
  uint64_t ns = processor_ns();
  *ret = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  return 0;
}
