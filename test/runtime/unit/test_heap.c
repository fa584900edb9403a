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

static hearth_header *make_in(uint32_t context, size_t size, size_t alignment) {
  bool zeroed;
  hearth_header *block = hearth_heap_take(size, alignment, 0, NULL, &zeroed);

  assert_non_null(block);
  hearth_header_publish(block, hearth_header_life(context, 0, 0));
  return block;
}

static hearth_header *make(size_t size, size_t alignment) { return make_in(HEARTH_NO_CONTEXT, size, alignment); }

static void drop(hearth_header *block) {
  hearth_block claimed;
  hearth_chunk chunk;

  assert_int_equal(hearth_heap_claim(hearth_header_memory(block), &claimed, &chunk), HEARTH_POINTER_LIVE);
  assert_ptr_equal(claimed.header, block);
  hearth_header_set_state(block, HEARTH_BLOCK_FREE);
  assert_true(hearth_heap_give(chunk, NULL));
}

static size_t size_of(hearth_header *block) {
  hearth_block found;

  hearth_heap_find(hearth_header_memory(block), &found);
  return found.size;
}

/* Of the sizes that the block can have, the greatest. */
static size_t capacity_of(hearth_header *block) {
  size_t size = size_of(block), most = size;

  for (size_t other = size; other <= 2 * size + 1000; ++other)
    if (hearth_heap_can_resize(block, other))
      most = other;
  return most;
}

/* Of a size that nothing was allocated of before: programs that walk what they made go through memory upwards. */
static void test_fresh_chunks_ascend(void **state) {
  enum { CHUNK = 832, BATCH = 9 };
  static hearth_heap_cache cache;
  hearth_header *blocks[BATCH];
  bool zeroed;

  (void)state;
  for (size_t i = 0; i < BATCH; ++i) {
    blocks[i] = hearth_heap_take(CHUNK - sizeof(hearth_header), 1, 0, &cache, &zeroed);
    assert_ptr_equal(blocks[i], (char *)blocks[0] + i * CHUNK);
  }
  for (size_t i = 0; i < BATCH; ++i) {
    hearth_header_publish(blocks[i], hearth_header_life(HEARTH_NO_CONTEXT, 0, 0));
    drop(blocks[i]);
  }
  hearth_heap_cache_flush(&cache);
}

static size_t resident_pages(void *page, size_t count) {
  unsigned char there[16] = {0};
  size_t pages = 0;

  assert_in_range(count, 1, sizeof there);
  assert_int_equal(mincore(page, count * HEARTH_PAGE_BYTES, there), 0);
  for (size_t i = 0; i < count; ++i)
    pages += there[i] & 1;
  return pages;
}

static void ignore(const hearth_block *block, void *closure) {
  (void)block;
  (void)closure;
}

static void enumerate_all(void) {
  hearth_heap_lock();
  hearth_heap_each(ignore, NULL);
  hearth_heap_get_usage();
  hearth_heap_unlock();
}

/* One chunk in a page: the pages of a class's first span come one by one, later ones in groups of 16. Enumeration touches none
 * behind. */
static void test_pages_come_in_groups(void **state) {
  enum { SPAN = 64, GROUP = 16 };
  hearth_header *blocks[SPAN + GROUP];
  char *probe = hearth_system_map(HEARTH_PAGE_BYTES);
  size_t count = 0;

  (void)state;
  hearth_system_populate(probe, HEARTH_PAGE_BYTES);
  if (resident_pages(probe, 1) == 0)
    skip(); /* the system cannot do it */
  do {
    assert_in_range(count, 0, SPAN + GROUP - 1);
    blocks[count++] = make(HEARTH_PAGE_BYTES - 2 * sizeof(hearth_header), 1);
  } while (count <= SPAN || (uintptr_t)blocks[count - 1] % HEARTH_SLICE != sizeof(hearth_header));
  char *last = (char *)(blocks[count - 1] - 1);
  assert_int_equal(resident_pages(last, GROUP), GROUP);
  enumerate_all();
  assert_int_equal(resident_pages(last + GROUP * HEARTH_PAGE_BYTES, GROUP), 0);
  while (count > 0)
    drop(blocks[--count]);
}

