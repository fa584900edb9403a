/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The other functions that malloc.h declares: figures about the heap, and settings, which this heap does not have. */
#include "message.h"
#include "os.h"
#include "running_profile.h"
#include "thread_cache.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>

HEARTH_EXPORT struct mallinfo mallinfo(void);
HEARTH_EXPORT struct mallinfo2 mallinfo2(void);
HEARTH_EXPORT int mallopt(int parameter, int value);
HEARTH_EXPORT int malloc_trim(size_t pad);
HEARTH_EXPORT void malloc_stats(void);

struct mallinfo2 mallinfo2(void) {
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

struct mallinfo mallinfo(void) {
  struct mallinfo2 info = mallinfo2();

  return (struct mallinfo){.arena = to_int(info.arena),
                           .hblks = to_int(info.hblks),
                           .hblkhd = to_int(info.hblkhd),
                           .uordblks = to_int(info.uordblks),
                           .fordblks = to_int(info.fordblks)};
}

/* 1 is success. glibc's parameters tune glibc's heap; a program that sets them must not fail for having another one. */
int mallopt(int parameter, int value) {
  (void)parameter;
  (void)value;
  return 1;
}

/* Memory goes back as soon as it is free, but for a few spans of each size: there is nothing to trim. */
int malloc_trim(size_t pad) {
  (void)pad;
  return 0;
}

void malloc_stats(void) {
  hearth_heap_usage usage = hearth_threads_heap_usage();

  hearth_message("heap: %u bytes from the system, of these %u in live blocks' chunks; %u live blocks, %u of them large",
                 (uint64_t)(usage.small_span_bytes + usage.large_span_bytes), (uint64_t)usage.chunk_bytes,
                 (uint64_t)usage.blocks, (uint64_t)usage.large_blocks);
}
