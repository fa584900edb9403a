/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counters are sampled at the end and appended as one line. */
#define _GNU_SOURCE
#include "statistics_file.h"

#include "fatal.h"
#include "hearth/hotcold.h"
#include "hotcold_options.h"
#include "ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sample {
#define HEARTH_HOTCOLD_FIELD(name, description) uint64_t name;
#include "hearth/hotcold_fields.def"
};

/* One line, appended at once. */
struct line {
  char text[8192];
  size_t bytes;
};

static char file_path[PATH_MAX + HEARTH_HOTCOLD_PATH_BYTES]; /* empty: none */

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

/* The system's accounts of the mappings in a range. Unlike in the rest of the adapter memory may be allocated: the program
 * ends, and is not inside its allocator. */
static void add_residency(const struct hearth_region *region, struct sample *sample) {
  FILE *smaps = fopen("/proc/self/smaps", "re");
  char text[PATH_MAX + 128];
  uint64_t start, end, kib;
  bool is_inside = false;
  while (smaps && fgets(text, sizeof text, smaps)) {
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
      is_inside = start - (uintptr_t)region->base < (uint64_t)region->pages << HEARTH_PAGE_SHIFT;
    else if (is_inside && sscanf(text, "Rss: %" SCNu64, &kib) == 1)
      sample->resident_bytes += kib << 10;
    else if (is_inside && sscanf(text, "AnonHugePages: %" SCNu64, &kib) == 1)
      sample->huge_bytes += kib << 10;
    else if (is_inside && sscanf(text, "Swap: %" SCNu64, &kib) == 1)
      sample->swap_bytes += kib << 10;
  }
  if (smaps)
    fclose(smaps);
}

static void append_range(struct line *line, const char *name, enum hearth_range range,
                         const struct hearth_hotcold_range_stats *stats) {
  struct sample sample = {.live_blocks = stats->live_blocks,
                          .live_bytes = stats->live_bytes,
                          .committed_bytes = stats->committed_bytes,
                          .placed = stats->ever_blocks,
                          .fallbacks = stats->fallbacks};
  bool is_on = stats->reserved_bytes != 0;
  if (is_on)
    add_residency(&hearth_ranges.region[range], &sample);
  append(line, ",\"%s\":{\"on\":%s", name, is_on ? "true" : "false");
#define HEARTH_HOTCOLD_FIELD(name, description) append(line, ",\"" #name "\":%" PRIu64, sample.name);
#include "hearth/hotcold_fields.def"
  append(line, "}");
}

/* Those that were ever used. */
static void append_pools(struct line *line) {
  const char *comma = "";
  append(line, ",\"pools\":[");
  for (int pool = 0; pool < HEARTH_POOLS - HEARTH_POOL_FIRST; pool++) {
    struct hearth_hotcold_pool_stats stats;
    hearth_hotcold_pool_stats(pool, &stats);
    if (!stats.ever_blocks)
      continue;
    append(line, "%s{\"pool\":%d,\"live_blocks\":%" PRIu64 ",\"live_bytes\":%" PRIu64 ",\"placed\":%" PRIu64 "}", comma,
           pool, stats.live_blocks, stats.live_bytes, stats.ever_blocks);
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

/* It runs late, so that the blocks that the program's own destructors free are gone. A program without a hinted call
 * reads its options here. */
__attribute__((destructor(101))) static void write_statistics(void) {
  struct hearth_hotcold_stats stats;
  struct line line = {.bytes = 0};
  if (secure_getenv("HEARTH_HOTCOLD") && !atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire))
    hearth_ranges_open();
  if (!*file_path)
    return;
  hearth_hotcold_stats(&stats);
  append(&line, "{\"pid\":%d,\"cold_below\":%u,\"hot_from\":%u", (int)getpid(), hearth_ranges.cold_below,
         hearth_ranges.hot_from);
  append_range(&line, "cold", HEARTH_RANGE_COLD, &stats.cold);
  append_range(&line, "hot", HEARTH_RANGE_HOT, &stats.hot);
  append_pools(&line);
  append(&line, ",\"passed_on\":%" PRIu64 "}\n", stats.passed_on);
  if (!append_to_file(&line))
    hearth_hotcold_warn("stats= cannot be written: ", file_path);
}