/* The last chunk of a span ends a word behind it, or short of it. */
static void test_spans_fill(void **state) {
  enum { BLOCKS = 3 * 4 * HEARTH_SLICE / HEARTH_PAGE_BYTES };
  static const size_t sizes[] = {HEARTH_PAGE_BYTES - 2 * sizeof(hearth_header), HEARTH_PAGE_BYTES / 2, 3000};
  static hearth_header *blocks[BLOCKS];

  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    for (size_t k = 0; k < BLOCKS; ++k) {
      blocks[k] = make(sizes[i], 1);
      memset(hearth_header_memory(blocks[k]), (int)k, sizes[i]);
    }
    for (size_t k = 0; k < BLOCKS; ++k) {
      assert_int_equal(*(unsigned char *)hearth_header_memory(blocks[k]), (unsigned char)k);
      assert_int_equal(((unsigned char *)hearth_header_memory(blocks[k]))[sizes[i] - 1], (unsigned char)k);
      drop(blocks[k]);
    }
  }
}

static void test_every_size_and_alignment(void **state) {
  (void)state;
  for (size_t alignment = 1; alignment <= (size_t)1 << 18; alignment *= 2)
    for (size_t size = 0; size < 200000; size += size / 7 + 1) {
      hearth_header *block = make(size, alignment);
      hearth_block found;
      char *memory = hearth_header_memory(block);
      assert_int_equal((uintptr_t)memory % (alignment > 16 ? alignment : 16), 0);
      assert_int_equal(size_of(block), size);
      memset(memory, 0xa9, size); /* looks like headers of live blocks */
      assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_LIVE);
      assert_ptr_equal(found.header, block);
      assert_int_equal(found.size, size);
      drop(block);
    }
}

static void test_capacity_is_not_wasteful(void **state) {
  (void)state;
  for (size_t size = 24; size < 32000; size += 31) {
    hearth_header *block = make(size, 1);
    assert_true(capacity_of(block) <= (size < 1000 ? size + 15 : size + 16 + size / 4));
    drop(block);
  }
}

static void test_chunks_are_reused(void **state) {
  (void)state;
  hearth_header *first = make(999, 1);

  drop(first);
  assert_ptr_equal(make(1000, 1), first);
  drop(first);
  first = make(10 << 20, 1);
  memset(hearth_header_memory(first), 1, 10 << 20);
  drop(first);
  bool zeroed;
  hearth_header *again = hearth_heap_take(10 << 20, 1, 0, NULL, &zeroed);
  assert_true(zeroed);
  for (size_t i = 0; i < (size_t)10 << 20; i += 512)
    assert_int_equal(((char *)hearth_header_memory(again))[i], 0);
  hearth_header_publish(again, hearth_header_life(HEARTH_NO_CONTEXT, 0, 0));
  drop(again);
}

/* Runs that are given back side by side join, in any order. They are larger than all that other tests leave behind. */
static void test_runs_join(void **state) {
  (void)state;
  static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const size_t step = (size_t)1 << 30, header = 2 * sizeof(hearth_header);

  for (size_t i = 0; i < sizeof orders / sizeof orders[0]; ++i) {
    hearth_header *blocks[3] = {make(step - header, 1), make(2 * step - header, 1), make(3 * step - header, 1)};
    for (int k = 0; k < 3; ++k)
      drop(blocks[orders[i][k]]);
    hearth_header *joined = make(6 * step - header, 1);
    /* What was free before them may have joined too. */
    assert_true(joined <= blocks[0] && (char *)blocks[0] < (char *)joined + 6 * step);
    drop(joined);
  }
}

static void test_wrong_pointers(void **state) {
  (void)state;
  hearth_header *small = make(100, 1), *aligned = make(100, 4096), *large = make(1 << 20, 1);
  hearth_block found;
  char local = 0;
  char *memory = hearth_header_memory(small);

  assert_int_equal(hearth_heap_find(&local, &found), HEARTH_POINTER_FOREIGN);
  assert_int_equal(hearth_heap_find((void *)1, &found), HEARTH_POINTER_FOREIGN);
  assert_int_equal(hearth_heap_find((void *)UINTPTR_MAX, &found), HEARTH_POINTER_FOREIGN);
  for (int i = 1; i < 64; ++i)
    assert_int_equal(hearth_heap_find(memory + i, &found), HEARTH_POINTER_BAD);
  assert_int_equal(hearth_heap_find((char *)hearth_header_memory(large) + (200 << 10), &found), HEARTH_POINTER_BAD);
  drop(small);
  drop(aligned);
  drop(large);
  assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_FREED);
  assert_int_equal(hearth_heap_find(hearth_header_memory(aligned), &found), HEARTH_POINTER_FREED);
  assert_int_equal(hearth_heap_find(hearth_header_memory(large), &found), HEARTH_POINTER_BAD);
}

