/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The heap: layout of blocks, reuse, enumeration, and what it makes of wrong pointers. The test's own malloc is this
 * heap too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap.h"
#include "hearth/rt.h"
#include "os.h"
#include "running_profile.h"

#include <string.h>
#include <sys/mman.h>

static hearth_block *make(size_t size, size_t alignment) {
  bool zeroed;
  hearth_block *block = hearth_heap_take(size, alignment, NULL, &zeroed);

  assert_non_null(block);
  block->context = HEARTH_NO_CONTEXT;
  hearth_block_publish(block);
  return block;
}

static void drop(hearth_block *block) {
  hearth_block *claimed;
  hearth_chunk chunk;

  assert_int_equal(hearth_heap_claim(hearth_block_memory(block), &claimed, &chunk), HEARTH_POINTER_LIVE);
  assert_ptr_equal(claimed, block);
  hearth_block_set_state(block, HEARTH_BLOCK_FREE);
  assert_true(hearth_heap_give(chunk, NULL));
}

/* Of a size that nothing was allocated of before: programs that walk what they made go through memory upwards. */
static void test_fresh_chunks_ascend(void **state) {
  enum { CHUNK = 832, BATCH = 9 };
  static hearth_heap_cache cache;
  hearth_block *blocks[BATCH];
  bool zeroed;

  (void)state;
  for (size_t i = 0; i < BATCH; ++i) {
    blocks[i] = hearth_heap_take(CHUNK - sizeof(hearth_block), 1, &cache, &zeroed);
    assert_ptr_equal(blocks[i], (char *)blocks[0] + i * CHUNK);
  }
  for (size_t i = 0; i < BATCH; ++i) {
    blocks[i]->context = HEARTH_NO_CONTEXT;
    hearth_block_publish(blocks[i]);
    drop(blocks[i]);
  }
  hearth_heap_cache_flush(&cache);
}

static size_t resident_pages(void *page, size_t count) {
  unsigned char there[16] = {0};
  size_t pages = 0;

  assert_in_range(count, 1, sizeof there);
  assert_int_equal(mincore(page, count * HEARTH_OS_PAGE, there), 0);
  for (size_t i = 0; i < count; ++i)
    pages += there[i] & 1;
  return pages;
}

/* One chunk in a page: the pages of a class's first tract come one by one, later ones in groups of 16. */
static void test_pages_come_in_groups(void **state) {
  enum { TRACT = 64, GROUP = 16 };
  hearth_block *blocks[TRACT + GROUP];
  char *probe = hearth_os_map(HEARTH_OS_PAGE);
  size_t count = 0;

  (void)state;
  hearth_os_populate(probe, HEARTH_OS_PAGE);
  if (resident_pages(probe, 1) == 0)
    skip(); /* the system cannot do it */
  do {
    assert_in_range(count, 0, TRACT + GROUP - 1);
    blocks[count++] = make(HEARTH_OS_PAGE - sizeof(hearth_block), 1);
  } while (count <= TRACT || (uintptr_t)blocks[count - 1] % HEARTH_SECTOR != 0);
  char *last = (char *)blocks[count - 1];
  assert_int_equal(resident_pages(last, GROUP), GROUP);
  assert_int_equal(resident_pages(last + GROUP * HEARTH_OS_PAGE, GROUP), 0);
  while (count > 0)
    drop(blocks[--count]);
}

static void test_every_size_and_alignment(void **state) {
  (void)state;
  for (size_t alignment = 1; alignment <= (size_t)1 << 18; alignment *= 2)
    for (size_t size = 0; size < 200000; size += size / 7 + 1) {
      hearth_block *block = make(size, alignment), *found;
      char *memory = hearth_block_memory(block);
      assert_int_equal((uintptr_t)memory % (alignment > 32 ? alignment : 32), 0);
      assert_true(hearth_heap_capacity(block) >= size);
      assert_int_equal(block->size, size);
      memset(memory, 0xa5, size); /* looks like headers of live blocks */
      assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_LIVE);
      assert_ptr_equal(found, block);
      drop(block);
    }
}

static void test_capacity_is_not_wasteful(void **state) {
  (void)state;
  for (size_t size = 0; size < 32000; size += 31) {
    hearth_block *block = make(size, 1);
    assert_true(hearth_heap_capacity(block) <= size + 64 + (size + 32) / 4);
    drop(block);
  }
}

static void test_chunks_are_reused(void **state) {
  (void)state;
  hearth_block *first = make(1000, 1);

  drop(first);
  assert_ptr_equal(make(1001, 1), first);
  drop(first);
  first = make(10 << 20, 1);
  memset(hearth_block_memory(first), 1, 10 << 20);
  drop(first);
  bool zeroed;
  hearth_block *again = hearth_heap_take(10 << 20, 1, NULL, &zeroed);
  assert_true(zeroed);
  for (size_t i = 0; i < (size_t)10 << 20; i += 512)
    assert_int_equal(((char *)hearth_block_memory(again))[i], 0);
  hearth_block_publish(again);
  drop(again);
}

