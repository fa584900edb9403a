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

int main(int argc, char **argv) {
  size_t size = (size_t)atol(argv[argc - 1]);
  int given = gives_huge_pages();
  long before = faults();
  for (size_t sum = 0; sum < ALL; sum += size)
    memset(malloc(size), 1, size);
  long taken = faults() - before;
  given = gives_huge_pages() && given;
  if (given && taken > ALL / PAGE / 8)
    printf("%ld page faults\n", taken);
  else
    puts("well");
  return 0;
}
