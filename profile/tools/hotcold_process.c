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

/* The process may not mean well: nothing that it says is read for long. */
enum { MOST_THREAD_BYTES = 1 << 20, MOST_BYTES = 1 << 30 };

static bool read_memory(pid_t pid, uint64_t address, void *ret, size_t bytes) {
  struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
  ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  if (got >= 0 && (size_t)got != bytes)
    errno = EFAULT;
  return got >= 0 && (size_t)got == bytes;
}

static FILE *open_proc(pid_t pid, const char *name, const char *mode) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  return fopen(path, mode);
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

/* Says whether the data that the status places among a thread's pools lies there. */
static bool is_usable(const struct hearth_hotcold_status *status) {
  uint64_t pools_end = status->pools_offset + (HEARTH_HOTCOLD_STATUS_POOLS - 1) * (uint64_t)status->pool_bytes +
                       sizeof(struct hearth_hotcold_pool_counts);
  uint64_t passed_on_end = status->passed_on_offset + sizeof(uint64_t);
  return status->bytes == sizeof *status && status->thread_bytes >= sizeof(uint64_t) &&
         status->thread_bytes <= MOST_THREAD_BYTES && passed_on_end <= status->thread_bytes &&
         pools_end <= status->thread_bytes;
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
  FILE *maps = open_proc(pid, "maps", "re");
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

static hotcold_range *range_of_pool(int pool, hotcold_sample *sample) { return &sample->range[pool > 0]; }

static bool read_range(const hotcold_process *process, int range, hotcold_sample *ret) {
  const struct hearth_hotcold_range_status *from = &process->status.range[range];
  struct hearth_hotcold_large_counts large[HEARTH_HOTCOLD_STATUS_POOLS];
  uint64_t clean_pages;
  hotcold_range *to = &ret->range[range];
  if (!read_memory(process->pid, from->large, large, sizeof large) ||
      !read_memory(process->pid, from->clean_pages, &clean_pages, sizeof clean_pages) ||
      !read_memory(process->pid, from->fallbacks, &to->fallbacks, sizeof to->fallbacks))
    return false;
  to->is_on = from->is_on;
  to->committed_bytes = from->bytes - clean_pages * HEARTH_HOTCOLD_STATUS_PAGE_BYTES;
  for (int i = 0; i < HEARTH_HOTCOLD_STATUS_POOLS; i++) {
    ret->pool[i].live_blocks += large[i].blocks;
    ret->pool[i].live_bytes += large[i].pages * HEARTH_HOTCOLD_STATUS_PAGE_BYTES;
    ret->pool[i].placed += large[i].ever;
  }
  return true;
}

static uint64_t hole_quanta(const struct hearth_hotcold_hole *hole) {
  return hole->start < hole->end ? (hole->end - hole->start) / HEARTH_HOTCOLD_STATUS_QUANTUM_BYTES : 0;
}

static void count_pool(const struct hearth_hotcold_pool_counts *counts, hotcold_pool *ret) {
  uint64_t quanta = counts->used_quanta - counts->remote_quanta;
  for (int i = 0; i < HEARTH_HOTCOLD_STATUS_HOLES; i++)
    quanta -= hole_quanta(&counts->hole[i]);
  ret->live_blocks += counts->cut - counts->released;
  for (unsigned i = 0; i < HEARTH_HOTCOLD_STATUS_BINS; i++) {
    quanta -= (i + 1) * (uint64_t)counts->cached[i];
    ret->live_blocks -= counts->cached[i];
  }
  ret->live_bytes += quanta * HEARTH_HOTCOLD_STATUS_QUANTUM_BYTES;
  ret->placed += counts->cut + counts->reused;
}

static void count_thread(const struct hearth_hotcold_status *status, const char *thread, hotcold_sample *ret) {
  uint64_t passed_on;
  memcpy(&passed_on, thread + status->passed_on_offset, sizeof passed_on);
  ret->passed_on += passed_on;
  for (size_t i = 0; i < HEARTH_HOTCOLD_STATUS_POOLS; i++) {
    struct hearth_hotcold_pool_counts counts;
    memcpy(&counts, thread + status->pools_offset + i * status->pool_bytes, sizeof counts);
    count_pool(&counts, &ret->pool[i]);
  }
}

/* A list that leads back into itself has no end (Brent's way to tell: one of its threads is kept for comparison, again and
 * again after twice as many). errno is EILSEQ if the list cannot be a real one. */
static bool read_threads(const hotcold_process *process, hotcold_sample *ret) {
  const struct hearth_hotcold_status *status = &process->status;
  uint64_t thread, kept = 0, most = MOST_BYTES / status->thread_bytes;
  char *copy = malloc(status->thread_bytes);
  bool read = copy && read_memory(process->pid, status->threads, &thread, sizeof thread);
  for (uint64_t i = 1; read && thread; i++) {
    if (thread == kept || i > most) {
      errno = EILSEQ;
      read = false;
      break;
    }
    if ((i & (i - 1)) == 0)
      kept = thread;
    read = read_memory(process->pid, thread, copy, status->thread_bytes);
    if (read) {
      count_thread(status, copy, ret);
      memcpy(&thread, copy, sizeof thread);
    }
  }
  free(copy);
  return read;
}

/* What was read at different times may differ by more than there is. */
static uint64_t not_negative(uint64_t number) { return number > INT64_MAX ? 0 : number; }

static void sum_pools(hotcold_sample *sample) {
  for (int i = 0; i < HEARTH_HOTCOLD_STATUS_POOLS; i++) {
    hotcold_pool *pool = &sample->pool[i];
    hotcold_range *range = range_of_pool(i, sample);
    pool->live_blocks = not_negative(pool->live_blocks);
    pool->live_bytes = not_negative(pool->live_bytes);
    range->live_blocks += pool->live_blocks;
    range->live_bytes += pool->live_bytes;
    range->placed += pool->placed;
  }
}

/* The range that the address lies in; HEARTH_HOTCOLD_STATUS_RANGES: none. */
static int range_of(const hotcold_process *process, uint64_t address) {
  int i = 0;
  while (i < HEARTH_HOTCOLD_STATUS_RANGES && address - process->status.range[i].base >= process->status.range[i].bytes)
    i++;
  return i;
}

static void add_residency(const char *line, hotcold_range *range, uint64_t *touched_bytes) {
  uint64_t kib;
  if (sscanf(line, "Rss: %" SCNu64, &kib) == 1)
    range->resident_bytes += kib << 10;
  else if (sscanf(line, "Referenced: %" SCNu64, &kib) == 1)
    *touched_bytes += kib << 10;
  else if (sscanf(line, "AnonHugePages: %" SCNu64, &kib) == 1)
    range->huge_bytes += kib << 10;
  else if (sscanf(line, "Swap: %" SCNu64, &kib) == 1)
    range->swap_bytes += kib << 10;
}

static bool read_residency(const hotcold_process *process, hotcold_sample *ret) {
  FILE *smaps = open_proc(process->pid, "smaps", "re");
  if (!smaps)
    return false;
  char *line = NULL;
  size_t room = 0;
  int range = HEARTH_HOTCOLD_STATUS_RANGES;
  mapping map;
  while (getline(&line, &room, smaps) >= 0) {
    if (parse_mapping(line, &map))
      range = range_of(process, map.start);
    else if (range < HEARTH_HOTCOLD_STATUS_RANGES)
      add_residency(line, &ret->range[range], &ret->touched_bytes[range]);
  }
  free(line);
  fclose(smaps);
  return true;
}

static bool has_ended(void) { return errno == ESRCH || errno == ENOENT; }

int hotcold_process_forget_touched(const hotcold_process *process) {
  FILE *file = open_proc(process->pid, "clear_refs", "we");
  bool forgotten = file && fputs("1", file) >= 0;
  if (file && fclose(file) != 0)
    forgotten = false;
  if (forgotten || has_ended())
    return HEARTH_EXIT_OK;
  return hearth_tool_error("%d: cannot forget which pages were touched: %s", (int)process->pid, strerror(errno));
}

int hotcold_process_sample(const hotcold_process *process, hotcold_sample *ret, bool *ret_ended) {
  *ret = (hotcold_sample){0};
  *ret_ended = false;
  bool read = true;
  for (int i = 0; read && i < HEARTH_HOTCOLD_STATUS_RANGES; i++)
    read = read_range(process, i, ret);
  if (read && read_threads(process, ret) && read_residency(process, ret)) {
    sum_pools(ret);
    return HEARTH_EXIT_OK;
  }
  if (errno == EILSEQ)
    return hearth_tool_error("%d: the counters of its allocator are damaged", (int)process->pid);
  *ret_ended = has_ended();
  return *ret_ended ? HEARTH_EXIT_OK : hearth_tool_error("%d: cannot be read: %s", (int)process->pid, strerror(errno));
}
