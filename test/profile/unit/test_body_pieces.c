/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranges that nest, overlap and are equal: found as by looking at all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf_reader.h"

#define MOST_RANGES 100u
#define ADDRESSES   120u

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* Is x inside y, or begins behind it? Equal ranges are nested by their bodies' numbers. */
static bool is_inside(const hearth_body_piece *x, const hearth_body_piece *y) {
  if (x->start != y->start)
    return x->start > y->start;
  return x->end != y->end ? x->end < y->end : x->body > y->body;
}

static uint32_t innermost(const hearth_body_piece *ranges, size_t count, uint64_t address) {
  const hearth_body_piece *found = NULL;
  for (size_t i = 0; i < count; ++i)
    if (address >= ranges[i].start && address < ranges[i].end && (!found || is_inside(&ranges[i], found)))
      found = &ranges[i];
  return found ? found->body : HEARTH_NO_BODY;
}

/* few: ranges are short and rarely overlap; in order: as they come, those of most compilers are */
static size_t make_ranges(uint32_t seed, hearth_body_piece *ranges) {
  size_t count = next_random(&seed) % MOST_RANGES;
  bool few = next_random(&seed) % 2, in_order = next_random(&seed) % 2;
  uint64_t start = 0;
  for (size_t i = 0; i < count; ++i) {
    start = in_order ? start + next_random(&seed) % 3 : next_random(&seed) % ADDRESSES;
    ranges[i] = (hearth_body_piece){start, start + 1 + next_random(&seed) % (few ? 2 : 40), (uint32_t)i / 2};
  }
  return count;
}

static void every_address_has_its_innermost_scope(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 3000; ++seed) {
    hearth_body_piece ranges[MOST_RANGES];
    hearth_body_pieces pieces = {0};
    size_t count = make_ranges(seed, ranges);
    for (size_t i = 0; i < count; ++i)
      assert_true(hearth_body_pieces_add(&pieces, ranges[i].start, ranges[i].end, ranges[i].body));
    assert_true(hearth_body_pieces_order(&pieces));
    for (uint64_t address = 0; address < 2 * ADDRESSES; ++address)
      assert_int_equal(hearth_body_pieces_find(&pieces, address), innermost(ranges, count, address));
    hearth_body_pieces_free(&pieces);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_address_has_its_innermost_scope)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
