/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded, it gives programs with HEARTH_OPTIONS, those that are profiled, a time that stands still until it ends, when a long one
 * passes at once, as where it first asks for its processor time: blocks that live at the end have lived for the run, and most others for
 * none of it. What part of a run a block lives for does then not depend on the machine, which may take long to load the program, or to
 * give it memory. From the end on, time goes on as it does, for what waits. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { BEGIN_S = 1, RUN_S = 100, NS_OF_S = 1000000000 };

static _Atomic int64_t end_ns;  /* by the system's clock; 0: the program runs */
static _Atomic int64_t waits_s; /* passed until then */

static int64_t system_ns(clockid_t clock, struct timespec *ret) {
  syscall(SYS_clock_gettime, clock, ret);
  return (int64_t)ret->tv_sec * NS_OF_S + ret->tv_nsec;
}

static void end(void) {
  struct timespec now;
  end_ns = system_ns(CLOCK_MONOTONIC, &now);
}

/* Behind the handlers of the program, before the runtime's. */
__attribute__((constructor)) static void begin(void) { atexit(end); }

/* A program that waits for its processor. */
EXPORT clock_t clock(void) {
  struct timespec now;
  waits_s = RUN_S;
  return (clock_t)(system_ns(CLOCK_PROCESS_CPUTIME_ID, &now) / (NS_OF_S / CLOCKS_PER_SEC));
}

/* The runtime asks for the time before the C library knows the environment. */
static bool find_profiled(void) {
  static char text[1 << 16];
  int file = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
  ssize_t bytes = file >= 0 ? read(file, text, sizeof text) : 0;
  close(file);
  return bytes > 0 && memmem(text, (size_t)bytes, "HEARTH_OPTIONS=", strlen("HEARTH_OPTIONS=")) != NULL;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *ret) {
  static _Atomic int is_profiled; /* 0: not known yet */
  int64_t ns = system_ns(clock, ret);
  if (!is_profiled)
    is_profiled = find_profiled() ? 1 : -1;
  if (clock != CLOCK_MONOTONIC || is_profiled < 0)
    return 0;
  ns = (BEGIN_S + waits_s + (end_ns ? RUN_S : 0)) * NS_OF_S + (end_ns ? ns - end_ns : 0);
  *ret = (struct timespec){.tv_sec = ns / NS_OF_S, .tv_nsec = ns % NS_OF_S};
  return 0;
}
