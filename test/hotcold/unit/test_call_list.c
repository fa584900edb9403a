/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of library calls as the adapter reads them: what is in them; what is wrong with others; every truncation and flipped
 * byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "call_list.h"
#include "code_symbols.h"

#define HEAD "hearth-library-calls 1\nplan 5d68a202922fe6d5\n"

static const char sample[] = HEAD "# a comment\n"
                                  "g_malloc 9 0=0 1=254 9=128\n"
                                  "\n"
                                  "_Znwm 0 0=7 # another\r\n"
                                  "nothing ffffffffffffffff\n"
                                  "last 8000000000000000 8000000000000000=255";

/* In memory of exactly the size, so that sanitizers see what is read or written beyond it. */
typedef struct parsed {
  char *text;
  struct hearth_call_list list;
  struct hearth_call_list_error error;
  bool good;
} parsed;

static parsed parse(const char *bytes, size_t size) {
  parsed p = {.text = malloc(size ? size : 1)};
  uint32_t functions, hints;
  memcpy(p.text, bytes, size);
  hearth_call_list_measure(p.text, size, &functions, &hints);
  p.list.functions = malloc(functions * sizeof *p.list.functions);
  p.list.hints = malloc(hints ? hints * sizeof *p.list.hints : 1);
  p.good = hearth_call_list_parse(p.text, size, &p.list, &p.error);
  assert_true(p.list.function_count <= functions && p.list.hint_count <= hints);
  return p;
}

static void release(parsed *p) {
  free(p->text);
  free(p->list.functions);
  free(p->list.hints);
}

static void expect_hint(const parsed *p, uint32_t function, uint64_t bits, int expected) {
  uint8_t hint = 0;
  bool found = hearth_call_function_hint(&p->list.functions[function], bits, &hint);
  assert_int_equal(found ? hint : -1, expected);
}

static void lists_are_read(void **state) {
  parsed p = parse(sample, sizeof sample - 1);
  (void)state;
  assert_true(p.good);
  assert_int_equal(p.list.plan, 0x5d68a202922fe6d5);
  assert_int_equal(p.list.function_count, 4);
  assert_int_equal(p.list.hint_count, 5);
  const struct hearth_call_function *first = p.list.functions;
  assert_true(first->name_bytes == 8 && memcmp(first->name, "g_malloc", 8) == 0);
  assert_int_equal(first->name_hash, hearth_code_name_hash("g_malloc", 8));
  expect_hint(&p, 0, 0, 0);
  expect_hint(&p, 0, 1, 254);
  expect_hint(&p, 0, 3, 254); /* it does not heed the second bit */
  expect_hint(&p, 0, 8, -1);
  expect_hint(&p, 0, 9, 128);
  expect_hint(&p, 1, UINT64_MAX, 7);
  expect_hint(&p, 2, 0, -1);
  expect_hint(&p, 3, 0, -1);
  expect_hint(&p, 3, UINT64_MAX, 255);
  release(&p);
}

static void what_is_wrong_is_said(void **state) {
  static const struct {
    const char *text, *what;
    unsigned line;
  } cases[] = {
      {"", "no list of library calls", 1},
      {"hearth-library-calls 2\nplan 1\n", "no list of library calls", 1},
      {"hearth-library-calls 1", "names no plan", 0},
      {"hearth-library-calls 1\n# plan 1\n", "names no plan", 0},
      {"hearth-library-calls 1\nplan 0\n", "expected 'plan' and its id", 2},
      {"hearth-library-calls 1\nplan 1 2\n", "expected 'plan' and its id", 2},
      {"hearth-library-calls 1\nf 1 1=1\n", "expected 'plan' and its id", 2},
      {HEAD "f\n", "expected a mask", 3},
      {HEAD "f 1A\n", "expected a mask", 3},
      {HEAD "f 11111111111111111\n", "expected a mask", 3},
      {HEAD "\nf 1 1\n", "expected BITS=HINT", 4},
      {HEAD "f 1 =1\n", "expected BITS=HINT", 3},
      {HEAD "f 1 1=\n", "expected BITS=HINT", 3},
      {HEAD "f 1 1=256\n", "expected BITS=HINT", 3},
      {HEAD "f 1 1=0x1\n", "expected BITS=HINT", 3},
      {HEAD "f 1 2=1\n", "bits are to ascend", 3},
      {HEAD "f 1 1=1 0=1\n", "bits are to ascend", 3},
      {HEAD "f 1 1=1 1=1\n", "bits are to ascend", 3},
      {HEAD "\x80 1\n", "printable", 3},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    parsed p = parse(cases[i].text, strlen(cases[i].text));
    if (p.good || !strstr(p.error.what, cases[i].what) || p.error.line != cases[i].line)
      fail_msg("case %zu: %u: %s", i, p.error.line, p.good ? "taken for good" : p.error.what);
    release(&p);
  }
}

static void damaged_lists_do_no_harm(void **state) {
  (void)state;
  for (size_t size = 0; size < sizeof sample - 1; size++) {
    parsed p = parse(sample, size);
    assert_true(p.good || p.error.what);
    release(&p);
  }
  for (size_t at = 0; at < sizeof sample - 1; at++)
    for (int bit = 0; bit < 8; bit++) {
      char damaged[sizeof sample];
      memcpy(damaged, sample, sizeof sample);
      damaged[at] = (char)(damaged[at] ^ 1 << bit);
      parsed p = parse(damaged, sizeof sample - 1);
      assert_true(p.good || p.error.what);
      for (uint32_t i = 0; p.good && i < p.list.function_count; i++) {
        uint8_t hint;
        hearth_call_function_hint(&p.list.functions[i], UINT64_MAX, &hint);
      }
      release(&p);
    }
}

/* Of a function that libc exports, and one that it does not. */
static void code_is_known_by_name(void **state) {
  struct hearth_code_module module;
  uintptr_t address = (uintptr_t)&qsort + 1;
  (void)state;
  assert_true(hearth_code_is_known());
  assert_true(hearth_code_module_find(address, &module));
  assert_true(hearth_code_module_names(&module, "qsort", 5, hearth_code_name_hash("qsort", 5), address));
  assert_false(hearth_code_module_names(&module, "bsearch", 7, hearth_code_name_hash("bsearch", 7), address));
  assert_false(hearth_code_module_names(&module, "no_such_function", 16, hearth_code_name_hash("no_such_function", 16),
                                        address));
  assert_false(hearth_code_module_find((uintptr_t)&module, &module)); /* the stack */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_read),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(damaged_lists_do_no_harm),
      cmocka_unit_test(code_is_known_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
