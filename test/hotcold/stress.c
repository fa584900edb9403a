/* Random operations over all functions by several threads that hand blocks to each other: contents intact, every block
 * in the range its hint asked for, kept there by realloc, nothing left at the end.
 *   stress [operations per thread [threads [seed]]]
 *
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %hotcold_a -o %t -pthread
 * RUN: %t 300000 4 | FileCheck %s
 * RUN: env HEARTH_HOTCOLD=hot=off %t 100000 2 | FileCheck %s
 *
 * CHECK: no block out of place, 0 live
 */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <hearth/hotcold.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block with what it should be. Taken out of its slot by whoever works on it, so that any thread may be the next. */
struct record {
  unsigned char *block;
  size_t bytes;
  enum hearth_hotcold_placement class;
  unsigned char fill;
};

enum { SLOTS = 2000 };
static struct record records[SLOTS];
static atomic_flag busy[SLOTS];
static enum hearth_hotcold_placement class_of_hint[256];
static long operations = 300000;

static uint32_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(*state >> 33);
}

/* Mostly small, now and then up to 2 MiB. */
static size_t random_size(uint64_t *state) {
  uint32_t kind = next_random(state) % 100;
  uint32_t most = kind < 60 ? 200 : kind < 90 ? 4000 : kind < 98 ? 60000 : 2000000;
  return 1 + next_random(state) % most;
}

static void fill(struct record *record) {
  record->block[0] = record->block[record->bytes - 1] = record->fill;
  memset(record->block, record->fill, record->bytes < 300 ? record->bytes : 300);
}

static void check(const struct record *record, size_t bytes) {
  assert(hearth_hotcold_class(record->block) == record->class);
  for (size_t i = 0; i < bytes && i < 300; i++)
    assert(record->block[i] == record->fill);
  assert(malloc_usable_size(record->block) >= bytes);
}

static void *allocate(uint64_t *state, size_t *bytes, uint8_t hint) {
  size_t alignment = (size_t)16 << next_random(state) % 10;
  void *block = NULL;
  switch (next_random(state) % 10) {
  case 0:
    return calloc_hot_cold(1, *bytes, hint);
  case 1:
    return realloc_hot_cold(NULL, *bytes, hint);
  case 2:
    return reallocarray_hot_cold(NULL, *bytes, 1, hint);
  case 3: /* C11 wants a multiple of the alignment; sanitizers insist */
    *bytes = (*bytes + alignment - 1) & ~(alignment - 1);
    block = aligned_alloc_hot_cold(alignment, *bytes, hint);
    break;
  case 4:
    block = memalign_hot_cold(alignment, *bytes, hint);
    break;
  case 5:
    assert(!posix_memalign_hot_cold(&block, alignment, *bytes, hint));
    break;
  case 6:
    return valloc_hot_cold(*bytes, hint);
  case 7:
    *bytes = 6;
    return strdup_hot_cold("hello", hint);
  case 8:
    *bytes = 3;
    return strndup_hot_cold("hello", 2, hint);
  default:
    return malloc_hot_cold(*bytes, hint);
  }
  assert((uintptr_t)block % alignment == 0);
  return block;
}

static void create(struct record *record, uint64_t *state) {
  uint8_t hint = (uint8_t)next_random(state);
  record->bytes = random_size(state);
  record->block = allocate(state, &record->bytes, hint);
  assert(record->block);
  record->class = class_of_hint[hint];
  record->fill = (unsigned char)next_random(state);
  fill(record);
}

static void resize(struct record *record, uint64_t *state) {
  size_t bytes = random_size(state), kept = bytes < record->bytes ? bytes : record->bytes;
  uint8_t hint = (uint8_t)next_random(state);
  switch (next_random(state) % 3) {
  case 0:
    record->block = realloc(record->block, bytes);
    break;
  case 1:
    record->block = reallocarray(record->block, 1, bytes);
    break;
  default:
    record->block = realloc_hot_cold(record->block, bytes, hint);
    if (class_of_hint[hint] != HEARTH_HOTCOLD_OTHER)
      record->class = class_of_hint[hint];
  }
  check(record, kept);
  record->bytes = bytes;
  fill(record);
}

static void *run(void *seed) {
  uint64_t state = (uint64_t)(size_t)seed;
  for (long i = 0; i < operations; i++) {
    uint32_t slot = next_random(&state) % SLOTS;
    struct record *record = &records[slot];
    if (atomic_flag_test_and_set(&busy[slot]))
      continue;
    if (!record->block) {
      create(record, &state);
    } else {
      check(record, record->bytes);
      if (next_random(&state) % 4 == 0) {
        resize(record, &state);
      } else {
        free(record->block);
        record->block = NULL;
      }
    }
    atomic_flag_clear(&busy[slot]);
  }
  return NULL;
}

static void learn_classes(void) {
  for (int hint = 0; hint < 256; hint++) {
    void *block = malloc_hot_cold(64, (uint8_t)hint);
    class_of_hint[hint] = hearth_hotcold_class(block);
    free(block);
  }
}

int main(int argc, char **argv) {
  pthread_t threads[64];
  operations = argc > 1 ? atol(argv[1]) : operations;
  int count = argc > 2 ? atoi(argv[2]) : 4;
  size_t seed = argc > 3 ? (size_t)atol(argv[3]) : 1;
  assert(count >= 1 && count <= 64);
  printf("seed %zu\n", seed);
  learn_classes();
  for (int i = 0; i < count; i++)
    assert(!pthread_create(&threads[i], NULL, run, (void *)(seed * 64 + (size_t)i)));
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < SLOTS; i++)
    if (records[i].block) {
      check(&records[i], records[i].bytes);
      free(records[i].block);
    }
  struct hearth_hotcold_stats stats;
  hearth_hotcold_stats(&stats);
  assert(stats.cold.fallbacks == 0 && stats.hot.fallbacks == 0);
  printf("no block out of place, %d live\n", (int)(stats.cold.live_blocks + stats.hot.live_blocks));
  return 0;
}
