/* mallinfo2, malloc_info, malloc_stats, malloc_trim, mallopt.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 *
 * CHECK: 200000 blocks: in use what is, free the rest
 * CHECK: large: within a tenth
 * CHECK: 20 steps of frees: 20 times in use what is, free the rest
 * CHECK: half again: in use what is, free the rest
 * CHECK: by malloc_info, what the system gave less what is free
 * CHECK: trimmed: 1, then under 4 MiB
 * CHECK: mallopt: 1
 * CHECK: in use there:
 * CHECK: <malloc version="1">
 * CHECK: </malloc>
 * CHECK: malloc_info with options: 22
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 200000, BYTES = 112 };
static void *blocks[BLOCKS], *large[20];

static long resident_mib(void) {
  long pages, resident;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2)
    abort();
  fclose(file);
  return resident * 4 >> 10;
}

/* To the byte, also when lists of freed blocks were dropped and nothing has been swept since. */
static size_t before, live;
static bool is_exact(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks - info.hblkhd - before == live && info.arena == info.uordblks - info.hblkhd + info.fordblks;
}
static const char *exactly(void) { return is_exact() ? "in use what is, free the rest" : "not so"; }

static void *take(void) {
  void *block = memset(malloc(BYTES), 1, BYTES);
  live += malloc_usable_size(block);
  return block;
}
static void give(void *block) {
  live -= malloc_usable_size(block);
  free(block);
}

/* Of the first element of this name with these attributes. */
static size_t size_of(const char *text, const char *element) {
  size_t bytes = 0;
  const char *at = strstr(text, element);
  if (!at || !(at = strstr(at, "size=\"")) || sscanf(at, "size=\"%zu", &bytes) != 1)
    abort();
  return bytes;
}

static const char *near(double value, double expected) {
  return value > expected * 0.9 && value < expected * 1.1 ? "within a tenth" : "not so";
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  long resident = resident_mib();
  free(malloc(BYTES));
  before = mallinfo2().uordblks;
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = take();
  printf("%d blocks: %s\n", BLOCKS, exactly());
  for (int i = 0; i < 20; i++)
    memset((large[i] = malloc(1 << 20)), 1, 1 << 20);
  printf("large: %s\n", near((double)mallinfo2().hblkhd, 20 << 20));
  for (int i = 0; i < 20; i++)
    free(large[i]);
  int exact = 0;
  for (int step = 0; step < 20; step++) { /* scattered over the whole */
    for (int i = step; i < BLOCKS; i += 20)
      give(blocks[i]);
    exact += is_exact();
  }
  printf("20 steps of frees: %d times in use what is, free the rest\n", exact);
  for (int i = 0; i < BLOCKS / 2; i++)
    blocks[i] = take();
  printf("half again: %s\n", exactly());
  static char text[2000];
  FILE *file = fmemopen(text, sizeof text, "w");
  setvbuf(file, NULL, _IONBF, 0);
  malloc_info(0, file);
  if (size_of(text, "<system type=\"current\"") - size_of(text, "<total type=\"rest\"") == mallinfo2().uordblks)
    puts("by malloc_info, what the system gave less what is free");
  fclose(file);
  for (int i = 0; i < BLOCKS / 2; i++)
    give(blocks[i]);
  int trimmed = malloc_trim(0);
  long left = resident_mib() - resident;
  printf("trimmed: %d, then %s\n", trimmed, left < 4 ? "under 4 MiB" : "more");
  printf("mallopt: %d\n", mallopt(M_MMAP_THRESHOLD, 100));
  malloc_stats();
  malloc_info(0, stdout);
  printf("malloc_info with options: %d\n", malloc_info(1, stdout));
}
