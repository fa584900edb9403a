/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Chunks without headers: sizes, reuse, and what is made of wrong pointers. The test's own malloc takes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap.h"
#include "running_profile.h"

#include <string.h>

static hearth_heap_cache cache, other;

static void fresh_chunks_ascend(void **state) {
  enum { SIZE = 64, BATCH = 16 };
  char *memory[BATCH];

  (void)state;
  for (size_t i = 0; i < BATCH; ++i) {
    memory[i] = hearth_headerless_take(SIZE, &cache.headerless);
    assert_ptr_equal(memory[i], memory[0] + i * SIZE);
  }
  for (size_t i = 0; i < BATCH; ++i)
    assert_true(hearth_headerless_give(memory[i], &cache.headerless));
}

static void sizes_are_rounded_up_to_16(void **state) {
  (void)state;
  for (size_t size = 0; size <= HEARTH_HEADERLESS_MOST; ++size) {
    size_t found;
    char *memory = hearth_headerless_take(size, &cache.headerless);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 16, 0);
    assert_int_equal(hearth_headerless_find(memory, &found), HEARTH_HEADERLESS_LIVE);
    assert_int_equal(found, size ? (size + 15) / 16 * 16 : 16);
    memset(memory, 0xff, found);
    assert_true(hearth_headerless_give(memory, &cache.headerless));
  }
  assert_null(hearth_headerless_take(HEARTH_HEADERLESS_MOST + 1, &cache.headerless));
}

static void wrong_pointers_are_told(void **state) {
  (void)state;
  for (size_t size = 16; size <= HEARTH_HEADERLESS_MOST; size += 16) {
    size_t found;
    hearth_block block;
    char *memory = hearth_headerless_take(size, &cache.headerless);
    for (size_t i = 1; i < size; ++i)
      assert_int_equal(hearth_headerless_find(memory + i, &found), HEARTH_HEADERLESS_INSIDE);
    assert_false(hearth_headerless_give(memory + 8, &cache.headerless));
    assert_int_equal(hearth_heap_find(memory + 8, &block), HEARTH_POINTER_BAD);
    assert_true(hearth_headerless_give(memory, &cache.headerless));
    assert_int_equal(hearth_headerless_find(memory, &found), HEARTH_HEADERLESS_FREED);
    assert_int_equal(hearth_heap_find(memory, &block), HEARTH_POINTER_FREED);
    assert_false(hearth_headerless_give(memory, &cache.headerless));
  }
  size_t found;
  assert_int_equal(hearth_headerless_find(&found, &found), HEARTH_HEADERLESS_OTHER);
  assert_int_equal(hearth_headerless_find(NULL, &found), HEARTH_HEADERLESS_OTHER);
}

/* Chunks that were free before, and whatever number of four bytes the program writes to one of them and no more: as in a
 * structure with a gap behind it. */
static void half_a_mark_is_no_mark(void **state) {
  enum { SIZE = 32 };

  (void)state;
  for (size_t half = 0; half < 2; ++half) {
    size_t found, at = offsetof(hearth_headerless_chunk, mark) + half * sizeof(uint32_t);
    char *memory = hearth_headerless_take(SIZE, &cache.headerless);
    assert_true(hearth_headerless_give(memory, &cache.headerless));
    uint32_t mark;
    memcpy(&mark, memory + at, sizeof mark);
    assert_ptr_equal(hearth_headerless_take(SIZE, &cache.headerless), memory);
    memcpy(memory + at, &mark, sizeof mark);
    assert_int_equal(hearth_headerless_find(memory, &found), HEARTH_HEADERLESS_LIVE);
    assert_true(hearth_headerless_give(memory, &cache.headerless));
  }
}

static void check_has_header(const hearth_block *block, void *closure) {
  (void)closure;
  assert_int_not_equal(hearth_sector_of(block->header)->kind, HEARTH_TRACT_HEADERLESS);
}

