/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program and the runtime's own thread run by turns: pass() goes on to the moment at which the thread wakes, or to its end. There
 * are no ticks, as these are the machine's. */
#define _GNU_SOURCE
#include "given_time.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM, THREAD };

static _Atomic uint64_t now_ns = UINT64_C(1000000000);
static uint64_t wakes_ns;     /* the thread, while it is the program's turn */
static _Atomic uint32_t turn; /* the thread's only in the process that began it */
static _Atomic pid_t process; /* that has the thread; 0: none */
static _Atomic bool is_free;  /* the thread waits for nobody's turn */

static void give_turn(uint32_t to) {
  atomic_store(&turn, to);
  syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void await_turn(uint32_t of) {
  for (uint32_t at; (at = atomic_load(&turn)) != of;)
    syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, at, NULL, NULL, 0);
}

void pass(unsigned long long ns) {
  uint64_t end_ns = now_ns + ns;

  while (process == getpid()) {
    await_turn(PROGRAM);
    if (wakes_ns > end_ns)
      break;
    now_ns = wakes_ns;
    give_turn(THREAD);
  }
  now_ns = end_ns;
}

void let_thread_go(void) {
  is_free = true;
  give_turn(THREAD);
}

/* The runtime draws by the date and the process number: by this date, it draws the same in each run. */
int clock_gettime(clockid_t clock, struct timespec *ret) {
  uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? 0 : now_ns;

  if (clock == CLOCK_REALTIME)
    ns += UINT64_C(1) << 62 | (uint64_t)getpid() << 40;
  *ret = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
  return 0;
}

bool __wrap_hearth_os_has_ticks(void);
bool __wrap_hearth_os_has_ticks(void) { return false; }

void __real_hearth_os_sleep(uint64_t ns);
void __wrap_hearth_os_sleep(uint64_t ns);
void __wrap_hearth_os_sleep(uint64_t ns) {
  if (ns == 0 || is_free) {
    __real_hearth_os_sleep(ns);
    return;
  }
  wakes_ns = now_ns + ns;
  give_turn(PROGRAM);
  await_turn(THREAD);
}

bool __real_hearth_os_begin_thread(void (*run)(void), void *memory, size_t size);
bool __wrap_hearth_os_begin_thread(void (*run)(void), void *memory, size_t size);
bool __wrap_hearth_os_begin_thread(void (*run)(void), void *memory, size_t size) {
  atomic_store(&turn, THREAD);
  bool began = __real_hearth_os_begin_thread(run, memory, size);
  process = began ? getpid() : 0;
  return began;
}
