/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the allocator says: mallinfo and its like; the parts of the memory, by the program's call, at its end as a
 * line of a file, and where `hearth top` finds the tables; messages. Live blocks are counted by a walk over the maps,
 * without stopping other threads: the pools' own counters leave out what was in lists that were dropped. */
#define _GNU_SOURCE
#include "heap_memory.h"
#include "hearth/lowered_calls.h"
#include "hearth/malloc.h"
#include "hearth/running_program.h"
#include "hints.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

typedef struct counts {
  size_t bytes, kept_bytes; /* of segments; of those in no use */
  struct hearth_malloc_part_stats small;
  hearth_large_stats large;
} counts;

/* Segments may be given back meanwhile: they are looked at under the lock of segments. */
static counts count_memory(void) {
  hearth_kind kind;
  counts counts = {0};
  hearth_large_count(false, &counts.large);
  hearth_large_count(true, &counts.large);
  hearth_lock_take(&hearth_segments_lock);
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES) {
    counts.bytes += hearth_is_large(kind) ? 0 : HEARTH_SEGMENT_BYTES;
    counts.kept_bytes += kind == HEARTH_KIND_KEPT ? HEARTH_SEGMENT_BYTES : 0;
    if (hearth_is_segment(kind))
      hearth_segment_count((hearth_segment *)piece, &counts.small);
  }
  hearth_lock_give(&hearth_segments_lock);
  return counts;
}

HEARTH_EXPORT struct mallinfo2 mallinfo2(void) {
  counts counts = count_memory();
  size_t free = counts.bytes - counts.small.live_bytes;
  return (struct mallinfo2){
      .arena = counts.bytes,
      .hblks = counts.large.live,
      .hblkhd = counts.large.live_bytes,
      .uordblks = counts.small.live_bytes + counts.large.live_bytes,
      .fordblks = free + counts.large.dirty_bytes,
      .keepcost = counts.kept_bytes + counts.large.dirty_bytes,
  };
}

static int clamp_to_int(size_t number) { return number > INT_MAX ? INT_MAX : (int)number; }

HEARTH_EXPORT struct mallinfo mallinfo(void) {
  struct mallinfo2 info = mallinfo2();
  return (struct mallinfo){
      .arena = clamp_to_int(info.arena),
      .hblks = clamp_to_int(info.hblks),
      .hblkhd = clamp_to_int(info.hblkhd),
      .uordblks = clamp_to_int(info.uordblks),
      .fordblks = clamp_to_int(info.fordblks),
      .keepcost = clamp_to_int(info.keepcost),
  };
}

/* As in the C library, no thread is cancelled here. */
HEARTH_EXPORT void malloc_stats(void) {
  counts counts = count_memory();
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  fprintf(stderr,
          "hearth malloc\n"
          "segments:     %12zu bytes, %zu of them kept for reuse\n"
          "in use there: %12zu bytes\n"
          "large blocks: %12zu bytes in %zu blocks, in areas of %zu bytes, %zu of them free and in memory\n",
          counts.bytes, counts.kept_bytes, counts.small.live_bytes, counts.large.live_bytes, counts.large.live,
          counts.large.area_bytes, counts.large.dirty_bytes);
  pthread_setcancelstate(state, &state);
}

/* As the C library's: what the system gave, less what is free ("rest"), is in use, and large blocks ("mmap") beside it. */
HEARTH_EXPORT int malloc_info(int options, FILE *file) {
  if (options)
    return EINVAL;
  counts counts = count_memory();
  fprintf(file,
          "<malloc version=\"1\">\n<total type=\"rest\" count=\"0\" size=\"%zu\"/>\n"
          "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
          "<system type=\"current\" size=\"%zu\"/>\n<aspace type=\"total\" size=\"%zu\"/>\n</malloc>\n",
          counts.bytes - counts.small.live_bytes, counts.large.live, counts.large.live_bytes, counts.bytes,
          counts.bytes + counts.large.area_bytes);
  return 0;
}

/* 1: memory went back to the system. */
HEARTH_EXPORT int malloc_trim(size_t kept_bytes) {
  (void)kept_bytes;
  hearth_heap *heap = hearth_main_pool->heap;
  if (heap)
    hearth_heap_collect(heap);
  bool any = hearth_segments_trim();
  return hearth_large_trim() || any;
}

