/* What the ranges cost: untouched pages of a large calloc stay out of memory, freed cold memory goes back, freeing does
 * not touch a block, neighbours lie side by side; a handful of blocks take no huge page. What the system knows: huge
 * pages advised for a range once it is full enough, also for cold memory that is to leave, as long as it has not.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t
 * RUN: %t | FileCheck %s
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir %t | FileCheck %s
 *
 * CHECK: calloc of 256 MiB: under 1 MiB resident
 * CHECK: 100000 blocks of 96 bytes: side by side
 * CHECK: freed: under 4 MiB
 * CHECK: 100 hot blocks of all sizes: under 1 MiB, huge pages: none
 * CHECK: 3 MiB of hot blocks: under 6 MiB, huge pages: none
 * CHECK: 20 MiB of hot blocks: under 26 MiB, huge pages: hg
 * CHECK: 20 MiB of cold blocks: under 26 MiB, huge pages: hg
 */
#define _GNU_SOURCE
#include "Inputs/rollup.h"

#include <hearth/malloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static long resident_bytes(void) { return rollup_kib("Rss:") << 10; }

struct mapping {
  uintptr_t start, end;
  long rss_kib;
  const char *advice; /* the huge-page flag: "nh", "hg" or "none" */
};

static void each_mapping(void (*visit)(const struct mapping *, void *), void *data) {
  FILE *file = fopen("/proc/self/smaps", "r");
  char line[4096];
  struct mapping mapping = {0};
  while (file && fgets(line, sizeof line, file)) {
    uintptr_t start, end;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
      mapping = (struct mapping){.start = start, .end = end};
    sscanf(line, "Rss: %ld kB", &mapping.rss_kib);
    if (strncmp(line, "VmFlags:", 8))
      continue;
    mapping.advice = strstr(line, " nh") ? "nh" : strstr(line, " hg") ? "hg" : "none";
    visit(&mapping, data);
  }
  fclose(file);
}

struct advice {
  uintptr_t address;
  const char *found;
};

static void note_advice(const struct mapping *mapping, void *data) {
  struct advice *advice = data;
  if (advice->address >= mapping->start && advice->address < mapping->end)
    advice->found = mapping->advice;
}

static const char *advice(const void *address) {
  struct advice advice = {(uintptr_t)address, "none"};
  each_mapping(note_advice, &advice);
  return advice.found;
}

static long resident_of(enum hearth_malloc_placement class) {
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  return (long)(class == HEARTH_MALLOC_COLD ? stats.cold : stats.hot).resident_bytes;
}

static char *block_of(size_t bytes, uint8_t hint) { return memset(malloc_hot_cold(bytes, hint), 1, bytes); }

static void print_pages(const char *what, enum hearth_malloc_placement class, long limit_mib, const void *block) {
  printf("%s: %s %ld MiB, huge pages: %s\n", what, resident_of(class) < limit_mib << 20 ? "under" : "over", limit_mib,
         advice(block));
}

/* Never freed: the end of the process does. Where huge pages come slowly not all pieces have one. */
static char *fill_20_mib(uint8_t hint, char *first) {
  char *huge = first;
  for (int i = 0; i < 20 * 32; i++) {
    char *block = block_of(32 << 10, hint);
    huge = i % 32 == 0 && !strcmp(advice(block), "hg") ? block : huge;
  }
  return huge;
}

static void hot_pages(void) {
  char *first = block_of(1, 255);
  for (size_t i = 1; i < 100; i++)
    block_of(i * i, 255);
  print_pages("100 hot blocks of all sizes", HEARTH_MALLOC_HOT, 1, first);
  char *blocks[96];
  for (int i = 0; i < 96; i++)
    blocks[i] = block_of(32 << 10, 255);
  print_pages("3 MiB of hot blocks", HEARTH_MALLOC_HOT, 6, blocks[32]);
  char *huge = fill_20_mib(255, first);
  print_pages("20 MiB of hot blocks", HEARTH_MALLOC_HOT, 26, huge);
}

static void cold_pages(void) {
  char *huge = fill_20_mib(0, block_of(1, 0));
  print_pages("20 MiB of cold blocks", HEARTH_MALLOC_COLD, 26, huge);
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

  int side_by_side = 0;
  for (int i = 0; i < COUNT; i++) {
    blocks[i] = malloc_hot_cold(BYTES, 0);
    memset(blocks[i], 1, BYTES);
    side_by_side += i && blocks[i] == blocks[i - 1] + BYTES;
  }
  printf("%d blocks of %d bytes: %s\n", COUNT, BYTES, side_by_side >= COUNT / 100 * 99 ? "side by side" : "apart");
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* or the system may fill the pages again at once */
  for (int i = 0; i < COUNT; i++)
    free(blocks[i]);
  printf("freed: %s\n", resident_of(HEARTH_MALLOC_COLD) < 4 << 20 ? "under 4 MiB" : "still resident");
  prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);

  hot_pages();
  cold_pages();
  return 0;
}
