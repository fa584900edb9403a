/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The adapter's status is found in the process's mappings and read with process_vm_readv; residency is summed from
 * /proc/PID/smaps. */
#define _GNU_SOURCE /* process_vm_readv */
#include "hotcold_process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "commands.h"

enum { MOST_CACHE_BYTES = 1 << 20, MOST_CACHES = 1 << 20 };

static bool read_memory(pid_t pid, uint64_t address, void *ret, size_t bytes) {
  struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
  ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  if (got >= 0 && (size_t)got != bytes)
    errno = EFAULT;
  return got >= 0 && (size_t)got == bytes;
}

static FILE *open_proc(pid_t pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  return fopen(path, "re");
}

/* Finding the status. */

typedef struct mapping {
  uint64_t start, end;
  char access[5];
  bool is_anonymous;
} mapping;

static bool parse_mapping(const char *line, mapping *ret) {
  uint64_t inode;
  int end = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %" SCNu64 "%n", &ret->start, &ret->end, ret->access, &inode,
             &end) != 4)
    return false;
  ret->is_anonymous = inode == 0;
  return true;
}

/* Says whether the data that the status places in a cache lies in it. */
static bool is_usable(const struct hearth_hotcold_status *status) {
  uint64_t counts = (uint64_t)HEARTH_HOTCOLD_STATUS_RANGES * status->classes;
  uint64_t ever_end = status->cache_ever_offset + (HEARTH_HOTCOLD_STATUS_RANGES + 1) * sizeof(uint64_t);
  uint64_t counts_end = status->cache_count_offset + counts * status->cache_count_stride + sizeof(uint32_t);
  return status->bytes == sizeof *status && status->classes <= HEARTH_HOTCOLD_STATUS_CLASSES &&
         status->cache_bytes >= sizeof(uint64_t) && status->cache_bytes <= MOST_CACHE_BYTES &&
         ever_end <= status->cache_bytes && counts_end <= status->cache_bytes + (uint64_t)status->cache_count_stride;
}

/* The mapping behind an inaccessible one, if a status is in it. Returns false if the process may not be read. */
static bool look_into(pid_t pid, const mapping *map, struct hearth_hotcold_status *ret, bool *ret_found) {
  uint64_t magic;
  if (!read_memory(pid, map->start, &magic, sizeof magic))
    return errno != EPERM;
  if (magic == HEARTH_HOTCOLD_STATUS_MAGIC)
    *ret_found = read_memory(pid, map->start, ret, sizeof *ret);
  return true;
}

static bool find_status(pid_t pid, FILE *maps, struct hearth_hotcold_status *ret, bool *ret_found) {
  char *line = NULL;
  size_t room = 0;
  mapping before = {0}, map;
  bool is_readable = true;
  *ret_found = false;
  while (is_readable && !*ret_found && getline(&line, &room, maps) >= 0) {
    if (!parse_mapping(line, &map))
      continue;
    if (before.end == map.start && !strncmp(before.access, "---p", 4) && !strncmp(map.access, "rw-p", 4) &&
        map.is_anonymous)
      is_readable = look_into(pid, &map, ret, ret_found);
    before = map;
  }
  free(line);
  return is_readable;
}

int hotcold_process_open(pid_t pid, hotcold_process *ret) {
  bool found;
  FILE *maps = open_proc(pid, "maps");
  ret->pid = pid;
  if (!maps && errno == ENOENT)
    return hearth_tool_error("%d: no such process", (int)pid);
  bool is_readable = maps && find_status(pid, maps, &ret->status, &found);
  if (maps)
    fclose(maps);
  if (!is_readable)
    return hearth_tool_error("%d: may not be looked into: that takes the rights of a debugger (same user and "
                             "kernel.yama.ptrace_scope=0, or root)",
                             (int)pid);
  if (!found)
    return hearth_tool_error("%d: has no hot/cold allocator, has not made a hinted call yet, or ignores hints (its "
                             "standard error says why)",
                             (int)pid);
  if (ret->status.version != HEARTH_HOTCOLD_STATUS_VERSION)
    return hearth_tool_error(
        "%d: its allocator has status version %u, this command reads %d: use the one that came with "
        "the program's Hearth",
        (int)pid, ret->status.version, HEARTH_HOTCOLD_STATUS_VERSION);
  if (!is_usable(&ret->status))
    return hearth_tool_error("%d: the status of its allocator is damaged", (int)pid);
  return HEARTH_EXIT_OK;
}

/* Reading the counters. Any failure means that the process ends, as all of them could be read once. */