static void test_too_large(void **state) {
  (void)state;
  bool zeroed;

  assert_null(hearth_heap_take(SIZE_MAX, 1, 0, NULL, &zeroed));
  assert_null(hearth_heap_take(SIZE_MAX - 40, 64, 0, NULL, &zeroed));
  assert_null(hearth_heap_take((size_t)1 << 46, 1, 0, NULL, &zeroed));
  assert_null(hearth_heap_take(1, (size_t)1 << 63, 0, NULL, &zeroed));
}

/* Blocks that begin their chunks take the short way into a cache that has room; all other pointers do not. */
static void test_usual_blocks(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_header *others[] = {make(100, 64), make(100, 4096), make(30000, 1), make(1 << 20, 1)};
  hearth_block found;
  char local[64];

  for (size_t size = 0; size <= 3000; size += 13) {
    hearth_header *block = make_in(7, size, 1);
    char *memory = hearth_header_memory(block);
    memset(memory, 0xa9, size);
    unsigned class = hearth_heap_find_fast(memory, &cache, &found);
    assert_int_not_equal(class, HEARTH_NO_CLASS);
    assert_ptr_equal(found.header, block);
    assert_int_equal(found.size, size);
    assert_int_equal(found.context, 7);
    for (size_t i = 1; i < size; ++i)
      assert_int_equal(hearth_heap_find_fast(memory + i, &cache, &found), HEARTH_NO_CLASS);
    hearth_header_set_state(block, HEARTH_BLOCK_FREE);
    assert_int_equal(hearth_heap_find_fast(memory, &cache, &found), HEARTH_NO_CLASS);
    hearth_heap_give_fast(block, class, &cache);
    assert_int_equal(hearth_heap_find(memory, &found), HEARTH_POINTER_FREED);
    assert_ptr_equal(hearth_heap_take_cached(size, &cache), block);
    hearth_header_publish(block, hearth_header_life(7, 0, 0));
    drop(block);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
    assert_int_equal(hearth_heap_find_fast(hearth_header_memory(others[i]), &cache, &found), HEARTH_NO_CLASS);
    drop(others[i]);
  }
  assert_int_equal(hearth_heap_find_fast(local, &cache, &found), HEARTH_NO_CLASS);
  hearth_heap_cache_flush(&cache);
}

static void test_usual_blocks_fill_a_cache(void **state) {
  (void)state;
  static hearth_heap_cache cache;
  hearth_header *blocks[100];
  hearth_block found;
  size_t given = 0;
  unsigned class;

  for (size_t i = 0; i < 100; ++i)
    blocks[i] = make(40, 1);
  for (; given < 100; ++given) {
    class = hearth_heap_find_fast(hearth_header_memory(blocks[given]), &cache, &found);
    if (class == HEARTH_NO_CLASS)
      break;
    hearth_header_set_state(blocks[given], HEARTH_BLOCK_FREE);
    hearth_heap_give_fast(blocks[given], class, &cache);
  }
  assert_in_range(given, 32, 99);
  for (; given < 100; ++given)
    drop(blocks[given]);
  hearth_heap_cache_flush(&cache);
}

/* A block keeps its place as long as its chunk suits, and then has the new size. */
static void test_resize(void **state) {
  (void)state;
  for (size_t alignment = 1; alignment <= 256; alignment *= 256)
    for (size_t size = 0; size <= 4000; size += 13) {
      hearth_header *block = make(size, alignment), *next = make(size, alignment);
      size_t capacity = capacity_of(block);
      assert_true(capacity >= size);
      assert_false(hearth_heap_resize(block, capacity + 1));
      assert_int_equal(size_of(block), size);
      assert_true(hearth_heap_resize(block, capacity));
      assert_int_equal(size_of(block), capacity);
      memset(hearth_header_memory(block), 0xff, capacity);
      assert_int_equal(size_of(next), size);
      drop(block);
      drop(next);
    }
}

/* Headers keep a time but for less than a step and a part of it, and never tell a later one. */
static void test_times(void **state) {
  (void)state;
  static const struct {
    uint32_t contexts, cpus;
  } layouts[] = {{1000, 1}, {1000001, 4}, {1000001, 300}, {100000001, 8192}};

  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    hearth_header_begin(layouts[i].contexts, layouts[i].cpus);
    unsigned bits = hearth_headers.time_bits;
    hearth_header words[2] = {0}, *header = words + 1;
    uint64_t before = 0;
    for (uint64_t ns = 0; ns < UINT64_C(1) << 45; ns += ns / 3 + 1) {
      uint32_t context = layouts[i].contexts - 1, cpu = layouts[i].cpus - 1;
      hearth_header_publish(header, hearth_header_life(context, cpu, ns));
      hearth_block block = hearth_header_read(header, 100);
      assert_int_equal(block.context, context);
      assert_int_equal(block.cpu, cpu);
      uint64_t time = block.alloc_ns & ~HEARTH_CLOCK_KNOWN;
      assert_int_equal(hearth_header_round_time(ns & ~HEARTH_CLOCK_SAMPLE), block.alloc_ns);
      assert_int_equal(block.alloc_ns & HEARTH_CLOCK_KNOWN, ns & HEARTH_CLOCK_KNOWN);
      assert_true(time <= ns && ns - time <= (ns >> bits) + HEARTH_CLOCK_STEP - 1);
      assert_true(time >= before);
      before = time;
    }
    hearth_header_publish(header, hearth_header_life(HEARTH_NO_CONTEXT, 0, 0));
    assert_int_equal(hearth_header_read(header, 100).context, HEARTH_NO_CONTEXT);
  }
}

