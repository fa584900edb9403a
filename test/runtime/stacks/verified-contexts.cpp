/* Contexts that are found by what a thread remembers of its stacks are those that unwinding finds: in callbacks from
 * libraries without frame pointers, after longjmp and exceptions, on coroutines' stacks, behind tail calls, in signal
 * handlers, in deep recursion, in libraries that take each other's place, and on many threads.
 *
 * RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t -foptimize-sibling-calls -ldl
 * RUN: %clang -O1 -fno-omit-frame-pointer -shared -fPIC -x c -DLIBRARY=1 %s -o %t.1.so
 * RUN: %clang -O1 -fno-omit-frame-pointer -shared -fPIC -x c -DLIBRARY=2 %s -o %t.2.so
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:verify_contexts=1 %t %t.1.so %t.2.so 2>&1 | FileCheck %s
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:verify_contexts=1:recursion=full:stack_depth=12 %t %t.1.so %t.2.so 2>&1 \
 * RUN:   | FileCheck %s
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:verify_contexts=1:unwind=fp %t %t.1.so %t.2.so 2>&1 | FileCheck %s
 *
 * CHECK: {{[1-9][0-9][0-9][0-9][0-9][0-9]+}} contexts were found, and 0 of them differ from those of unwinding
 */
#include <stdlib.h>

#ifdef LIBRARY
static void *volatile made;

__attribute__((noinline)) static void leave(void) {
  made = malloc(LIBRARY * 8);
  free(made);
}

#if LIBRARY == 1
void call_back(void (*callback)(void)) {
  leave();
  callback();
}
#else
__attribute__((noinline)) static void go_on(void (*callback)(void), long more) {
  volatile long room[40];

  room[more % 40] = more;
  callback();
  leave();
}

void call_back(void (*callback)(void)) {
  for (int i = 0; i < 2; i++)
    go_on(callback, i);
}
#endif

#else
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

static thread_local uint64_t random_state = 1;
static thread_local jmp_buf jump;
static thread_local unsigned left; /* calls */

static unsigned draw(unsigned below) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(random_state >> 33) % below;
}

NOINLINE static void make() { free(malloc(1 + draw(100))); }

static int run(int depth);

static int compare(const void *, const void *) {
  make();
  return (int)draw(3) - 1;
}

static int compare_deeply(const void *, const void *) { return run(1) ? 1 : -1; }

NOINLINE static int sort(int depth) {
  int numbers[5] = {5, 3, 4, 1, 2};

  qsort(numbers, 5, sizeof numbers[0], draw(2) ? compare : compare_deeply);
  return depth;
}

NOINLINE static int throw_out(int depth) {
  make();
  if (draw(2))
    throw depth;
  return run(depth - 1);
}

NOINLINE static int catch_it(int depth) {
  try {
    return throw_out(depth);
  } catch (int thrown) {
    make();
    return thrown;
  }
}

NOINLINE static int jump_out(int depth) {
  jmp_buf outer;
  volatile int sum = depth;

  __builtin_memcpy(&outer, &jump, sizeof outer);
  if (setjmp(jump) == 0)
    sum = sum + run(depth - 1);
  __builtin_memcpy(&jump, &outer, sizeof outer);
  make();
  return sum;
}

NOINLINE static int end_in_call(int depth) { return draw(2) ? run(depth) : catch_it(depth); }

static int run(int depth) {
  if (left == 0 || depth <= 0)
    return 0;
  --left;
  make();
  switch (draw(9)) {
  case 0:
    return sort(depth);
  case 1:
    return catch_it(depth) + 1;
  case 2:
    return jump_out(depth) + 1;
  case 3:
    return end_in_call(depth - 1);
  case 4:
    raise(SIGUSR1);
    return run(depth - 1) + run(depth - 1);
  case 5: {
    volatile char *room = static_cast<char *>(__builtin_alloca(8 + draw(200)));
    room[0] = 1;
    return run(depth - 1) + room[0];
  }
  default:
    return run(depth - 1) + 1;
  }
}

NOINLINE static int recurse(int depth) {
  make();
  return depth > 0 ? recurse(depth - 1) + 1 : 0;
}

static void on_signal(int) { make(); }

static void repeat() {
  for (int i = 0; i < 3000; i++) {
    left = 40;
    if (setjmp(jump) == 0)
      run(1 + (int)draw(20));
  }
}

static ucontext_t thread_context, coroutine_context;
static char coroutine_stack[1 << 18];

static void coroutine() {
  for (int i = 0; i < 50; i++) {
    left = 40;
    run(8);
    swapcontext(&coroutine_context, &thread_context);
  }
}

static void *work(void *seed) {
  random_state = (uintptr_t)seed;
  repeat();
  return NULL;
}

static void use(const char *name) {
  void *library = dlopen(name, RTLD_NOW);
  if (!library)
    abort();
  reinterpret_cast<void (*)(void (*)())>(dlsym(library, "call_back"))(make);
  dlclose(library);
}

int main(int, char **arguments) {
  pthread_t threads[3];

  signal(SIGUSR1, on_signal);
  for (uintptr_t i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, work, reinterpret_cast<void *>(i + 2));
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = coroutine_stack;
  coroutine_context.uc_stack.ss_size = sizeof coroutine_stack;
  coroutine_context.uc_link = &thread_context;
  makecontext(&coroutine_context, coroutine, 0);
  for (int i = 0; i < 50; i++) {
    use(arguments[1 + i % 2]);
    left = 40;
    run(8);
    swapcontext(&thread_context, &coroutine_context);
  }
  repeat();
  recurse(1000);
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
#endif
