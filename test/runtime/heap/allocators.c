/* Blocks of the program's own allocators, as exact as malloc's: counts, sizes, types, accesses, those that are live, those
 * that a register has no room for; by several threads, and in a forked child.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -fdebug-info-for-profiling && rm -f %t.raw.*
 * RUN: HEARTH_OPTIONS=log_path=%t.raw %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.raw.* AllocCount MinSize MaxSize TotalSize TotalAccessCount LiveAtExit \
 * RUN:   DataTypeId > %t.txt && FileCheck %s < %t.txt && grep -c '| heap:' %t.txt | FileCheck %s --check-prefix=CONTEXTS
 *
 * CHECK: profile: accesses=1 contexts={{[0-9]+}} dropped_blocks=0 dropped_stacks=0
 * Nothing in it; then each freed by the next at its address, the last one live.
 * CHECK: AllocCount=3 MinSize=0 MaxSize=0 TotalSize=0 TotalAccessCount=0 LiveAtExit=1 DataTypeId=0 | heap:arena allocators.c.tmp
 * Neighbours of 64 bytes each, of which every second is written to: by four threads, 2 * 500 accesses each.
 * CHECK: AllocCount=4000 MinSize=64 MaxSize=64 TotalSize=256000 TotalAccessCount=2000 LiveAtExit=0 DataTypeId=line | heap:lines {{.*}} scope:worker
 * Bumped, and cleared twice: 3 + 7 blocks, the type told later.
 * CHECK: AllocCount=10 MinSize=200 MaxSize=1100 TotalSize=7100 TotalAccessCount=10 LiveAtExit=0 DataTypeId=page | heap:arena
 * The same context with two types: mixed.
 * CHECK: AllocCount=2 MinSize=2000 MaxSize=2001 {{.*}} DataTypeId=18446744073709551615 | heap:arena
 * malloc's blocks have types, too.
 * CHECK: AllocCount=1 MinSize=3000 MaxSize=3000 TotalSize=3000 TotalAccessCount=0 LiveAtExit=1 DataTypeId=table | allocators.c.tmp
 * CONTEXTS: {{^}}4
 *
 * A register of 100 blocks: the others are counted.
 * RUN: rm -f %t.few.* && HEARTH_OPTIONS=log_path=%t.few:allocator_blocks=100 %t many
 * RUN: python3 %S/../Inputs/raw_print.py %t.few.* AllocCount LiveAtExit | FileCheck %s --check-prefix=FEW
 * FEW: dropped_blocks=150 dropped_stacks=0
 * FEW: AllocCount=350 LiveAtExit=100 | heap:lines
 *
 * Sampled: estimates, of which 20,000 blocks of 64 bytes are some 1,280,000 bytes.
 * RUN: rm -f %t.some.* && HEARTH_OPTIONS=log_path=%t.some:sample=1000 %t sampled
 * RUN: python3 %S/../Inputs/raw_print.py %t.some.* TotalSize | grep 'heap:lines' | grep -o '=[0-9]*' | tr -d = | \
 * RUN:   awk '{ sum += $1 } END { print (sum > 1100000 && sum < 1460000 ? "near" : sum) }' | FileCheck %s --check-prefix=SAMPLED
 * SAMPLED: near
 *
 * What a process had before it forked is not its child's.
 * RUN: rm -f %t.fork.* && HEARTH_OPTIONS=log_path=%t.fork %t fork > %t.pids && read child < %t.pids && \
 * RUN:   python3 %S/../Inputs/raw_print.py %t.fork.$child AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=FORK
 * FORK-NOT: MaxSize=64
 * FORK: AllocCount=1 MaxSize=65 LiveAtExit=0 | heap:lines
 * FORK-NOT: MaxSize=64
 *
 * Without a runtime nothing happens.
 * RUN: %clang -O1 -I%include %s -lpthread -o %t.plain && %t.plain && %t.plain many
 */
#include "hearth/allocator.h"
#include "hearth/context.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, LINES = 500 };

static hearth_allocator lines = HEARTH_ALLOCATOR("lines");
static hearth_allocator arena = HEARTH_ALLOCATOR("arena");

static volatile char memory[THREADS][LINES * 64] __attribute__((aligned(64)));
static volatile char pages[16384] __attribute__((aligned(64)));

static __attribute__((noinline)) void *work(void *own) {
  HEARTH_SCOPE("test", "worker");
  volatile char *at = own;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < LINES; ++i)
      hearth_allocator_allocated(&lines, (const void *)(at + 64 * i), 64, "line");
    for (int i = 0; i < LINES; i += 2)
      at[64 * i + 63] = 1;
    for (int i = 0; i < LINES; ++i)
      hearth_allocator_freed(&lines, (const void *)(at + 64 * i));
  }
  return NULL;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void *)memory[i]);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
}

static __attribute__((noinline)) void bump(int count) {
  volatile char *at = pages;
  for (int i = 0; i < count; ++i) {
    size_t size = count == 3 ? 200 * (size_t)(i + 1) : i == 0 ? 1100 : 800;
    hearth_allocator_allocated(&arena, (const void *)at, size, NULL);
    hearth_allocator_set_type(&arena, (const void *)at, "page");
    *at = 1;
    at += (size + 63) / 64 * 64;
  }
  hearth_allocator_cleared(&arena);
}

static __attribute__((noinline)) void take(hearth_allocator *from, size_t size, const char *type) {
  hearth_allocator_allocated(from, (const void *)pages, size, type);
}

static void usual(void) {
  run_threads();
  for (int count = 3; count <= 7; count += 4)
    bump(count);
  for (size_t i = 0; i < 2; ++i)
    take(&arena, 2000 + i, i ? "b" : "a");
  hearth_allocator_freed(&arena, (const void *)pages);
  hearth_allocator_freed(&arena, (const void *)pages); /* there is none any more */
  for (int i = 0; i < 3; ++i)
    hearth_allocator_allocated(&arena, (const void *)pages, 0, NULL);
  void *table = malloc(3000);
  hearth_allocator_set_type(NULL, table, "table");
  hearth_allocator_set_type(NULL, &lines, "no block of malloc's");
}

/* 500 blocks, of which 250 are freed at once, and of the others 100 have room. */
static void many(void) {
  for (int i = 0; i < 500; ++i) {
    hearth_allocator_allocated(&lines, (const void *)(memory[0] + i), 1, NULL);
    if (i < 250)
      hearth_allocator_freed(&lines, (const void *)(memory[0] + i));
  }
}

static void sampled(void) {
  for (int round = 0; round < 40; ++round)
    for (int i = 0; i < LINES; ++i) {
      hearth_allocator_allocated(&lines, (const void *)(memory[0] + 64 * i), 64, NULL);
      if (i % 3)
        hearth_allocator_freed(&lines, (const void *)(memory[0] + 64 * i));
    }
}

static void in_child(void) {
  hearth_allocator_allocated(&lines, (const void *)memory[0], 64, NULL);
  pid_t child = fork();
  if (child == 0) {
    hearth_allocator_freed(&lines, (const void *)memory[0]);
    hearth_allocator_allocated(&lines, (const void *)memory[1], 65, NULL);
    hearth_allocator_freed(&lines, (const void *)memory[1]);
    exit(0);
  }
  waitpid(child, NULL, 0);
  printf("%d\n", (int)child);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "many") == 0)
    many();
  else if (strcmp(what, "sampled") == 0)
    sampled();
  else if (strcmp(what, "fork") == 0)
    in_child();
  else
    usual();
  return 0;
}