static bool read_blocks(const hotcold_process *process, const struct hearth_hotcold_range_status *from,
                        hotcold_range *ret) {
  uint64_t large_blocks, large_pages, clean_pages;
  for (uint32_t i = 0; i < process->status.classes; i++) {
    uint64_t blocks;
    if (!read_memory(process->pid, from->class_blocks + i * from->class_blocks_stride, &blocks, sizeof blocks))
      return false;
    ret->live_blocks += blocks;
    ret->live_bytes += blocks * process->status.class_bytes[i];
  }
  if (!read_memory(process->pid, from->large_blocks, &large_blocks, sizeof large_blocks) ||
      !read_memory(process->pid, from->large_pages, &large_pages, sizeof large_pages) ||
      !read_memory(process->pid, from->large_ever, &ret->placed, sizeof ret->placed) ||
      !read_memory(process->pid, from->clean_pages, &clean_pages, sizeof clean_pages) ||
      !read_memory(process->pid, from->fallbacks, &ret->fallbacks, sizeof ret->fallbacks))
    return false;
  ret->is_on = from->is_on;
  ret->live_blocks += large_blocks;
  ret->live_bytes += large_pages * HEARTH_HOTCOLD_STATUS_PAGE_BYTES;
  ret->committed_bytes = from->bytes - clean_pages * HEARTH_HOTCOLD_STATUS_PAGE_BYTES;
  return true;
}

static void take_off(uint64_t *from, uint64_t amount) { *from -= *from < amount ? *from : amount; }

static void count_cache(const struct hearth_hotcold_status *status, const char *cache, hotcold_sample *ret) {
  uint64_t ever[HEARTH_HOTCOLD_STATUS_RANGES + 1];
  memcpy(ever, cache + status->cache_ever_offset, sizeof ever);
  ret->passed_on += ever[HEARTH_HOTCOLD_STATUS_RANGES];
  const char *at = cache + status->cache_count_offset;
  for (int range = 0; range < HEARTH_HOTCOLD_STATUS_RANGES; range++) {
    ret->range[range].placed += ever[range];
    for (uint32_t i = 0; i < status->classes; i++, at += status->cache_count_stride) {
      uint32_t count;
      memcpy(&count, at, sizeof count);
      take_off(&ret->range[range].live_blocks, count);
      take_off(&ret->range[range].live_bytes, (uint64_t)count * status->class_bytes[i]);
    }
  }
}

static bool read_caches(const hotcold_process *process, hotcold_sample *ret) {
  const struct hearth_hotcold_status *status = &process->status;
  uint64_t cache, uncached[HEARTH_HOTCOLD_STATUS_RANGES + 1];
  char *copy = malloc(status->cache_bytes);
  bool read = copy && read_memory(process->pid, status->caches, &cache, sizeof cache) &&
              read_memory(process->pid, status->uncached_ever, uncached, sizeof uncached);
  for (uint32_t i = 0; read && cache && i < MOST_CACHES; i++) {
    read = read_memory(process->pid, cache, copy, status->cache_bytes);
    if (read) {
      count_cache(status, copy, ret);
      memcpy(&cache, copy, sizeof cache);
    }
  }
  free(copy);
  if (!read)
    return false;
  for (int range = 0; range < HEARTH_HOTCOLD_STATUS_RANGES; range++)
    ret->range[range].placed += uncached[range];
  ret->passed_on += uncached[HEARTH_HOTCOLD_STATUS_RANGES];
  return true;
}

static hotcold_range *range_of(const hotcold_process *process, uint64_t address, hotcold_sample *sample) {
  for (int i = 0; i < HEARTH_HOTCOLD_STATUS_RANGES; i++)
    if (address - process->status.range[i].base < process->status.range[i].bytes)
      return &sample->range[i];
  return NULL;
}

static bool read_residency(const hotcold_process *process, hotcold_sample *ret) {
  FILE *smaps = open_proc(process->pid, "smaps");
  if (!smaps)
    return false;
  char *line = NULL;
  size_t room = 0;
  hotcold_range *range = NULL;
  mapping map;
  uint64_t kib;
  while (getline(&line, &room, smaps) >= 0) {
    if (parse_mapping(line, &map))
      range = range_of(process, map.start, ret);
    else if (range && sscanf(line, "Rss: %" SCNu64, &kib) == 1)
      range->resident_bytes += kib << 10;
    else if (range && sscanf(line, "AnonHugePages: %" SCNu64, &kib) == 1)
      range->huge_bytes += kib << 10;
    else if (range && sscanf(line, "Swap: %" SCNu64, &kib) == 1)
      range->swap_bytes += kib << 10;
  }
  free(line);
  fclose(smaps);
  return true;
}

int hotcold_process_sample(const hotcold_process *process, hotcold_sample *ret, bool *ret_ended) {
  *ret = (hotcold_sample){0};
  *ret_ended = false;
  bool read = true;
  for (int i = 0; read && i < HEARTH_HOTCOLD_STATUS_RANGES; i++)
    read = read_blocks(process, &process->status.range[i], &ret->range[i]);
  if (read && read_caches(process, ret) && read_residency(process, ret))
    return HEARTH_EXIT_OK;
  *ret_ended = errno == ESRCH || errno == ENOENT;
  return *ret_ended ? HEARTH_EXIT_OK : hearth_tool_error("%d: cannot be read: %s", (int)process->pid, strerror(errno));
}
