/* What the ranges cost: untouched pages of a large calloc stay out of memory, freed cold memory goes back, freeing does
 * not touch a block, neighbours lie side by side; a handful of blocks take no huge page. What the system knows: huge
 * pages advised for a range once it is full enough, and never for cold memory that is to leave.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %hotcold_a -o %t
 * RUN: %t | FileCheck %s --check-prefixes=CHECK,KEEP
 * RUN: env HEARTH_HOTCOLD=cold=madvise-cold:interval=0 %t | FileCheck %s --check-prefixes=CHECK,LEAVE
 *
 * CHECK: calloc of 256 MiB: under 1 MiB resident
 * CHECK: 100000 blocks of 96 bytes: under 10000000 bytes apart
 * CHECK: freed: under 4 MiB more than before
 * CHECK: 100 hot blocks of all sizes: under 1 MiB more, huge pages: nh
 * CHECK: 3 MiB of hot blocks: under 6 MiB more, huge pages: hg
 * CHECK: 20 MiB of hot blocks: under 25 MiB more, huge pages: hg
 * KEEP: 20 MiB of cold blocks: under 25 MiB more, huge pages: hg
 * LEAVE: 20 MiB of cold blocks: under 25 MiB more, huge pages: nh
 */
#define _GNU_SOURCE
#include <hearth/hotcold.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the page tables: statm's number is a sum of counters for each processor, up to 256 KiB off on two of them. */
static long resident_bytes(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = -1;
  while (file && kib < 0 && fgets(line, sizeof line, file))
    sscanf(line, "Rss: %ld kB", &kib);
  if (kib < 0)
    abort();
  fclose(file);
  return kib << 10;
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

static char *block_of(size_t bytes, uint8_t hint) { return memset(malloc_hot_cold(bytes, hint), 1, bytes); }

static void print_pages(const char *what, long more, long limit_kib, const void *block) {
  printf("%s: %s %ld MiB more, huge pages: %s\n", what, more < limit_kib << 10 ? "under" : "over", limit_kib >> 10,
         advice(block));
}

/* Never freed: the end of the process does. Where huge pages come slowly not all pieces have one (huge_pages.h). */
static char *fill_20_mib(uint8_t hint, char *first) {
  char *huge = first;
  for (int i = 0; i < 20 * 32; i++) {
    char *block = block_of(32 << 10, hint);
    huge = i % 32 == 0 && !strcmp(advice(block), "hg") ? block : huge;
  }
  return huge;
}

static void hot_pages(void) {
  long before = resident_bytes();
  char *first = block_of(1, 255);
  for (size_t i = 1; i < 100; i++)
    block_of(i * i, 255);
  print_pages("100 hot blocks of all sizes", resident_bytes() - before, 1 << 10, first);
  char *blocks[96];
  for (int i = 0; i < 96; i++)
    blocks[i] = block_of(32 << 10, 255);
  print_pages("3 MiB of hot blocks", resident_bytes() - before, 6 << 10, blocks[32]);
  char *huge = fill_20_mib(255, first);
  print_pages("20 MiB of hot blocks", resident_bytes() - before, 25 << 10, huge);
}

static void cold_pages(void) {
  long before = resident_bytes();
  char *huge = fill_20_mib(0, block_of(1, 0));
  print_pages("20 MiB of cold blocks", resident_bytes() - before, 25 << 10, huge);
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

  hot_pages();
  cold_pages();
  return 0;
}
