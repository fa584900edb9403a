/* Unwinding on stacks other than those of the main thread and of pthread_create: coroutines, a signal stack, deep
 * recursion, a small thread stack, and code that uses the frame pointer for something else. Stacks may be cut short, but
 * nothing is read that is not a stack.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -I%S/../Inputs
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:stack_depth=5 %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize | FileCheck %s
 *
 * CHECK: AllocCount=3 MaxSize=1001 | odd-stacks.c.tmp+[[MAKE:0x[0-9a-f]+]] odd-stacks.c.tmp+
 * CHECK: AllocCount=2 MaxSize=1002 | odd-stacks.c.tmp+[[MAKE]] odd-stacks.c.tmp+
 * CHECK: AllocCount=1 MaxSize=1003 | odd-stacks.c.tmp+[[MAKE]] odd-stacks.c.tmp+
 * CHECK: AllocCount=1 MaxSize=1004 | odd-stacks.c.tmp+[[MAKE]]
 * CHECK: AllocCount={{[0-9]+}} MaxSize=1005 | odd-stacks.c.tmp+[[WILD:0x[0-9a-f]+]]{{$}}
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "wild.h"

#define STACK_SIZE 65536

__attribute__((noinline)) static void make(size_t size) { free(malloc(size)); }

static ucontext_t main_context, coroutine_context;

static void coroutine(void) {
  for (;;) {
    make(1001);
    swapcontext(&coroutine_context, &main_context);
  }
}

static void on_signal(int signal) {
  (void)signal;
  make(1002);
}

/* Deeper than any buffer, on a stack that grows under way. */
__attribute__((noinline)) static int recurse(int depth) {
  volatile char frame[3000];

  frame[depth % 3000] = 1;
  if (depth == 0)
    make(1003);
  return depth ? recurse(depth - 1) + frame[depth % 3000] : 0;
}

static void *small_thread(void *closure) {
  make(1004);
  return closure;
}

int main(void) {
  char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  getcontext(&coroutine_context);
  coroutine_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_SIZE};
  makecontext(&coroutine_context, coroutine, 0);
  for (int i = 0; i < 3; ++i)
    swapcontext(&main_context, &coroutine_context);

  stack_t signal_stack = {.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE};
  sigaltstack(&signal_stack, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  raise(SIGUSR1);

  recurse(1000);

  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  if (pthread_create(&thread, &attributes, small_thread, NULL) != 0)
    return 1;
  pthread_join(thread, NULL);

  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t values[] = {0, 1, 8, 0x1000, here + 1, here + ((uintptr_t)1 << 40), (uintptr_t)stack - 4096,
                              (uintptr_t)main, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 63};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i)
    wild(values[i]);
  return 0;
}