/* Its options are of another allocator's design: none changes anything, and that is no error, as with values that the C
 * library ignores. */
HEARTH_EXPORT int mallopt(int option, int value) {
  (void)option;
  (void)value;
  return 1;
}

/* The parts: pages by the system's list of them. */

enum { PIECE_PAGES = HEARTH_SEGMENT_BYTES / HEARTH_PAGE_BYTES };

/* Of the memory that is readable and writable. */
static void count_pages(int pages, const char *piece, struct hearth_malloc_part_stats *part) {
  uint64_t entries[PIECE_PAGES];
  part->committed_bytes += HEARTH_SEGMENT_BYTES;
  off_t offset = (off_t)((uintptr_t)piece / HEARTH_PAGE_BYTES * sizeof *entries);
  if (pages < 0 || syscall(SYS_pread64, pages, entries, sizeof entries, offset) != sizeof entries)
    return;
  for (size_t i = 0; i < PIECE_PAGES; i++) {
    part->resident_bytes += entries[i] >> 63 ? HEARTH_PAGE_BYTES : 0;
    part->swap_bytes += entries[i] >> 62 == 1 ? HEARTH_PAGE_BYTES : 0;
  }
}

static struct hearth_malloc_part_stats *part_of_kind(hearth_kind kind, struct hearth_malloc_stats *stats) {
  return hearth_is_cold(kind)                                ? &stats->cold
         : hearth_is_large(kind) || kind < HEARTH_POOL_FIRST ? &stats->main
                                                             : &stats->hot;
}

static void count_hinted(struct hearth_malloc_stats *stats) {
  for (hearth_heap *heap = *hearth_heaps_head(); heap; heap = heap->next_of_all) {
    stats->passed_on += heap->hinted[HEARTH_POOL_NONE];
    for (unsigned placement = HEARTH_POOL_MAIN; placement < HEARTH_POOLS; placement++)
      part_of_kind((hearth_kind)placement, stats)->placed += heap->hinted[placement];
  }
}

static void count_large_of(bool is_cold, struct hearth_malloc_part_stats *part) {
  hearth_large_stats large = {0};
  hearth_large_count(is_cold, &large);
  part->live_blocks = large.live;
  part->live_bytes = large.live_bytes;
}

HEARTH_EXPORT void hearth_malloc_stats(struct hearth_malloc_stats *ret_stats) {
  hearth_kind kind;
  int saved_errno = errno, pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  *ret_stats = (struct hearth_malloc_stats){
      .passed_on = atomic_load_explicit(&hearth_hints_of_process.passed_on, memory_order_relaxed)};
  ret_stats->cold.fallbacks = atomic_load_explicit(&hearth_hints_of_process.fallbacks, memory_order_relaxed);
  count_large_of(false, &ret_stats->main);
  count_large_of(true, &ret_stats->cold);
  count_hinted(ret_stats);
  hearth_lock_take(&hearth_segments_lock);
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES) {
    if (hearth_is_segment(kind))
      hearth_segment_count((hearth_segment *)piece, part_of_kind(kind, ret_stats));
    if (kind != HEARTH_KIND_KEPT)
      count_pages(pages, piece, part_of_kind(kind, ret_stats));
  }
  hearth_lock_give(&hearth_segments_lock);
  if (pages >= 0)
    close(pages);
  errno = saved_errno;
}

HEARTH_EXPORT void hearth_malloc_pool_stats(int pool, struct hearth_malloc_part_stats *ret_stats) {
  hearth_kind kind, wanted = (hearth_kind)(HEARTH_POOL_FIRST + pool);
  *ret_stats = (struct hearth_malloc_part_stats){0};
  if (pool < 0 || pool >= HEARTH_POOLS - HEARTH_POOL_FIRST)
    return;
  for (hearth_heap *heap = *hearth_heaps_head(); heap; heap = heap->next_of_all)
    ret_stats->placed += heap->hinted[wanted];
  hearth_lock_take(&hearth_segments_lock);
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES)
    if (kind == wanted)
      hearth_segment_count((hearth_segment *)piece, ret_stats);
  hearth_lock_give(&hearth_segments_lock);
}

/* A line of a file at the end. Unlike elsewhere, memory may be allocated: the program ends, and is not inside its
 * allocator. */

