/* Under RLIMIT_AS and RLIMIT_DATA a program gets nearly as much memory as the limit leaves, in blocks of any size, and NULL
 * then; what it frees is there again.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 *
 * CHECK-COUNT-10: at least 0.9 of what is free, and again
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 128 << 20, LARGER_LIMIT = 1 << 30, LARGE = 20000000 };

static size_t fill(size_t bytes, void **ret_last) {
  size_t sum = 0;
  void **block;
  *ret_last = NULL;
  while ((block = malloc(bytes))) {
    *block = *ret_last;
    *ret_last = block;
    sum += bytes;
  }
  if (errno != ENOMEM)
    abort();
  return sum;
}

static void try(int limit, size_t bytes) {
  rlim_t most = bytes < LARGE ? LIMIT : LARGER_LIMIT;
  struct rlimit bound = {most, most};
  void *last, *next;
  setrlimit(limit, &bound);
  size_t free_bytes = 0; /* pieces of 1 MiB that the system still gives */
  static void *piece[LARGER_LIMIT >> 20];
  size_t pieces = 0;
  for (;
       (piece[pieces] = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED;
       pieces++)
    free_bytes += 1 << 20;
  while (pieces--)
    munmap(piece[pieces], 1 << 20);
  size_t first = fill(bytes, &last);
  for (void **block = last; block; block = next) {
    next = *block;
    free(block);
  }
  size_t second = fill(bytes, &last);
  if ((double)first >= 0.9 * (double)free_bytes && (double)second >= 0.9 * (double)first)
    puts("at least 0.9 of what is free, and again");
  else
    printf("limit %d, blocks of %zu bytes: %zu, then %zu of %zu\n", limit, bytes, first, second, free_bytes);
  fflush(stdout);
  _exit(0);
}

int main(void) {
  static const size_t sizes[] = {64, 1000, 60000, 500000, LARGE};
  static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
  for (int i = 0; i < 10; i++) {
    pid_t child = fork();
    if (!child)
      try(limits[i / 5], sizes[i % 5]);
    waitpid(child, NULL, 0);
  }
}
