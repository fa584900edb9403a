/* mallinfo2, malloc_info, malloc_stats, malloc_trim, mallopt.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 *
 * CHECK: in use: within a tenth
 * CHECK: large: within a tenth
 * CHECK: freed: less in use, not less than there is
 * CHECK: trimmed: 1, then under 4 MiB
 * CHECK: mallopt: 1
 * CHECK: in use there:
 * CHECK: <malloc version="1">
 * CHECK: </malloc>
 * CHECK: malloc_info with options: 22
 */
#include <malloc.h>
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

static const char *near(double value, double expected) {
  return value > expected * 0.9 && value < expected * 1.1 ? "within a tenth" : "not so";
}

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  size_t before = mallinfo2().uordblks;
  long resident = resident_mib();
  for (int i = 0; i < BLOCKS; i++)
    memset((blocks[i] = malloc(BYTES)), 1, BYTES);
  printf("in use: %s\n", near((double)(mallinfo2().uordblks - before), (double)BLOCKS * BYTES));
  for (int i = 0; i < 20; i++)
    memset((large[i] = malloc(1 << 20)), 1, 1 << 20);
  printf("large: %s\n", near((double)mallinfo2().hblkhd, 20 << 20));
  size_t full = mallinfo2().uordblks;
  for (int i = 0; i < BLOCKS; i += 2)
    free(blocks[i]);
  size_t half = mallinfo2().uordblks;
  printf("freed: %s\n", half < full && half > (20 << 20) + BLOCKS / 2 * BYTES ? "less in use, not less than there is" : "not so");
  for (int i = 1; i < BLOCKS; i += 2)
    free(blocks[i]);
  for (int i = 0; i < 20; i++)
    free(large[i]);
  int trimmed = malloc_trim(0);
  long left = resident_mib() - resident;
  printf("trimmed: %d, then %s\n", trimmed, left < 4 ? "under 4 MiB" : "more");
  printf("mallopt: %d\n", mallopt(M_MMAP_THRESHOLD, 100));
  malloc_stats();
  malloc_info(0, stdout);
  printf("malloc_info with options: %d\n", malloc_info(1, stdout));
}
