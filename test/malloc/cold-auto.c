/* HEARTH_MALLOC=cold=auto: cold memory leaves, but for that which is in use all the time: that comes back, and stays from then on, for
 * longer each time. Memory that is not used stays away. By default it costs 1 % of the time at most: the first seconds buy fewer
 * reads of a disk than there are pages, so that a part leaves. Here a read takes a tenth of a millisecond.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:cost=off:dir=%t.dir timeout 600 %t | FileCheck %s --check-prefix=AUTO
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:dir=%t.dir timeout 600 %t part | FileCheck %s --check-prefix=PART
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:cost=0:dir=%t.dir timeout 600 %t part 2>&1 | FileCheck %s --check-prefixes=ZERO,PART
 * RUN: ls %t.dir | count 0
 *
 * AUTO: used memory was sent in rounds 1 3 7 15; unused memory is out
 * AUTO: contents kept
 * ZERO: ignored: cost=0
 * PART: one slice for the price, then more
 * PART: contents kept
 */
#undef NDEBUG
#define _GNU_SOURCE
#include "Inputs/cold_rounds.h"

#include <assert.h>
#include <hearth/malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
  PAGE = 4096,
  UNUSED_PAGES = 4096,
  USED_PAGES = 256,
  SLICE_PAGES = 16,
  ROUNDS = 15,
  READ_NS = 100000,
  READS_OF_ROUND = 100
};

static char *unused, *used;
static size_t pages_sent;
static bool used_is_sent;

/* In place of the C library's, for the thread: a round comes each second, each other step takes a read's time, and the thread's own
 * work none. */
int clock_gettime(clockid_t clock, struct timespec *ret) {
  static long steps;
  steps += clock == CLOCK_MONOTONIC;
  *ret = clock == CLOCK_MONOTONIC ? (struct timespec){cold_waits, steps * READ_NS} : (struct timespec){0};
  return 0;
}

/* Likewise. */
int madvise(void *start, size_t bytes, int advice) {
  char *from = start;
  if (advice == MADV_PAGEOUT) {
    pages_sent += bytes / PAGE;
    used_is_sent |= used && from < used + USED_PAGES * PAGE && used < from + bytes;
  }
  return (int)syscall(SYS_madvise, start, bytes, advice);
}

static char *cold_block(size_t pages, char fill) {
  char *block = malloc_hot_cold(pages * PAGE, 0);
  assert(hearth_malloc_class(block) == HEARTH_MALLOC_COLD);
  return memset(block, fill, pages * PAGE);
}

static int resident_pages(char *block, size_t pages) {
  static unsigned char in_memory[UNUSED_PAGES];
  int count = 0;
  assert(!mincore(block, pages * PAGE, in_memory));
  for (size_t i = 0; i < pages; i++)
    count += in_memory[i] & 1;
  return count;
}

/* The thread's rule for what comes back at once: it stays for one round, for three, for seven. */
static void check_used(void) {
  used = cold_block(USED_PAGES, 'b');
  printf("used memory was sent in rounds");
  for (int round = 1; round <= ROUNDS; round++) {
    for (int i = 0; i < USED_PAGES; i++)
      ((volatile char *)used)[i * PAGE]++;
    used_is_sent = false;
    cold_round();
    if (used_is_sent)
      printf(" %d", round);
  }
  while (resident_pages(unused, UNUSED_PAGES) >=
         UNUSED_PAGES / 10) /* pages that were being written stay for some rounds */
    cold_round();
  puts("; unused memory is out");
}

/* One slice leaves in each round, to measure the price, until a page of it is seen to be out. */
static void check_part(void) {
  size_t before = 0, all = 0;
  cold_round();
  assert(pages_sent == SLICE_PAGES);
  for (unsigned round = 2; all <= before + SLICE_PAGES; round++) {
    before = pages_sent;
    cold_round();
    all = pages_sent;
    assert(all <= (size_t)round * (READS_OF_ROUND + SLICE_PAGES));
  }
  puts("one slice for the price, then more");
}

int main(int argc, char **argv) {
  (void)argv;
  unused = cold_block(UNUSED_PAGES, 'a');
  if (argc > 1)
    check_part();
  else
    check_used();
  for (int i = 0; i < UNUSED_PAGES * PAGE; i++)
    assert(unused[i] == 'a');
  puts("contents kept");
  return 0;
}
