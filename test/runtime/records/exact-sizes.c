/* Known counts, all exact: every size from 1 to 129 and around a page, more than 4 GiB, every alignment, neighbours; by
 * one thread and by four; and four threads on one block, where counting is atomic.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -mllvm -memprof-atomic -O1 -g -fno-builtin \
 * RUN:   -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize MaxSize TotalSize MinAccessCount MaxAccessCount \
 * RUN:   TotalAccessCount MinPercentUtilized | FileCheck %s
 *
 * Shared by four threads: 4 * 100000.
 * CHECK: AllocCount=1 MinSize=16 MaxSize=16 {{.*}} TotalAccessCount=400000
 * Of neighbours, those that nobody touches.
 * CHECK: AllocCount=1000 MinSize=32 MaxSize=32 {{.*}} MinAccessCount=0 MaxAccessCount=0 TotalAccessCount=0
 * CHECK: AllocCount=1000 MinSize=32 MaxSize=32 {{.*}} MinAccessCount=7 MaxAccessCount=7 TotalAccessCount=7000
 * Ten alignments, 8 to 4096, of 100 bytes; by the main thread and by four others.
 * CHECK: AllocCount=10 MinSize=100 MaxSize=100 {{.*}} MinAccessCount=100 MaxAccessCount=100 TotalAccessCount=1000 MinPercentUtilized=100
 * CHECK: AllocCount=40 MinSize=100 MaxSize=100 {{.*}} MinAccessCount=100 MaxAccessCount=100 TotalAccessCount=4000 MinPercentUtilized=100
 * Sizes 1 to 129, each byte once: 129 * 130 / 2.
 * CHECK: AllocCount=129 MinSize=1 MaxSize=129 TotalSize=8385 MinAccessCount=1 MaxAccessCount=129 TotalAccessCount=8385 MinPercentUtilized=100
 * CHECK: AllocCount=516 MinSize=1 MaxSize=129 TotalSize=33540 MinAccessCount=1 MaxAccessCount=129 TotalAccessCount=33540 MinPercentUtilized=100
 * CHECK: AllocCount=3 MinSize=4095 MaxSize=4097 TotalSize=12288 MinAccessCount=4095 MaxAccessCount=4097 TotalAccessCount=12288 MinPercentUtilized=100
 * CHECK: AllocCount=12 MinSize=4095 MaxSize=4097 TotalSize=49152 MinAccessCount=4095 MaxAccessCount=4097 TotalAccessCount=49152 MinPercentUtilized=100
 * CHECK: AllocCount=1 MinSize=4294967312 MaxSize=4294967312 TotalSize=4294967312 MinAccessCount=3 MaxAccessCount=3 TotalAccessCount=3
 */
#include <pthread.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

typedef volatile char bytes;

NOINLINE static bytes *small(size_t size) { return malloc(size); }
NOINLINE static bytes *around_page(size_t size) { return malloc(size); }
NOINLINE static bytes *huge(void) { return malloc(((size_t)4 << 30) + 16); }
NOINLINE static bytes *aligned(size_t alignment) { return aligned_alloc(alignment, 100); }
NOINLINE static bytes *touched(void) { return malloc(32); }
NOINLINE static bytes *untouched(void) { return malloc(32); }
NOINLINE static volatile long *shared(void) { return malloc(16); }

NOINLINE static void fill(bytes *block, size_t size) {
  for (size_t i = 0; i < size; i++)
    block[i] = 1;
  free((void *)block);
}

NOINLINE static void *every_size(void *unused) {
  for (size_t size = 1; size <= 129; size++)
    fill(small(size), size);
  for (size_t size = 4095; size <= 4097; size++)
    fill(around_page(size), size);
  for (size_t alignment = 8; alignment <= 4096; alignment *= 2)
    fill(aligned(alignment), 100);
  return unused;
}

NOINLINE static void *write_shared(void *block) {
  for (int i = 0; i < 100000; i++)
    ((volatile long *)block)[1] = i;
  return NULL;
}

static void in_threads(void *(*run)(void *), void *argument) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, run, argument))
      abort();
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
}

int main(void) {
  static bytes *neighbours[2000];
  for (int i = 0; i < 2000; i++)
    neighbours[i] = i % 2 ? touched() : untouched();
  for (int i = 1; i < 2000; i += 2)
    for (int k = 0; k < 7; k++)
      neighbours[i][k * 5] = 1;
  bytes *block = huge();
  block[0] = block[(size_t)4 << 30] = block[((size_t)4 << 30) + 15] = 1;
  every_size(NULL);
  in_threads(every_size, NULL);
  in_threads(write_shared, (void *)shared());
  return 0;
}
