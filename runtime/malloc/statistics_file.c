/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counters are sampled at the end and appended as one line. Unlike elsewhere, memory may be allocated: the program ends, and is
 * not inside its allocator. */
#define _GNU_SOURCE
#include "statistics_file.h"

#include "hearth/malloc.h"
#include "hints.h"
#include "malloc_messages.h"
#include "malloc_options.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
#define HEARTH_MALLOC_FIELD(name, description) append(line, ",\"" #name "\":%" PRIu64, part->name);
#include "hearth/malloc_fields.def"
  append(line, "}");
}

/* Those that were ever used. */
static void append_pools(struct line *line) {
  const char *comma = "";
  append(line, ",\"pools\":[");
  for (int pool = 0; pool <= HEARTH_POOL_HOT - HEARTH_POOL_FIRST; pool++) {
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
         hearth_hints_of_process.hot_from);
  append_part(&line, "cold", hearth_hints_of_process.cold_below > 0, &stats.cold);
  append_part(&line, "hot", hearth_hints_of_process.hot_from <= UINT8_MAX, &stats.hot);
  append_part(&line, "main", true, &stats.main);
  append_pools(&line);
  append(&line, ",\"passed_on\":%" PRIu64 "}\n", stats.passed_on);
  if (!append_to_file(&line))
    hearth_malloc_warn("stats= cannot be written: ", file_path);
}