/* Enough for several runs of each size. */
static void chunks_do_not_overlap_and_are_nobodys_blocks(void **state) {
  (void)state;
  static unsigned char *all[100000];
  size_t count = sizeof all / sizeof *all, before = hearth_heap_get_usage().blocks;
  for (size_t i = 0; i < count; ++i) {
    size_t size = i * 7 % 97;
    all[i] = hearth_headerless_take(size, &cache.headerless);
    memset(all[i], HEARTH_BLOCK_LIVE, size); /* looks like headers of live blocks */
    memcpy(all[i], &i, size < sizeof i ? size : sizeof i);
  }
  for (size_t i = 0; i < count; ++i) {
    size_t size = i * 7 % 97;
    assert_memory_equal(all[i], &i, size < sizeof i ? size : sizeof i);
    for (size_t k = sizeof i; k < size; ++k)
      assert_int_equal(all[i][k], HEARTH_BLOCK_LIVE);
  }
  hearth_heap_lock();
  hearth_heap_each(check_has_header, NULL);
  hearth_heap_unlock();
  assert_int_equal(hearth_heap_get_usage().blocks, before + count);
  for (size_t i = 0; i < count; ++i)
    assert_true(hearth_headerless_give(all[i], i % 3 ? &cache.headerless : NULL));
  assert_int_equal(hearth_heap_get_usage().blocks, before);
}

/* What one thread gave back another one takes before there is a new run. */
static void flushed_chunks_are_everyones(void **state) {
  (void)state;
  void *memory = hearth_headerless_take(1000, &cache.headerless);
  assert_true(hearth_headerless_give(memory, &cache.headerless));
  hearth_heap_cache_flush(&cache);
  for (size_t i = 0;; ++i) {
    assert_true(i < 1000);
    if (hearth_headerless_take(1000, &other.headerless) == memory)
      break;
  }
}

/* Whatever is freed serves other sizes, but for few tracts of each size: programs allocate now this, now that. */
static void free_tracts_go_back(void **state) {
  enum { COUNT = 20000, SIZES = 20 };
  static void *memory[COUNT];
  char *unused;

  (void)state;
  size_t most = hearth_tracts_extent(&unused) + (size_t)COUNT * 320 + (SIZES + 20) * HEARTH_SECTOR;
  for (size_t size = 16; size <= SIZES * 16; size += 16) {
    for (size_t i = 0; i < COUNT; ++i)
      memory[i] = memset(hearth_headerless_take(size, &cache.headerless), 1, size);
    for (size_t i = 0; i < COUNT; ++i)
      assert_true(hearth_headerless_give(memory[i], i % 5 ? &cache.headerless : NULL));
    assert_true(hearth_tracts_extent(&unused) <= most);
  }
}

/* Also where a tract became part of a larger free one. */
static void blocks_of_tracts_that_went_back_are_freed_ones(void **state) {
  enum { SIZE = 200, COUNT = 40000 };
  static void *memory[COUNT];
  size_t found;

  (void)state;
  for (size_t i = 0; i < COUNT; ++i)
    memory[i] = hearth_headerless_take(SIZE, &cache.headerless);
  for (size_t odd = 0; odd < 2; ++odd)
    for (size_t i = 0; i < COUNT; ++i)
      if ((uintptr_t)memory[i] / HEARTH_SECTOR % 2 == odd)
        assert_true(hearth_headerless_give(memory[i], NULL));
  for (size_t i = 0; i < COUNT; ++i)
    assert_int_not_equal(hearth_headerless_find(memory[i], &found), HEARTH_HEADERLESS_LIVE);
}

/* Programs that allocate and free as much by turns would wait for the system each time. */
static void memory_stays_that_is_taken_again(void **state) {
  enum { SIZE = 500, COUNT = 2000, ROUNDS = 4 };
  static void *memory[COUNT];
  size_t kept = 0, found;

  (void)state;
  for (int round = 0; round < ROUNDS; ++round) {
    for (size_t i = 0; i < COUNT; ++i)
      memory[i] = memset(hearth_headerless_take(SIZE, &cache.headerless), 1, SIZE);
    for (size_t i = 0; i < COUNT; ++i)
      assert_true(hearth_headerless_give(memory[i], &cache.headerless));
  }
  for (size_t i = 0; i < COUNT; ++i)
    kept += hearth_headerless_find(memory[i], &found) == HEARTH_HEADERLESS_FREED;
  assert_int_equal(kept, COUNT);
}

/* No profile of the test itself. */
const char *__memprof_default_options(void) { return "dump_at_exit=0"; }

int main(void) {
  hearth_ensure_heap();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fresh_chunks_ascend),
      cmocka_unit_test(sizes_are_rounded_up_to_16),
      cmocka_unit_test(wrong_pointers_are_told),
      cmocka_unit_test(chunks_do_not_overlap_and_are_nobodys_blocks),
      cmocka_unit_test(flushed_chunks_are_everyones),
      cmocka_unit_test(half_a_mark_is_no_mark),
      cmocka_unit_test(memory_stays_that_is_taken_again),
      cmocka_unit_test(blocks_of_tracts_that_went_back_are_freed_ones),
      cmocka_unit_test(free_tracts_go_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
