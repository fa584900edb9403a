/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Entries below a floor are merged into their callers, and sums stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hearth/heap_dumps.h"

/* main <- a <- b, main <- c; and another root. */
enum { MAIN, A, B, C, THREAD, NODES };
static hearth_heap_node nodes[NODES] = {[MAIN] = {.parent = HEARTH_NONE},
                                        [A] = {.parent = MAIN},
                                        [B] = {.parent = A},
                                        [C] = {.parent = MAIN},
                                        [THREAD] = {.parent = HEARTH_NONE}};
static const hearth_heap_dumps dumps = {.nodes = nodes, .node_count = NODES};

enum { UNKNOWN = HEARTH_HEAP_UNKNOWN_TYPE, MALLOC = HEARTH_HEAP_MALLOC, TYPE = 2, POOL = 3 };

typedef struct row {
  uint32_t node, type, heap;
  uint64_t blocks, bytes;
} row;

static void expect(const row *given, size_t given_count, uint64_t floor, const row *expected, size_t expected_count) {
  hearth_heap_entry entries[8], *merged;
  hearth_error err;
  size_t count;
  for (size_t i = 0; i < given_count; ++i)
    entries[i] = (hearth_heap_entry){.node = given[i].node,
                                     .type = given[i].type,
                                     .heap = given[i].heap,
                                     .blocks = given[i].blocks,
                                     .bytes = given[i].bytes,
                                     .residency = {given[i].bytes, 0, given[i].blocks}};
  hearth_heap_dump dump = {.entries = entries, .entry_count = given_count};
  assert_int_equal(hearth_heap_merge_small(&dumps, &dump, floor, &merged, &count, &err), HEARTH_OK);
  assert_int_equal(count, expected_count);
  for (size_t i = 0; i < count; ++i) {
    assert_int_equal(merged[i].node, expected[i].node);
    assert_int_equal(merged[i].type, expected[i].type);
    assert_int_equal(merged[i].heap, expected[i].heap);
    assert_int_equal(merged[i].blocks, expected[i].blocks);
    assert_int_equal(merged[i].bytes, expected[i].bytes);
    assert_int_equal(merged[i].residency[HEARTH_RAW_RESIDENT], expected[i].bytes);
    assert_int_equal(merged[i].residency[HEARTH_RAW_UNWRITTEN], expected[i].blocks);
  }
  hearth_heap_dump result = {.entries = merged, .entry_count = count};
  assert_int_equal(hearth_heap_total(&result).bytes, hearth_heap_total(&dump).bytes);
  assert_int_equal(hearth_heap_total(&result).blocks, hearth_heap_total(&dump).blocks);
  free(merged);
}

#define ROWS(...) (const row[]){__VA_ARGS__}, sizeof((const row[]){__VA_ARGS__}) / sizeof(row)

static void test_no_floor(void **state) {
  (void)state;
  expect(ROWS({B, UNKNOWN, MALLOC, 1, 10}, {MAIN, UNKNOWN, MALLOC, 2, 0}), 0,
         ROWS({MAIN, UNKNOWN, MALLOC, 2, 0}, {B, UNKNOWN, MALLOC, 1, 10}));
  expect(NULL, 0, 100, NULL, 0);
}

/* Two that are too small are one in the caller they share; what has enough stays where it is. */
static void test_callers(void **state) {
  (void)state;
  expect(ROWS({B, UNKNOWN, MALLOC, 1, 60}, {C, UNKNOWN, MALLOC, 2, 50}, {A, UNKNOWN, MALLOC, 1, 100}), 100,
         ROWS({MAIN, UNKNOWN, MALLOC, 2, 50}, {A, UNKNOWN, MALLOC, 2, 160}));
  /* They are enough together: the caller's caller gets nothing. */
  expect(ROWS({B, UNKNOWN, MALLOC, 1, 60}, {A, UNKNOWN, MALLOC, 1, 50}), 100, ROWS({A, UNKNOWN, MALLOC, 2, 110}));
}

/* Nothing is added to another type or heap. */
static void test_apart(void **state) {
  (void)state;
  expect(ROWS({B, TYPE, MALLOC, 1, 60}, {B, UNKNOWN, MALLOC, 1, 60}, {B, UNKNOWN, POOL, 1, 60}), 100,
         ROWS({MAIN, UNKNOWN, MALLOC, 1, 60}, {MAIN, TYPE, MALLOC, 1, 60}, {MAIN, UNKNOWN, POOL, 1, 60}));
}

/* Roots, and what has no stack, stay below the floor; the latter come first. */
static void test_roots(void **state) {
  (void)state;
  expect(ROWS({THREAD, UNKNOWN, MALLOC, 1, 1}, {MAIN, UNKNOWN, MALLOC, 1, 1}, {HEARTH_NONE, UNKNOWN, MALLOC, 3, 3}),
         100,
         ROWS({HEARTH_NONE, UNKNOWN, MALLOC, 3, 3}, {MAIN, UNKNOWN, MALLOC, 1, 1}, {THREAD, UNKNOWN, MALLOC, 1, 1}));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_floor), cmocka_unit_test(test_callers),
                                     cmocka_unit_test(test_apart), cmocka_unit_test(test_roots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
