/* What the ranges cost: untouched pages of a large calloc stay out of memory, freed cold memory goes back, freeing does
 * not touch a block, neighbours lie side by side. What the system knows: huge pages advised for the hot range only.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %hotcold_a -o %t
 * RUN: %t | FileCheck %s
 *
 * CHECK: calloc of 256 MiB: under 1 MiB resident
 * CHECK: 100000 blocks of 96 bytes: under 10000000 bytes apart
 * CHECK: freed: under 4 MiB more than before
 * CHECK: cold range nh, hot range hg
 */
#define _GNU_SOURCE
#include <hearth/hotcold.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long resident_bytes(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*s %ld", &pages) != 1)
    abort();
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

/* The huge-page flag of the mapping that holds `address`: "nh", "hg" or "none". */
static const char *advice(const void *address) {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[4096];
  const char *found = "none";
  int inside = 0;
  while (file && fgets(line, sizeof line, file)) {
    uintptr_t start, end;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
      inside = (uintptr_t)address >= start && (uintptr_t)address < end;
    else if (inside && !strncmp(line, "VmFlags:", 8))
      found = strstr(line, " nh") ? "nh" : strstr(line, " hg") ? "hg" : "none";
  }
  fclose(file);
  return found;
}

int main(void) {
  enum { COUNT = 100000, BYTES = 96 };
  static char *blocks[COUNT];
  memset(blocks, 1, sizeof blocks);
  free(malloc_hot_cold(1, 0));
  long before = resident_bytes();
  char *zero = calloc_hot_cold(256, 1 << 20, 0);
  printf("calloc of 256 MiB: %s\n", resident_bytes() - before < 1 << 20 ? "under 1 MiB resident" : "resident");
  free(zero);

  before = resident_bytes();
  char *lowest = (char *)UINTPTR_MAX, *highest = NULL;
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = malloc_hot_cold(BYTES, 0);
    memset(blocks[i], 1, BYTES);
    lowest = blocks[i] < lowest ? blocks[i] : lowest;
    highest = blocks[i] > highest ? blocks[i] : highest;
  }
  printf("%d blocks of %d bytes: %s\n", COUNT, BYTES,
         highest - lowest < 10000000 ? "under 10000000 bytes apart" : "far apart");
  for (int i = 0; i < COUNT; i++)
    free(blocks[i]);
  printf("freed: %s\n", resident_bytes() - before < 4 << 20 ? "under 4 MiB more than before" : "still resident");

  void *cold = malloc_hot_cold(100, 0), *hot = malloc_hot_cold(100, 255);
  printf("cold range %s, hot range %s\n", advice(cold), advice(hot));
  free(cold);
  free(hot);
  return 0;
}
