/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions of the C library about memory that hand out none. */
#include "blocks.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>

/* mlockall: the runtime's tables are far larger than memory, and the kernel would fill them. Pages are locked as
 * they are used, and those of the program's own mappings are there at once, as without the runtime. */

/* Have the pages of [start, end) in memory, but not those of the runtime's tables. */
static void fill(uintptr_t start, uintptr_t end) {
  while (start < end) {
    uintptr_t table = end, table_end = end;
    hearth_system_next_table(start, &table, &table_end);
    uintptr_t stop = table < end ? table : end;
    if (stop > start)
      hearth_system_lock_pages((void *)start, stop - start);
    start = table_end;
  }
}

HEARTH_EXPORT int mlockall(int flags) {
  char buffer[512];
  hearth_maps maps;
  hearth_maps_entry entry;
  int result = hearth_system_lock_all(flags);

  if (result < 0) {
    errno = -result;
    return -1;
  }
  if (!(flags & MCL_CURRENT) || flags & HEARTH_SYSTEM_LOCK_ON_FAULT || !hearth_maps_open(&maps, buffer, sizeof buffer))
    return 0;
  while (hearth_maps_next(&maps, &entry))
    if (entry.readable)
      fill(entry.start, entry.end);
  hearth_maps_close(&maps);
  return 0;
}

/* The other functions that malloc.h declares: figures about the heap, and settings, which this heap does not have. */

HEARTH_EXPORT struct mallinfo2 mallinfo2(void) {
  hearth_heap_usage usage = hearth_threads_heap_usage();

  return (struct mallinfo2){
      .arena = usage.small_span_bytes,
      .hblks = usage.large_blocks,
      .hblkhd = usage.large_span_bytes,
      .uordblks = usage.chunk_bytes,
      .fordblks = usage.small_span_bytes + usage.large_span_bytes - usage.chunk_bytes,
  };
}

static int to_int(size_t number) { return number < INT_MAX ? (int)number : INT_MAX; }

HEARTH_EXPORT struct mallinfo mallinfo(void) {
  struct mallinfo2 info = mallinfo2();

  return (struct mallinfo){.arena = to_int(info.arena),
                           .hblks = to_int(info.hblks),
                           .hblkhd = to_int(info.hblkhd),
                           .uordblks = to_int(info.uordblks),
                           .fordblks = to_int(info.fordblks)};
}

/* 1 is success. glibc's parameters tune glibc's heap; a program that sets them must not fail for having another one. */
HEARTH_EXPORT int mallopt(int parameter, int value) {
  (void)parameter;
  (void)value;
  return 1;
}

/* Memory goes back as soon as it is free, but for a few spans of each size: there is nothing to trim. */
HEARTH_EXPORT int malloc_trim(size_t pad) {
  (void)pad;
  return 0;
}

HEARTH_EXPORT void malloc_stats(void) {
  hearth_heap_usage usage = hearth_threads_heap_usage();

  hearth_message("heap: %u bytes from the system, of these %u in live blocks' chunks; %u live blocks, %u of them large",
                 (uint64_t)(usage.small_span_bytes + usage.large_span_bytes), (uint64_t)usage.chunk_bytes,
                 (uint64_t)usage.blocks, (uint64_t)usage.large_blocks);
}

/* It prints to a stream of the caller's, and is the one function of the runtime that uses stdio. No lock is held
 * meanwhile. */
HEARTH_EXPORT_WEAK int malloc_info(int options, FILE *stream) {
  hearth_heap_usage usage = hearth_threads_heap_usage();
  char buffer[512];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);

  if (options != 0)
    return EINVAL;
  hearth_text_format(&text,
                     "<malloc version=\"1\">\n"
                     "<total type=\"rest\" count=\"%u\" size=\"%u\"/>\n"
                     "<total type=\"mmap\" count=\"%u\" size=\"%u\"/>\n"
                     "<system type=\"current\" size=\"%u\"/>\n"
                     "</malloc>\n",
                     (uint64_t)(usage.blocks - usage.large_blocks), (uint64_t)usage.small_span_bytes,
                     (uint64_t)usage.large_blocks, (uint64_t)usage.large_span_bytes,
                     (uint64_t)(usage.small_span_bytes + usage.large_span_bytes));
  return fputs(buffer, stream) == EOF ? -1 : 0;
}