/* Runs that are given back side by side join, in any order. They are larger than all that other tests leave behind. */
static void test_runs_join(void **state) {
  (void)state;
  static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const size_t step = (size_t)1 << 30, header = sizeof(hearth_block);

  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; ++i) {
    hearth_block *blocks[3] = {make(step - header, 1), make(2 * step - header, 1), make(3 * step - header, 1)};
    for (int k = 0; k < 3; ++k)
      drop(blocks[orders[i][k]]);
    hearth_block *joined = make(6 * step - header, 1);
    /* What was free before them may have joined too. */
    assert_true(joined <= blocks[0] && (char *)blocks[0] < (char *)joined + 6 * step);
    drop(joined);
  }
}

static void test_wrong_pointers(void **state) {
  (void)state;
  hearth_block *small = make(100, 1), *aligned = make(100, 4096), *large = make(1 << 20, 1), *found;
  char local = 0;
  char *memory = hearth_block_memory(small);

  assert_int_equal(hearth_heap_find(&local, &found), HEARTH_POINTER_FOREIGN);
  assert_int_equal(hearth_heap_find((void *)1, &found), HEARTH_POINTER_FOREIGN);
  assert_int_equal(hearth_heap_find((void *)UINTPTR_MAX, &found), HEARTH_POINTER_FOREIGN);
  for (int i = 1; i < 64; ++i)
    assert_int_equal(hearth_heap_find(memory + i, &found), HEARTH_POINTER_BAD);
  assert_int_equal(hearth_heap_find((char *)hearth_block_memory(large) + (200 << 10), &found), HEARTH_POINTER_BAD);
  drop(small);
  drop(aligned);
  drop(large);
  assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_FREED);
  assert_int_equal(hearth_heap_find(hearth_block_memory(aligned), &found), HEARTH_POINTER_FREED);
  assert_int_equal(hearth_heap_find(hearth_block_memory(large), &found), HEARTH_POINTER_BAD);
}

static void test_too_large(void **state) {
  (void)state;
  bool zeroed;

  assert_null(hearth_heap_take(SIZE_MAX, 1, NULL, &zeroed));
  assert_null(hearth_heap_take(SIZE_MAX - 40, 64, NULL, &zeroed));
  assert_null(hearth_heap_take((size_t)1 << 46, 1, NULL, &zeroed));
  assert_null(hearth_heap_take(1, (size_t)1 << 63, NULL, &zeroed));
}

/* Blocks without record go through a cache and stay what the heap knows of them. */
static void test_unrecorded_blocks(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  for (size_t size = 0; size <= 4000; size += 13) {
    hearth_block *block = make(size, 1), *again, *found;
    char *memory = hearth_block_memory(block);
    block->cpu = 0;
    memset(memory, 0xa5, size);
    assert_false(hearth_heap_give_unrecorded(memory + 32, &cache));
    if (size > 128)
      assert_false(hearth_heap_give_unrecorded(memory + 64, &cache));
    assert_true(hearth_heap_give_unrecorded(memory, &cache));
    assert_false(hearth_heap_give_unrecorded(memory, &cache));
    assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_FREED);
    assert_null(hearth_heap_take_unrecorded(size + 8192, &cache));
    again = hearth_heap_take_unrecorded(size, &cache);
    assert_ptr_equal(again, block);
    assert_int_equal(again->size, size);
    assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_LIVE);
    size_t capacity = hearth_heap_capacity(again);
    assert_true(hearth_heap_resize_unrecorded(memory, capacity));
    assert_int_equal(again->size, capacity);
    assert_false(hearth_heap_resize_unrecorded(memory, capacity + 1));
    assert_null(hearth_heap_take_unrecorded(size, &cache));
    drop(again);
  }
  hearth_heap_cache_flush(&cache);
}

/* Blocks with a record, with a redirect, and of runs of their own are not taken for such. */
static void test_other_blocks_are_not_unrecorded(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_block *blocks[] = {make(100, 1), make(100, 64), make(100, 4096), make(1 << 20, 1)};
  char local[64];

  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) {
    blocks[i]->cpu = 0;
    blocks[i]->context = i == 0 ? 7 : HEARTH_NO_CONTEXT;
    assert_false(hearth_heap_give_unrecorded(hearth_block_memory(blocks[i]), &cache));
    assert_false(hearth_heap_resize_unrecorded(hearth_block_memory(blocks[i]), blocks[i]->size));
  }
  assert_false(hearth_heap_give_unrecorded(local, &cache));
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i)
    drop(blocks[i]);
}