/* One line, appended at once. */
struct line {
  char text[8192];
  size_t bytes;
};

static char file_path[PATH_MAX + HEARTH_MALLOC_PATH_BYTES]; /* empty: none */

void hearth_statistics_file_open(const char *path) {
  char *end = file_path;
  if (!*path)
    return;
  if (*path != '/' && getcwd(file_path, PATH_MAX))
    end = stpcpy(file_path + strlen(file_path), "/");
  strcpy(end, path);
}

__attribute__((format(printf, 2, 3))) static void append(struct line *line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof line->text - line->bytes;
  int bytes = vsnprintf(line->text + line->bytes, room, format, arguments);
  va_end(arguments);
  line->bytes += bytes < 0 ? 0 : (size_t)bytes < room ? (size_t)bytes : room - 1;
}

static void append_part(struct line *line, const char *name, bool is_on, const struct hearth_malloc_part_stats *part) {
  append(line, ",\"%s\":{\"on\":%s", name, is_on ? "true" : "false");
#define APPEND_FIELD(name) append(line, ",\"" #name "\":%" PRIu64, part->name);
  HEARTH_MALLOC_FIELDS(APPEND_FIELD)
  append(line, "}");
}

/* Those that were ever used. */
static void append_pools(struct line *line) {
  const char *comma = "";
  append(line, ",\"pools\":[");
  for (int pool = 0; pool < HEARTH_POOLS - HEARTH_POOL_FIRST; pool++) {
    struct hearth_malloc_part_stats stats;
    hearth_malloc_pool_stats(pool, &stats);
    if (!stats.placed)
      continue;
    append(line, "%s{\"pool\":%d,\"live_blocks\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"placed\":%" PRIu64 "}", comma,
           pool, stats.live_blocks, stats.live_bytes, stats.placed);
    comma = ",";
  }
  append(line, "]");
}

