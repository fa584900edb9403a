/* free, realloc, reallocarray and malloc_usable_size take blocks of either range, of the program's own allocator, and
 * those that libc allocates for the caller; plain realloc keeps the range, the hinted one follows a cold or hot hint.
 *
 * RUN: %clang -g -O1 -Wall -Wextra -fno-builtin -I%include %s %malloc_a -o %t
 * RUN: %t | FileCheck %s
 *
 * CHECK: own blocks ok
 * CHECK: plain realloc keeps the range
 * CHECK: hinted realloc follows a cold or hot hint
 * CHECK: nothing left
 */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <hearth/malloc.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  uint8_t hint;
  enum hearth_malloc_placement class;
} kinds[] = {{0, HEARTH_MALLOC_COLD}, {128, HEARTH_MALLOC_OTHER}, {253, HEARTH_MALLOC_HOT}};
static const size_t sizes[] = {1, 16, 17, 100, 1000, 5000, 32768, 32769, 40000, 1000000, 70000, 33000, 30000, 200, 3};
enum { KINDS = 3, SIZES = sizeof sizes / sizeof *sizes };

static void fill(unsigned char *block, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    block[i] = (unsigned char)(i * 7);
}

static void check(const unsigned char *block, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    assert(block[i] == (unsigned char)(i * 7));
}

/* Large blocks lie in no pool, and what they become does neither. */
static enum hearth_malloc_placement class_of(size_t bytes, enum hearth_malloc_placement class) {
  return bytes > 128 << 10 && class == HEARTH_MALLOC_HOT ? HEARTH_MALLOC_OTHER : class;
}

/* Through all sizes and back to nothing. */
static void plain_realloc(int kind) {
  unsigned char *block = malloc_hot_cold(1, kinds[kind].hint);
  enum hearth_malloc_placement class = kinds[kind].class;
  size_t before = 1;
  fill(block, 1);
  for (int i = 0; i < SIZES; i++) {
    block = i % 2 ? realloc(block, sizes[i]) : reallocarray(block, sizes[i], 1);
    class = class_of(sizes[i], class);
    assert(hearth_malloc_class(block) == class);
    assert(malloc_usable_size(block) >= sizes[i]);
    check(block, before < sizes[i] ? before : sizes[i]);
    fill(block, sizes[i]);
    before = sizes[i];
  }
  assert(!realloc(block, 0));
}

static void hinted_realloc(int from, int to, size_t bytes) {
  for (int i = 0; i < SIZES; i++) {
    unsigned char *block = malloc_hot_cold(bytes, kinds[from].hint);
    fill(block, bytes);
    block = realloc_hot_cold(block, sizes[i], kinds[to].hint);
    enum hearth_malloc_placement expected = kinds[to].class;
    if (expected == HEARTH_MALLOC_OTHER)
      expected = class_of(bytes, kinds[from].class);
    assert(hearth_malloc_class(block) == class_of(sizes[i], expected));
    check(block, bytes < sizes[i] ? bytes : sizes[i]);
    free(block);
  }
}

static void own_blocks(void) {
  char *line = NULL, *text = NULL;
  assert(asprintf(&text, "%d %s", 42, "answers") > 0);
  FILE *file = fmemopen(text, strlen(text), "r");
  size_t room = 0;
  assert(getline(&line, &room, file) == 10);
  fclose(file);
  line = realloc(line, 10000);
  assert(!strcmp(line, "42 answers") && malloc_usable_size(line) >= 10000);
  assert(hearth_malloc_class(line) == HEARTH_MALLOC_OTHER);
  free(line);
  free(text);
  free(NULL);
  assert(malloc_usable_size(NULL) == 0);
  puts("own blocks ok");
}

int main(void) {
  own_blocks();
  for (int kind = 0; kind < KINDS; kind++)
    plain_realloc(kind);
  puts("plain realloc keeps the range");
  for (int from = 0; from < KINDS; from++)
    for (int to = 0; to < KINDS; to++)
      for (int i = 0; i < SIZES; i++)
        hinted_realloc(from, to, sizes[i]);
  puts("hinted realloc follows a cold or hot hint");
  /* libc may resize a block of ours: getline */
  char *line = malloc_hot_cold(4, 0);
  size_t room = 4;
  char long_line[3000];
  memset(long_line, 'x', sizeof long_line);
  FILE *file = fmemopen(long_line, sizeof long_line, "r");
  assert(getline(&line, &room, file) == sizeof long_line);
  fclose(file);
  assert(hearth_malloc_class(line) == HEARTH_MALLOC_COLD);
  free(line);
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  assert(stats.cold.live_blocks == 0 && stats.cold.live_bytes == 0 && stats.hot.live_blocks == 0);
  assert(stats.cold.placed > 100 && stats.hot.placed > 100);
  assert(stats.cold.fallbacks == 0);
  puts("nothing left");
  return 0;
}
