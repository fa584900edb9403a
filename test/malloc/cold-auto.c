/* HEARTH_MALLOC=cold=auto: cold memory leaves, but for that which is in use all the time: that comes back, and stays from then on, for
 * longer each time. Memory that is not used stays away. By default it costs 1 % of the time at most: the first seconds buy fewer
 * reads of a disk than there are pages, so that a part leaves.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:cost=off:dir=%t.dir %t | FileCheck %s --check-prefix=AUTO
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:dir=%t.dir %t part | FileCheck %s --check-prefix=PART
 * RUN: env HEARTH_MALLOC=cold=auto:interval=1:cost=0:dir=%t.dir %t part 2>&1 | FileCheck %s --check-prefixes=ZERO,PART
 * RUN: ls %t.dir | count 0
 *
 * AUTO: used memory left 2 times, then stayed for 3 rounds; unused memory is out
 * AUTO: contents kept
 * ZERO: ignored: cost=0
 * PART: a part is out
 * PART: contents kept
 */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <hearth/malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, UNUSED_PAGES = 4096, USED_PAGES = 256, STEP_US = 20000, USE_STEPS = 16 };

static char *unused, *used;

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

static void use(void) {
  for (int i = 0; i < USED_PAGES; i++)
    ((volatile char *)used)[i * PAGE]++;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Until most of the used part has left; it is used three times a second, and comes back at once. Were it used more often, a
 * busy disk would not write a page before it is changed again, and it could not leave. Returns the seconds that it took. */
static double wait_until_gone(double most_s) {
  double begin = seconds();
  for (int step = 1; resident_pages(used, USED_PAGES) > USED_PAGES / 2 && seconds() < begin + most_s; step++) {
    if (step % USE_STEPS == 0)
      use();
    usleep(STEP_US);
  }
  double waited = seconds() - begin;
  use();
  return waited;
}

/* The first round has one slice leave, of 16 pages, to measure the price. */
static void wait_for_a_part(void) {
  double end = seconds() + 30;
  int resident = UNUSED_PAGES;
  while (resident >= UNUSED_PAGES - 16 && seconds() < end) {
    usleep(STEP_US);
    resident = resident_pages(unused, UNUSED_PAGES);
  }
  puts(resident >= UNUSED_PAGES - 16 ? "nothing is out" : resident ? "a part is out" : "all is out");
}

static void wait_for_rounds(void) {
  used = cold_block(USED_PAGES, 'b');
  use();
  /* Rounds: it leaves; has come back, stays; leaves; has come back, stays for three. */
  double first = wait_until_gone(60), second = wait_until_gone(60), third = wait_until_gone(60);
  assert(second > 1.5 && third > 3.5 && first < 60 && second < 60);
  int out = resident_pages(unused, UNUSED_PAGES) < UNUSED_PAGES / 10;
  printf("used memory left 2 times, then stayed for 3 rounds; unused memory is %s\n", out ? "out" : "in");
}

int main(int argc, char **argv) {
  (void)argv;
  unused = cold_block(UNUSED_PAGES, 'a');
  if (argc > 1)
    wait_for_a_part();
  else
    wait_for_rounds();
  for (int i = 0; i < UNUSED_PAGES * PAGE; i++)
    assert(unused[i] == 'a');
  puts("contents kept");
  return 0;
}
