/* Random operations over all functions, C and C++, by several threads that hand blocks to each other: contents intact,
 * every block in the range and the pool that its hint asked for, kept there by realloc, filled up to its neighbours, blocks
 * of different ranges never in one huge page, nothing left at the end.
 *   stress [operations per thread [threads [seed]]]      the long form: stress 1250000 8
 *
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: %t 300000 4 | FileCheck %s
 * RUN: %t 50000 8 2 | FileCheck %s
 * RUN: env HEARTH_MALLOC=layout=1111111111111111111111111111111 %t 100000 2 | FileCheck %s
 * RUN: env HEARTH_MALLOC=cold=file:interval=1:cost=off:dir=. %t 100000 2 | FileCheck %s
 *
 * CHECK: no block out of place, 0 live
 */
#undef NDEBUG
#define _GNU_SOURCE
#include <assert.h>
#include <hearth/malloc.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Operator new and delete by their linkage names; the program is C. */
void *_Znwm12__hot_cold_t(size_t bytes, uint8_t hint);
void *_ZnamRKSt9nothrow_t12__hot_cold_t(size_t bytes, const void *nothrow, uint8_t hint);
void *_ZnwmSt11align_val_t12__hot_cold_t(size_t bytes, size_t alignment, uint8_t hint);
void _ZdlPv(void *block);
void _ZdaPvRKSt9nothrow_t(void *block, const void *nothrow);
void _ZdlPvmSt11align_val_t(void *block, size_t bytes, size_t alignment);
void _ZdlPvm(void *block, size_t bytes);

/* Which delete a block takes. */
enum form { FREE, NEW, NEW_ARRAY_NOTHROW, NEW_ALIGNED, NEW_SIZED, FORMS };

/* A block with what it should be. Taken out of its slot by whoever works on it, so that any thread may be the next. */
struct record {
  unsigned char *block;
  size_t bytes;
  enum hearth_malloc_placement class;
  int pool;
  unsigned char fill;
  enum form form;
};

enum { SLOTS = 2000, FILLED = 4096 };
static struct record records[SLOTS];
static atomic_flag busy[SLOTS];
static enum hearth_malloc_placement class_of_hint[256];
static int pool_of_hint[256];
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
  memset(record->block, record->fill, record->bytes < FILLED ? record->bytes : FILLED);
}

/* Large blocks lie in no pool, and what they become does neither. */
static void expect_no_pool_of_large(struct record *record) {
  if (malloc_usable_size(record->block) <= 128 << 10 || record->class != HEARTH_MALLOC_HOT)
    return;
  record->class = HEARTH_MALLOC_OTHER;
  record->pool = -1;
}

static void check(const struct record *record, size_t bytes) {
  assert(hearth_malloc_class(record->block) == record->class);
  assert(hearth_malloc_pool(record->block) == record->pool);
  for (size_t i = 0; i < bytes && i < FILLED; i++)
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

enum { NEW_ALIGNMENT = 64 };

static void *create_object(enum form form, size_t bytes, uint8_t hint) {
  static const char nothrow;
  switch (form) {
  case NEW_ARRAY_NOTHROW:
    return _ZnamRKSt9nothrow_t12__hot_cold_t(bytes, &nothrow, hint);
  case NEW_ALIGNED:
    return _ZnwmSt11align_val_t12__hot_cold_t(bytes, NEW_ALIGNMENT, hint);
  default:
    return _Znwm12__hot_cold_t(bytes, hint);
  }
}

static void destroy(struct record *record) {
  switch (record->form) {
  case NEW:
    _ZdlPv(record->block);
    break;
  case NEW_ARRAY_NOTHROW:
    _ZdaPvRKSt9nothrow_t(record->block, NULL);
    break;
  case NEW_ALIGNED:
    _ZdlPvmSt11align_val_t(record->block, record->bytes, NEW_ALIGNMENT);
    break;
  case NEW_SIZED:
    _ZdlPvm(record->block, record->bytes);
    break;
  default:
    free(record->block);
  }
  record->block = NULL;
}

static void create(struct record *record, uint64_t *state) {
  uint8_t hint = (uint8_t)next_random(state);
  record->bytes = random_size(state);
  record->form = next_random(state) % 2 ? FREE : (enum form)(next_random(state) % FORMS);
  record->block =
      record->form == FREE ? allocate(state, &record->bytes, hint) : create_object(record->form, record->bytes, hint);
  assert(record->block);
  record->class = class_of_hint[hint];
  record->pool = pool_of_hint[hint];
  expect_no_pool_of_large(record);
  if (record->class != HEARTH_MALLOC_OTHER) /* to the next block */
    record->bytes = malloc_usable_size(record->block);
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
    if (class_of_hint[hint] != HEARTH_MALLOC_OTHER) {
      record->class = class_of_hint[hint];
      record->pool = pool_of_hint[hint];
    }
  }
  expect_no_pool_of_large(record);
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
      if (record->form == FREE && next_random(&state) % 4 == 0)
        resize(record, &state);
      else
        destroy(record);
    }
    atomic_flag_clear(&busy[slot]);
  }
  return NULL;
}

static uintptr_t first_huge_page(const struct record *record) { return (uintptr_t)record->block >> 21; }

static uintptr_t last_huge_page(const struct record *record) {
  return (uintptr_t)(record->block + record->bytes - 1) >> 21;
}

static void check_apart(void) {
  for (struct record *a = records; a < records + SLOTS; a++)
    for (struct record *b = records; b < a; b++)
      assert(!a->block || !b->block || a->class == b->class || last_huge_page(a) < first_huge_page(b) ||
             last_huge_page(b) < first_huge_page(a));
}

static void learn_classes(void) {
  for (int hint = 0; hint < 256; hint++) {
    void *block = malloc_hot_cold(64, (uint8_t)hint);
    class_of_hint[hint] = hearth_malloc_class(block);
    pool_of_hint[hint] = hearth_malloc_pool(block);
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
  check_apart();
  for (int i = 0; i < SLOTS; i++)
    if (records[i].block) {
      check(&records[i], records[i].bytes);
      destroy(&records[i]);
    }
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  assert(stats.cold.fallbacks == 0);
  printf("no block out of place, %d live\n", (int)(stats.cold.live_blocks + stats.hot.live_blocks));
  return 0;
}
