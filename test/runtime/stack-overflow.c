/* The overflow of a stack ends the program by the same signal as without the runtime, and with its profile. A program's own
 * handler has the signal alone.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -rf %t.dir && mkdir %t.dir
 * RUN: for way in main thread large; do bash -c "HEARTH_OPTIONS=log_path=%t.dir/$way %t $way; echo \$?" 2>&1 | FileCheck %s || exit 1; done
 * RUN: %clang -O0 %s -o %t.plain && bash -c "%hearth record -o %t.dir/record -- %t.plain main; echo \$?" 2>&1 | FileCheck %s
 * RUN: ls %t.dir/main.* %t.dir/thread.* %t.dir/large.* %t.dir/record
 * RUN: bash -c "HEARTH_OPTIONS=log_path=%t.dir/p %t handled; echo \$?" 2>&1 | FileCheck %s --check-prefix=HANDLED
 *
 * CHECK: {{^139$}}
 * HANDLED: {{^7$}}
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int overflow(int depth) {
  volatile char space[200];

  space[0] = (char)depth;
  return overflow(depth + 1) + space[0];
}

static int overflow_largely(int depth) {
  volatile char space[3 << 20];

  space[(3 << 20) - 1] = (char)depth;
  return overflow_largely(depth + 1) + space[0];
}

static void *overflow_in_thread(void *closure) {
  free(malloc(16));
  return overflow(0) ? closure : NULL;
}

static void leave(int signal) { _exit(signal == SIGSEGV ? 7 : 1); }

static void handle(void) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_ONSTACK};

  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
}

int main(int argc, char **argv) {
  const char *way = argv[argc - 1];
  pthread_t thread;

  free(malloc(100));
  if (strcmp(way, "handled") == 0)
    handle();
  if (strcmp(way, "thread") == 0)
    return pthread_create(&thread, NULL, overflow_in_thread, NULL) || pthread_join(thread, NULL);
  return strcmp(way, "large") == 0 ? overflow_largely(0) : overflow(0);
}
