/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search for holes, against one that looks at each quantum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "block_map.h"

enum { WORDS = 24, QUANTA = WORDS * HEARTH_WORD_QUANTA };

static struct hearth_block_words words[WORDS + 1];
static uint64_t state = 1;

static size_t random_below(size_t bound) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (size_t)(state >> 33) % bound;
}

static bool is_used(size_t quantum) {
  return atomic_load(&words[quantum / HEARTH_WORD_QUANTA].used) >> quantum % HEARTH_WORD_QUANTA & 1;
}

/* Blocks and holes by turns, of up to so many quanta. */
static void fill(size_t block_most, size_t hole_most) {
  memset(words, 0, sizeof words);
  for (size_t at = random_below(hole_most + 1), quanta; at < QUANTA; at += quanta + random_below(hole_most + 1)) {
    quanta = 1 + random_below(block_most);
    quanta = quanta < QUANTA - at ? quanta : QUANTA - at;
    hearth_block_map_use(at, quanta);
  }
}

/* The first hole of `least` that begins in [from, to), as seen from `from` on; or the longest. */
static bool find_slowly(size_t from, size_t to, size_t least, size_t *ret_quantum, size_t *ret_quanta) {
  size_t longest = 0;
  for (size_t at = from, quanta; at < to; at += quanta ? quanta : 1) {
    for (quanta = 0; at + quanta < QUANTA && !is_used(at + quanta);)
      quanta++;
    longest = quanta > longest ? quanta : longest;
    *ret_quantum = at;
    *ret_quanta = quanta;
    if (quanta >= least)
      return true;
  }
  *ret_quanta = longest;
  return false;
}

static void test_finds_the_first_hole_that_is_large_enough(void **unused) {
  static const size_t mosts[] = {1, 3, 20, 64, 200, 600};
  size_t found = 0, in_vain = 0;
  (void)unused;
  for (int i = 0; i < 60000; i++) {
    if (i % 20 == 0)
      fill(mosts[random_below(6)], mosts[random_below(6)]);
    size_t from = random_below(QUANTA), least = 1 + random_below(i % 2 ? 20 : 300), hole = 0, quanta = 0, expected = 0,
           most = 0;
    size_t to = from + random_below(QUANTA - from);
    to = i % 3 ? to : (to + HEARTH_WORD_QUANTA - 1) / HEARTH_WORD_QUANTA * HEARTH_WORD_QUANTA;
    bool is_there = find_slowly(from, to, least, &expected, &most);
    assert_int_equal(hearth_block_map_find(from, to, QUANTA, least, &hole, &quanta), is_there);
    if (is_there)
      assert_int_equal(hole, expected);
    if (is_there)
      assert_int_equal(quanta, most);
    else
      assert_true(quanta >= most && quanta < least);
    found += is_there;
    in_vain += !is_there;
  }
  assert_true(found > 10000 && in_vain > 10000);
}

/* Else the same tile would be searched again and again for smaller and smaller blocks. */
static void test_tells_how_large_holes_are(void **unused) {
  size_t hole, quanta;
  (void)unused;
  memset(words, 0, sizeof words);
  for (size_t at = 0; at < QUANTA; at += 8)
    hearth_block_map_use(at, 5);
  assert_false(hearth_block_map_find(0, QUANTA, QUANTA, 40, &hole, &quanta));
  assert_in_range(quanta, 3, 2 * 3);
  memset(words, 0, sizeof words);
  for (size_t at = 0; at < QUANTA; at += 256)
    hearth_block_map_use(at, 256 - 100);
  assert_false(hearth_block_map_find(0, QUANTA, QUANTA, 200, &hole, &quanta));
  assert_int_equal(quanta, 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_finds_the_first_hole_that_is_large_enough),
      cmocka_unit_test(test_tells_how_large_holes_are),
  };
  hearth_block_map = words;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
