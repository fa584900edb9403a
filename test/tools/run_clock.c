/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded, it gives programs with HEARTH_OPTIONS, those that are profiled, a time that stands still until main ends, when a long one
 * passes: blocks that live at the end have lived for the whole run, and all others for none of it. What part of a run a block lives for
 * does then not depend on the machine, which may take long to load the program, or to give it memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BEGIN_S = 1, RUN_S = 100 };

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                           void (*rtld_fini)(void), void *stack_end);

static main_function *program;
static _Atomic bool has_ended;

static int run_program(int argc, char **argv, char **environment) {
  int code = program(argc, argv, environment);

  has_ended = true;
  return code;
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void *stack_end) {
  start_function *next = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");

  program = main;
  return next(run_program, argc, argv, init, fini, rtld_fini, stack_end);
}

void exit(int code) {
  void (*next)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");

  has_ended = true;
  next(code);
  abort();
}

int clock_gettime(clockid_t clock, struct timespec *ret) {
  static _Atomic int is_profiled; /* 0: not known yet */

  if (!is_profiled)
    is_profiled = getenv("HEARTH_OPTIONS") ? 1 : -1;
  if (clock != CLOCK_MONOTONIC || is_profiled < 0)
    return (int)syscall(SYS_clock_gettime, clock, ret);
  *ret = (struct timespec){.tv_sec = BEGIN_S + (has_ended ? RUN_S : 0)};
  return 0;
}
