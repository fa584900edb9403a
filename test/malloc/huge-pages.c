/* A large heap gets huge pages at their first touch, where the system gives them at all: it takes few page faults.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t 48 | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc %t 2000 | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc %t 1000000 | FileCheck %s
 *
 * CHECK: well
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { HUGE = 2 << 20, PAGE = 4096, ALL = 256 << 20 };

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/* Does the system give a huge page now? */
static int gives_huge_pages(void) {
  char *start = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *page = (char *)(((uintptr_t)start + HUGE - 1) & -(uintptr_t)HUGE);
  madvise(page, HUGE, MADV_HUGEPAGE);
  long before = faults();
  for (int i = 0; i < HUGE; i += PAGE)
    ((volatile char *)page)[i] = 1;
  long taken = faults() - before;
  munmap(start, 2 * HUGE);
  return taken < HUGE / PAGE / 8;
}

/* The system is asked before and after each step: what it has to give may change at any time. */
int main(int argc, char **argv) {
  size_t size = (size_t)atol(argv[argc - 1]);
  int huge = 0, small = 0, gave = gives_huge_pages();
  for (int step = 0; step < ALL / HUGE; step++) {
    long before = faults();
    for (size_t sum = 0; sum < HUGE; sum += size)
      memset(malloc(size), 1, size);
    long taken = faults() - before;
    int gives = gives_huge_pages();
    if (gave && gives)
      taken > HUGE / PAGE / 2 ? small++ : huge++;
    gave = gives;
  }
  if (small > ALL / HUGE / 8)
    printf("%d of %d steps without a huge page\n", small, huge + small);
  else
    puts("well");
  return 0;
}