/* A cache takes no more than it may keep. */
static void test_unrecorded_blocks_fill_a_cache(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_block *blocks[100];
  size_t given = 0;

  for (size_t i = 0; i < 100; ++i) {
    blocks[i] = make(40, 1);
    blocks[i]->cpu = 0;
  }
  while (given < 100 && hearth_heap_give_unrecorded(hearth_block_memory(blocks[given]), &cache))
    ++given;
  assert_in_range(given, 32, 99);
  for (; given < 100; ++given)
    drop(blocks[given]);
  hearth_heap_cache_flush(&cache);
}

/* Recorded blocks that begin their chunks take the short way into a cache that has room; all others do not. */
static void test_usual_blocks(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_block *others[] = {make(100, 64), make(100, 4096), make(30000, 1), make(1 << 20, 1)};
  hearth_block *found;
  char local[64];

  for (size_t size = 0; size <= 3000; size += 13) {
    hearth_block *block = make(size, 1);
    char *memory = hearth_block_memory(block);
    block->context = 7;
    memset(memory, 0xa5, size);
    assert_true(hearth_heap_has_fast_path(memory, &cache));
    assert_false(hearth_heap_has_fast_path(memory + 32, &cache));
    if (size > 128)
      assert_false(hearth_heap_has_fast_path(memory + 64, &cache));
    hearth_block_set_state(block, HEARTH_BLOCK_FREE);
    assert_false(hearth_heap_has_fast_path(memory, &cache));
    hearth_heap_give_fast(block, &cache);
    assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_FREED);
    assert_ptr_equal(hearth_heap_take_cached(size, &cache), block);
    hearth_block_publish(block);
    drop(block);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    assert_false(hearth_heap_has_fast_path(hearth_block_memory(others[i]), &cache));
    drop(others[i]);
  }
  assert_false(hearth_heap_has_fast_path(local, &cache));
  hearth_heap_cache_flush(&cache);
}

static void test_usual_blocks_fill_a_cache(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_block *blocks[100];
  size_t given = 0;

  for (size_t i = 0; i < 100; ++i)
    blocks[i] = make(40, 1);
  for (; given < 100 && hearth_heap_has_fast_path(hearth_block_memory(blocks[given]), &cache); ++given) {
    hearth_block_set_state(blocks[given], HEARTH_BLOCK_FREE);
    hearth_heap_give_fast(blocks[given], &cache);
  }
  assert_in_range(given, 32, 99);
  for (; given < 100; ++given)
    drop(blocks[given]);
  hearth_heap_cache_flush(&cache);
}

#define MARK UINT64_C(0x6d61726b)

static void count_marked(hearth_block *block, void *closure) {
  if (block->data_type_id == MARK)
    *(size_t *)closure += block->size;
}

static size_t marked_bytes(void) {
  size_t bytes = 0;

  hearth_heap_lock();
  hearth_heap_each(count_marked, &bytes);
  hearth_heap_unlock();
  return bytes;
}

static void test_enumeration(void **state) {
  (void)state;
  hearth_block *blocks[300];
  size_t expected = 0;

  for (size_t i = 0; i < 300; ++i) {
    blocks[i] = make(i * i, (size_t)1 << i % 13);
    blocks[i]->data_type_id = MARK;
    memset(hearth_block_memory(blocks[i]), 0xa5, blocks[i]->size);
    expected += i * i;
  }
  assert_int_equal(marked_bytes(), expected);
  for (size_t i = 0; i < 300; i += 2) {
    drop(blocks[i]);
    expected -= i * i;
  }
  assert_int_equal(marked_bytes(), expected);
  for (size_t i = 1; i < 300; i += 2)
    drop(blocks[i]);
  assert_int_equal(marked_bytes(), 0);
}

/* No profile of the test itself. */
const char *__memprof_default_options(void) { return "dump_at_exit=0"; }

int main(void) {
  hearth_ensure_heap();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fresh_chunks_ascend),
      cmocka_unit_test(test_pages_come_in_groups),
      cmocka_unit_test(test_every_size_and_alignment),
      cmocka_unit_test(test_capacity_is_not_wasteful),
      cmocka_unit_test(test_chunks_are_reused),
      cmocka_unit_test(test_runs_join),
      cmocka_unit_test(test_wrong_pointers),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_unrecorded_blocks),
      cmocka_unit_test(test_other_blocks_are_not_unrecorded),
      cmocka_unit_test(test_unrecorded_blocks_fill_a_cache),
      cmocka_unit_test(test_usual_blocks),
      cmocka_unit_test(test_usual_blocks_fill_a_cache),
      cmocka_unit_test(test_enumeration),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
