/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decision sites whose calls the code generator makes jumps: a state machine that lives by jumps takes no more stack than
 * without a profile, and each block of a run like the profiled one goes where its context says.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O2 $(%hearth flags instrument --clang=%clang) %s -o jumps.i
 * RUN: env %run_clock HEARTH_OPTIONS=log_path=%t/raw ./jumps.i 1000 1
 * RUN: %hearth index -q --layout=calls raw.* --binary jumps.i -o jumps.prof
 * RUN: %clang -O2 $(%hearth flags use jumps.prof --clang=%clang) -I%include -DPLACED -mllvm -memprof-contexts-by=word %s -o jumps
 * RUN: ./jumps 1000 1 | FileCheck %s --check-prefix=AS-PROFILED
 * AS-PROFILED: cold: 0 other {{[0-9]+}} cold 0 hot
 * AS-PROFILED-NEXT: hot: 0 other 0 cold {{[0-9]+}} hot
 * A long chain of jumps passes the site of the cold ones, and all is cold from then on: of the other one the profile
 * knows nothing.
 * RUN: bash -c 'ulimit -s 256 && exec ./jumps 1 1000000' | FileCheck %s --check-prefix=LONG
 * LONG: cold: 0 other {{[0-9]+}} cold 0 hot
 * LONG-NEXT: hot: 0 other {{[1-9][0-9]*}} cold
 * Bits that other calls clear in between, in spite of the profile.
 * RUN: bash -c 'ulimit -s 256 && exec ./jumps 1 1000000 nested' | FileCheck %s --check-prefix=NESTED
 * NESTED: cold: 0 other
 * NESTED-NEXT: hot: 0 other
 *
 * The code: a jump where the bit is set, or too many frames are kept; otherwise a call.
 * RUN: %clang -O2 $(%hearth flags use jumps.prof --clang=%clang --compile) -mllvm -memprof-contexts-by=word -S -emit-llvm %s -o jumps.ll
 * RUN: %native_opt -disable-output -passes=verify,hearth-verify jumps.ll
 * RUN: FileCheck %s --check-prefix=CODE < jumps.ll
 * CODE-LABEL: define {{.*}}@item(
 * CODE: [[NOW:%[^ ]+]] = load i64, {{.*}}@__hearth_contexts.[[ID:[0-9a-f]+]]
 * CODE-NEXT: [[SET:%[^ ]+]] = or i64 [[NOW]], {{[12]}}
 * CODE-NEXT: [[IS_SET:%[^ ]+]] = icmp eq i64 [[SET]], [[NOW]]
 * CODE-NEXT: [[IS_FULL:%[^ ]+]] = icmp uge i64 [[NOW]], -288230376151711744
 * CODE-NEXT: [[JUMP:%[^ ]+]] = or i1 [[IS_SET]], [[IS_FULL]]
 * CODE-NEXT: [[KEEPS:%[^ ]+]] = add i64 [[SET]], 288230376151711744
 * CODE-NEXT: [[UNLESS_SET:%[^ ]+]] = select i1 [[IS_FULL]], i64 -288230376151711744, i64 [[KEEPS]]
 * CODE-NEXT: [[NEXT:%[^ ]+]] = select i1 [[IS_SET]], i64 [[SET]], i64 [[UNLESS_SET]]
 * CODE-NEXT: store i64 [[NEXT]], {{.*}}@__hearth_contexts.[[ID]]
 * CODE-NEXT: br i1 [[JUMP]], label
 * CODE: call i32 @{{name|value}}(
 * CODE-NEXT: store i64 [[NOW]], {{.*}}@__hearth_contexts.[[ID]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLACED
#include <hearth/malloc.h>
#endif

#define NOINLINE __attribute__((noinline))

/* Each item is one cycle item -> (name | value) -> store -> item. Names are cold, values hot. */
typedef struct machine {
  long items;
  unsigned random, is_value;
  int name_count, value_count, is_nested;
  char *names[400], *values[400];
} machine;

int item(machine *m);
int name(machine *m);
int value(machine *m);

NOINLINE char *allocate(size_t size) {
  char *block = malloc(size);
  if (!block)
    exit(1);
  return memset(block, 0, size);
}

NOINLINE int store(machine *m) {
  if (m->is_value && m->value_count < 200)
    m->values[m->value_count++] = allocate(400);
  if (!m->is_value && m->name_count < 400)
    m->names[m->name_count++] = allocate(400);
  return item(m);
}

NOINLINE int name(machine *m) {
  m->is_value = 0;
  return store(m);
}

NOINLINE int value(machine *m) {
  m->is_value = 1;
  return store(m);
}

static inline int branch(machine *m) { return m->random >> 31 ? name(m) : value(m); }

/* One item, in a call that comes back. */
NOINLINE int nested(machine *m) {
  machine one = {.random = m->random};
  int result = branch(&one);
  free(one.names[0]);
  free(one.values[0]);
  return result;
}

NOINLINE int item(machine *m) {
  if (m->items-- <= 0)
    return (int)m->random;
  m->random = m->random * 1664525 + 1013904223;
  if (m->is_nested)
    m->random += nested(m) & 1;
  return branch(m);
}

static machine the_machine = {.random = 1};

#ifdef PLACED
static void print_places(const char *what, char **blocks, int count) {
  int of[3] = {0};
  for (int i = 0; i < count; i++)
    of[hearth_malloc_class(blocks[i])]++;
  printf("%s: %d other %d cold %d hot\n", what, of[HEARTH_MALLOC_OTHER], of[HEARTH_MALLOC_COLD],
         of[HEARTH_MALLOC_HOT]);
}
#endif

int main(int argc, char **argv) {
  long runs = atol(argv[1]), items = atol(argv[2]);
  unsigned sum = (unsigned)nested(&the_machine);
  the_machine.is_nested = argc > 3;
  for (long run = 0; run < runs; run++) {
    the_machine.items = items;
    sum += (unsigned)item(&the_machine);
  }
  for (int i = 0; i < 20000; i++)
    for (int k = 0; k < the_machine.value_count; k++)
      sum += (unsigned)the_machine.values[k][i % 400]++;
#ifdef PLACED
  print_places("cold", the_machine.names, the_machine.name_count);
  print_places("hot", the_machine.values, the_machine.value_count);
#endif
  return sum == 0x12345678;
}
