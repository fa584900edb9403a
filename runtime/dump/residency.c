/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads /proc/self/pagemap: one entry of 64 bits for each page, read in pieces as blocks are visited. */
#include "residency.h"

#include "os.h"

#include <errno.h>

#define PRESENT    (UINT64_C(1) << 63)
#define SWAPPED    (UINT64_C(1) << 62)
#define SOFT_DIRTY (UINT64_C(1) << 55)

static bool watches; /* hearth_page_map_watch worked */

int hearth_page_map_open(hearth_page_map *map) {
  map->fd = hearth_os_open_read("/proc/self/pagemap");
  map->knows_writes = watches;
  map->first = map->count = 0;
  return map->fd < 0 ? -map->fd : 0;
}

void hearth_page_map_close(hearth_page_map *map) { hearth_os_close(map->fd); }

static uint64_t entry_of(hearth_page_map *map, uintptr_t page) {
  if (page - map->first >= map->count) {
    long size = hearth_os_read_at(map->fd, map->entries, sizeof map->entries, (uint64_t)page * sizeof *map->entries);
    map->first = page;
    map->count = size > 0 ? (size_t)size / sizeof *map->entries : 0;
  }
  return map->count > 0 ? map->entries[page - map->first] : 0;
}

hearth_residency hearth_page_map_find(hearth_page_map *map, uintptr_t address, uint64_t size) {
  hearth_residency found = {0};

  for (uintptr_t end = address + size, next; address < end; address = next) {
    next = (address / HEARTH_OS_PAGE + 1) * HEARTH_OS_PAGE;
    uint64_t bytes = (next < end ? next : end) - address, entry = entry_of(map, address / HEARTH_OS_PAGE);
    found.resident += entry & PRESENT ? bytes : 0;
    found.swapped += entry & SWAPPED ? bytes : 0;
    found.unwritten += map->knows_writes && entry & (PRESENT | SWAPPED) && !(entry & SOFT_DIRTY) ? bytes : 0;
  }
  return found;
}

/* A kernel without soft-dirty bits takes the request, too: whether a page that is written to afterwards has its bit tells. */
static bool has_bits(void) {
  static volatile char page[2 * HEARTH_OS_PAGE];
  hearth_page_map map;

  page[HEARTH_OS_PAGE] = 1;
  if (hearth_page_map_open(&map) != 0)
    return false;
  bool dirty = entry_of(&map, (uintptr_t)&page[HEARTH_OS_PAGE] / HEARTH_OS_PAGE) & SOFT_DIRTY;
  hearth_page_map_close(&map);
  return dirty;
}

bool hearth_page_map_watch(void) {
  static const char clear_soft_dirty[] = "4";
  int fd = hearth_os_open_append("/proc/self/clear_refs");

  if (fd < 0)
    return false;
  bool cleared = hearth_os_write(fd, clear_soft_dirty, sizeof clear_soft_dirty - 1) > 0;
  hearth_os_close(fd);
  watches = cleared && has_bits();
  return watches;
}