#define MARK 54321u

static void count_marked(const hearth_block *block, void *closure) {
  if (block->context == MARK)
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
  hearth_header *blocks[300];
  size_t expected = 0;

  for (size_t i = 0; i < 300; ++i) {
    blocks[i] = make_in(MARK, i * i, (size_t)1 << i % 13);
    memset(hearth_header_memory(blocks[i]), 0xa9, i * i);
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

/* Chunks that are free serve other sizes, but for few spans of each size. All live blocks are seen, whichever span is new. */
static void test_free_spans_go_back(void **state) {
  enum { COUNT = 3000, SIZES = 12, KEPT = 7 };
  static hearth_header *blocks[COUNT], *kept[SIZES];
  size_t expected = 0;
  char *unused;

  (void)state;
  size_t most = hearth_spans_extent(&unused) + (size_t)COUNT * 6200 + 2 * SIZES * 4 * HEARTH_SLICE;
  for (size_t i = 0; i < SIZES; ++i) {
    for (size_t k = 0; k < COUNT; ++k)
      blocks[k] = make_in(MARK, 100 + 500 * i, k % 9 ? 1 : 64);
    for (size_t k = 0; k < COUNT; ++k)
      if (k != KEPT)
        drop(blocks[k]);
    kept[i] = blocks[KEPT];
    assert_true(hearth_spans_extent(&unused) <= most);
    expected += 100 + 500 * i;
    assert_int_equal(marked_bytes(), expected);
  }
  for (size_t i = 0; i < SIZES; ++i)
    drop(kept[i]);
}

/* Also of a block behind the first place of its chunk, and of one of many pages. */
static void test_blocks_are_seen_by_their_bytes(void **state) {
  const struct {
    size_t size, alignment;
  } cases[] = {{100, 16}, {100, 256}, {100000, 16}};
  hearth_seen_block seen;
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    hearth_header *block = make(cases[i].size, cases[i].alignment);
    char *memory = hearth_header_memory(block), *middle = memory + cases[i].size / 2;
    assert_true(hearth_heap_see_byte(middle, &seen));
    assert_true(seen.is_live && seen.begin <= middle && middle < seen.end);
    assert_true(seen.begin >= memory && seen.end <= memory + cases[i].size);
    assert_true((size_t)(seen.end - seen.begin) <= HEARTH_PAGE_BYTES);
    assert_true(hearth_heap_see_byte(memory + cases[i].size - 1, &seen));
    assert_ptr_equal(seen.end, memory + cases[i].size);
    assert_false(hearth_heap_see_byte(memory + cases[i].size, &seen));
    drop(block);
    assert_false(hearth_heap_see_byte(middle, &seen) && seen.is_live);
  }
  assert_false(hearth_heap_see_byte((const char *)&seen, &seen)); /* not of the heap */
}

/* No profile of the test itself. */
const char *__memprof_default_options(void) { return "dump_at_exit=0"; }

int main(void) {
  hearth_ensure_heap();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fresh_chunks_ascend),
      cmocka_unit_test(test_pages_come_in_groups),
      cmocka_unit_test(test_spans_fill),
      cmocka_unit_test(test_every_size_and_alignment),
      cmocka_unit_test(test_capacity_is_not_wasteful),
      cmocka_unit_test(test_chunks_are_reused),
      cmocka_unit_test(test_runs_join),
      cmocka_unit_test(test_wrong_pointers),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_usual_blocks),
      cmocka_unit_test(test_usual_blocks_fill_a_cache),
      cmocka_unit_test(test_resize),
      cmocka_unit_test(test_blocks_are_seen_by_their_bytes),
      cmocka_unit_test(test_enumeration),
      cmocka_unit_test(test_free_spans_go_back),
      cmocka_unit_test(test_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