static bool append_to_file(const struct line *line) {
  int descriptor = open(file_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return false;
  ssize_t written = write(descriptor, line->text, line->bytes);
  return !close(descriptor) && written == (ssize_t)line->bytes;
}

/* It runs late, so that the blocks that the program's own destructors free are gone. */
__attribute__((destructor(101))) static void write_statistics(void) {
  struct hearth_malloc_stats stats;
  struct line line = {.bytes = 0};
  if (!*file_path)
    return;
  hearth_malloc_stats(&stats);
  append(&line, "{\"pid\":%d,\"cold_below\":%u,\"hot_from\":%u", (int)getpid(), hearth_hints_of_process.cold_below,
         HEARTH_HINT_POOL);
  append_part(&line, "cold", hearth_hints_of_process.cold_below > 0, &stats.cold);
  append_part(&line, "hot", true, &stats.hot);
  append_part(&line, "main", true, &stats.main);
  append_pools(&line);
  append(&line, ",\"passed_on\":%" PRIu64, stats.passed_on);
  uint64_t plan = atomic_load_explicit(&hearth_hints_of_process.plan, memory_order_relaxed);
  if (plan)
    append(&line, ",\"plan\":\"%016" PRIx64 "\"", plan);
  append(&line, "}\n");
  if (!append_to_file(&line))
    hearth_malloc_warn("stats= cannot be written: ", file_path);
}

/* Where the tables lie: written once; readers in other processes then read them by themselves. */

_Static_assert(sizeof(struct hearth_malloc_status) <= HEARTH_PAGE_BYTES, "the status is one page");
_Static_assert((int)HEARTH_POOL_MAIN == HEARTH_MALLOC_STATUS_MAIN &&
                   (int)HEARTH_POOL_COLD == HEARTH_MALLOC_STATUS_COLD &&
                   (int)HEARTH_POOL_FIRST == HEARTH_MALLOC_STATUS_FIRST &&
                   (int)HEARTH_POOLS == HEARTH_MALLOC_STATUS_PLACEMENTS &&
                   (int)HEARTH_KIND_LARGE == HEARTH_MALLOC_STATUS_LARGE &&
                   (int)HEARTH_KIND_LARGE_COLD == HEARTH_MALLOC_STATUS_LARGE_COLD,
               "numbers are the same");

static uint64_t address_of_table(const volatile void *data) { return (uintptr_t)data; }

void hearth_status_write(void) {
  char *pages = hearth_system_reserve(2 * HEARTH_PAGE_BYTES, HEARTH_PAGE_BYTES);
  if (!pages || !hearth_system_open(pages + HEARTH_PAGE_BYTES, HEARTH_PAGE_BYTES))
    return;
  struct hearth_malloc_status *status = (struct hearth_malloc_status *)(pages + HEARTH_PAGE_BYTES);
  hearth_kind_table kinds = hearth_kind_table_get();
  *status = (struct hearth_malloc_status){
      .version = HEARTH_MALLOC_STATUS_VERSION,
      .bytes = sizeof *status,
      .cold_below = hearth_hints_of_process.cold_below,
      .hot_from = HEARTH_HINT_POOL,
      .leaves = address_of_table(kinds.leaves),
      .leaf_count = (uint32_t)kinds.leaf_count,
      .leaf_bytes = (uint32_t)kinds.leaf_bytes,
      .piece_bytes = HEARTH_SEGMENT_BYTES,
      .used_offset = offsetof(hearth_segment, used_slots),
      .heaps = address_of_table(hearth_heaps_head()),
      .heap_bytes = sizeof(hearth_heap),
      .next_offset = offsetof(hearth_heap, next_of_all),
      .hinted_offset = offsetof(hearth_heap, hinted),
      .passed_on = address_of_table(&hearth_hints_of_process.passed_on),
      .fallbacks = address_of_table(&hearth_hints_of_process.fallbacks),
      .large = {address_of_table(hearth_large_live(false)), address_of_table(hearth_large_live(true))},
  };
  for (unsigned byte = 0; byte <= UINT8_MAX; byte++)
    status->granules[byte] = (uint16_t)hearth_class_granules(hearth_live_class((uint8_t)byte));
  /* Last: a reader that finds the magic finds the rest. */
  atomic_thread_fence(memory_order_release);
  status->magic = HEARTH_MALLOC_STATUS_MAGIC;
}

/* -- messages -------------------------------------------------------------------------------------------------------- */

/* Put together on the stack and written by one system call. No descriptor is kept for them, as a profiled program does:
 * daemons close theirs so that nobody waits for the end of a pipe. */

static struct stat at_start; /* st_nlink 0: there was no standard error */

/* Before code of the program can close or replace it. */
__attribute__((constructor(101))) static void look_at_standard_error(void) {
  if (fstat(STDERR_FILENO, &at_start))
    at_start.st_nlink = 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_nlink && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_for_messages(void) {
  struct stat now, output;
  if (fstat(STDERR_FILENO, &now))
    return false;
  return is_same(&at_start, &now) || (fstat(STDOUT_FILENO, &output) == 0 && is_same(&output, &now)) ||
         (S_ISREG(now.st_mode) && fcntl(STDERR_FILENO, F_GETFL) & O_APPEND);
}

/* Where nobody reads a pipe, or a file may not become larger, the system sends a signal that would end the program.
 * It is taken back. Nobody is left to tell when standard error cannot be written. */
static void write_to_standard_error(const struct iovec *parts, int count) {
  sigset_t sent, blocked, pending;
  const struct timespec at_once = {0};
  sigemptyset(&sent);
  sigaddset(&sent, SIGPIPE);
  sigaddset(&sent, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &sent, &blocked);
  sigpending(&pending);
  if (writev(STDERR_FILENO, parts, count) < 0 && !sigismember(&pending, errno == EPIPE ? SIGPIPE : SIGXFSZ))
    sigtimedwait(&sent, NULL, &at_once);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void hearth_malloc_warn(const char *what, const char *detail) {
  static const char prefix[] = "hearth malloc: ";
  int saved_errno = errno;
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1},
                          {(char *)what, strlen(what)},
                          {(char *)detail, strlen(detail)},
                          {(char *)"\n", 1}};
  if (is_for_messages())
    write_to_standard_error(parts, sizeof parts / sizeof *parts);
  errno = saved_errno;
}

_Noreturn void hearth_fatal(const char *what, const void *address) {
  char digits[2 + 16 + 1] = "0x";
  for (int i = 0; i < 16; i++)
    digits[2 + i] = "0123456789abcdef"[(uintptr_t)address >> (60 - 4 * i) & 15];
  hearth_malloc_warn(what, digits);
  abort();
}
