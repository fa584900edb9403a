/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which pages of the heap does the program work on, and how many of its accesses go to cold ones? Linked beside the
 * allocator adapter, or without one; a line for each process:
 *
 *   ACCESSES COLD_ACCESSES    of all of the run, in the heap and in its cold range
 *   PAGES COLD_PAGES          of 4 KiB, touched in the window
 *   BUSY                      pages that take 99 % of the window's accesses, at least
 */
#define _GNU_SOURCE
#include "counts.h"

#include <fcntl.h>
#include <hearth/hotcold.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma weak hearth_hotcold_class

enum { GRANULES_PER_PAGE = PAGE_BYTES / GRANULE_BYTES, MOST_PAGES = 1 << 24, TEXT_BYTES = 1 << 20 };

/* Accesses of the pages that had any, since counters last began. */
static uint64_t *page_accesses;
static size_t pages, cold_pages;
static uint64_t accesses, cold_accesses;

static bool is_cold(uintptr_t page) {
  return hearth_hotcold_class && hearth_hotcold_class((void *)page) == HEARTH_HOTCOLD_COLD;
}

static void add_page(uintptr_t page) {
  uint64_t sum = 0;
  for (size_t i = 0; i < GRANULES_PER_PAGE; i++)
    sum += counts[page / GRANULE_BYTES + i];
  if (!sum)
    return;
  if (!page_accesses)
    page_accesses = reserve(MOST_PAGES * sizeof *page_accesses);
  page_accesses[pages++] = sum;
  accesses += sum;
  if (is_cold(page)) {
    cold_pages++;
    cold_accesses += sum;
  }
}

/* A page of counters is for two of the heap; those that were never written to are not there. */
static void add_range(uintptr_t start, uintptr_t end) {
  enum { CHUNK_PAGES = 4096, CHUNK_BYTES = CHUNK_PAGES * 2 * PAGE_BYTES };
  unsigned char present[CHUNK_PAGES];
  for (uintptr_t at = start & -(uintptr_t)(2 * PAGE_BYTES); at < end; at += CHUNK_BYTES) {
    size_t bytes = end - at < CHUNK_BYTES ? end - at : CHUNK_BYTES;
    if (mincore(counts + at / GRANULE_BYTES, bytes / 2, present))
      continue;
    for (uintptr_t page = at < start ? start : at; page < at + bytes; page += PAGE_BYTES)
      if (present[(page - at) / (2 * PAGE_BYTES)] & 1)
        add_page(page);
  }
}

static bool is_counter(uintptr_t address) { return address - (uintptr_t)counts < (uintptr_t)1 << 46; }

/* Private writable memory without a file, but for stacks and what belongs to a library's or the program's own data. Takes
 * no memory: the handler may have interrupted malloc. */
static void for_each_mapping(void (*visit)(uintptr_t start, uintptr_t end)) {
  static char text[TEXT_BYTES];
  int maps = open("/proc/self/maps", O_RDONLY);
  size_t bytes = 0;
  for (ssize_t got; (got = read(maps, text + bytes, sizeof text - 1 - bytes)) > 0;)
    bytes += (size_t)got;
  close(maps);
  text[bytes] = 0;
  uintptr_t file_end = 0;
  for (char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    char *at;
    uintptr_t start = strtoul(line, &at, 16), end = strtoul(at + 1, &at, 16);
    char *line_end = strchr(at, '\n'), *path = memchr(at, '/', (size_t)(line_end - at));
    bool is_stack = memmem(at, (size_t)(line_end - at), "[stack", 6) != NULL;
    if (path || start == file_end)
      file_end = end;
    else if (!strncmp(at + 1, "rw", 2) && !is_stack && !is_counter(start))
      visit(start, end);
  }
}

void window_begins(void) {
  for_each_mapping(add_range);
  for_each_mapping(counts_clear);
  pages = cold_pages = 0;
}

static int descending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x < y) - (x > y);
}

static size_t busy_pages(void) {
  uint64_t sum = 0, some = 0;
  for (size_t i = 0; i < pages; i++)
    sum += page_accesses[i];
  qsort(page_accesses, pages, sizeof *page_accesses, descending);
  size_t busy = 0;
  while (busy < pages && some * 100 < sum * BUSY_PERCENT)
    some += page_accesses[busy++];
  return busy;
}

void window_ends(int output) {
  for_each_mapping(add_range);
  dprintf(output, "%lu %lu %zu %zu %zu\n", accesses, cold_accesses, pages, cold_pages, busy_pages());
}
