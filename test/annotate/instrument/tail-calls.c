/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs that live by tail calls run under profiling on the stack that they run on without, and contexts have the callers
 * that end in a call.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 $(%hearth flags instrument --clang=%clang) %s -o calls
 * RUN: bash -c 'ulimit -s 512 && HEARTH_OPTIONS=log_path=raw exec ./calls 1 300000' | FileCheck %s
 * CHECK: states 300001 steps 300001 length 300000 musttail {{[1-9]}}
 * Jumps of a program that asks for all of them, in other files too. Allocation calls are none.
 * RUN: %clang -O2 $(%hearth flags instrument --clang=%clang) -foptimize-sibling-calls -DACROSS %s -c -o across.o
 * RUN: %clang -O2 $(%hearth flags instrument --clang=%clang) -foptimize-sibling-calls -DOTHER_FILE %s across.o -o across
 * RUN: bash -c 'ulimit -s 512 && HEARTH_OPTIONS=log_path=across.raw exec ./across 300000'
 * RUN: %hearth index -q across.raw.* --binary across -o across.prof && %hearth show --full across.prof | FileCheck %s --check-prefix=LEAF
 * LEAF: 77.0 bytes on average
 * LEAF: {{^ +}}last_wrapper 
 *
 * A short run has all frames.
 * RUN: env HEARTH_OPTIONS=log_path=short ./calls 100 1
 * RUN: %hearth index -q short.* --binary calls -o short.prof && %hearth show --full short.prof > short.txt
 * RUN: FileCheck %s --check-prefix=EVEN < short.txt && FileCheck %s --check-prefix=ODD < short.txt
 * EVEN: 100.0 bytes on average
 * EVEN: {{^ +}}allocate
 * EVEN-NEXT: {{^ +}}state_end
 * EVEN-NEXT: {{^ +}}state_even
 * EVEN-NEXT: {{^ +}}state_start
 * EVEN-NEXT: {{^ +}}main
 * ODD: 200.0 bytes on average
 * ODD: {{^ +}}allocate
 * ODD-NEXT: {{^ +}}state_end
 * ODD-NEXT: {{^ +}}state_odd
 * ODD-NEXT: {{^ +}}state_start
 * ODD-NEXT: {{^ +}}main
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

#if defined(ACROSS)
long here(long n);
NOINLINE long there(long n) { return n <= 0 ? n : here(n - 1); }
NOINLINE void *last_wrapper(size_t size) { return malloc(size); }

#elif defined(OTHER_FILE)
void *last_wrapper(size_t size);
long there(long n);
NOINLINE long here(long n) { return n <= 0 ? n : there(n - 1); }
int main(int argc, char **argv) {
  void *block = last_wrapper(77);
  free(block);
  return here(atol(argv[argc - 1])) != 0;
}

#else
typedef struct machine {
  long left, states;
  int size;
  void *last;
} machine;

NOINLINE void *allocate(size_t size) {
  void *block = malloc(size);
  if (!block)
    exit(1);
  return block;
}

long state_start(machine *m);
NOINLINE long state_end(machine *m) {
  if (!m->last)
    m->last = allocate((size_t)m->size);
  return state_start(m);
}
NOINLINE long state_even(machine *m) {
  m->size = 100;
  return state_end(m);
}
NOINLINE long state_odd(machine *m) {
  m->size = 200;
  return state_end(m);
}
NOINLINE long state_start(machine *m) {
  m->states++;
  if (m->left-- <= 0)
    return m->states;
  return m->left & 1 ? state_even(m) : state_odd(m);
}

/* States in a table. */
typedef long (*step)(const char *program, long count);
static const step steps[];
NOINLINE long next(const char *program, long count) { return steps[program[count & 1] - 'a'](program, count); }
NOINLINE long back(const char *program, long count) {
  return count <= 0 ? -count : steps[program[count & 1] - 'a'](program, count - 1);
}
NOINLINE long stop(const char *program, long count) { return program[0] + count; }
static const step steps[] = {back, next, stop};

/* Recursion that is a loop once its sum is an accumulator. */
typedef struct node {
  struct node *next;
} node;
NOINLINE long length(const node *list) { return list ? 1 + length(list->next) : 0; }

NOINLINE int must_odd(long n);
NOINLINE int must_even(long n) {
  if (n == 0)
    return 1;
  __attribute__((musttail)) return must_odd(n - 1);
}
NOINLINE int must_odd(long n) {
  if (n == 0)
    return 2;
  __attribute__((musttail)) return must_even(n - 1);
}

int main(int argc, char **argv) {
  long runs = atol(argv[1]), count = atol(argv[argc - 1]), states = 0;
  node *nodes = calloc((size_t)count, sizeof *nodes);
  for (long i = 0; i + 1 < count; i++)
    nodes[i].next = &nodes[i + 1];
  for (long i = 0; i < runs; i++) {
    machine m = {.left = count + (runs > 1 ? i & 1 : 0)};
    states += state_start(&m);
    if (i & 1)
      free(m.last);
  }
  printf("states %ld steps %ld length %ld musttail %d\n", states, 1 + count + back("aa", count), length(nodes),
         must_even(count));
  return 0;
}
#endif
