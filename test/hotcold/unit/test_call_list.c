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
                                  "last 8000000000000000 8000000000000000=255\n"
                                  "@0123ab # a module\n"
                                  "+10 0\n"
                                  "+1f - 20=223 a0=0\n"
                                  "@ff\n"
                                  "+10 224 20=225";

/* In memory of exactly the size, so that sanitizers see what is read or written beyond it. */
typedef struct parsed {
  char *text;
  struct hearth_call_list list;
  struct hearth_call_list_error error;
  bool good;
} parsed;

static parsed parse(const char *bytes, size_t size) {
  parsed p = {.text = malloc(size ? size : 1)};
  uint32_t lines, hints;
  memcpy(p.text, bytes, size);
  hearth_call_list_measure(p.text, size, &lines, &hints);
  p.list.functions = malloc(lines * sizeof *p.list.functions);
  p.list.modules = malloc(lines * sizeof *p.list.modules);
  p.list.sites = malloc(lines * sizeof *p.list.sites);
  p.list.hints = malloc(hints ? hints * sizeof *p.list.hints : 1);
  p.good = hearth_call_list_parse(p.text, size, &p.list, &p.error);
  assert_true(p.list.function_count + p.list.module_count + p.list.site_count <= lines && p.list.hint_count <= hints);
  return p;
}

static void release(parsed *p) {
  free(p->text);
  free(p->list.functions);
  free(p->list.modules);
  free(p->list.sites);
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
  assert_int_equal(p.list.hint_count, 8);
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

static void expect_site(const parsed *p, const char *build_id, uint32_t size, uint64_t offset, uint32_t height,
                        int expected) {
  const struct hearth_call_site *site = hearth_call_site_find(&p->list, (const uint8_t *)build_id, size, offset);
  uint8_t hint = 0;
  bool found = site && hearth_call_site_hint(site, height, &hint);
  assert_int_equal(found ? hint : -1, expected);
}

static void return_addresses_are_found(void **state) {
  parsed p = parse(sample, sizeof sample - 1);
  (void)state;
  assert_true(p.good);
  assert_int_equal(p.list.module_count, 2);
  assert_int_equal(p.list.site_count, 3);
  expect_site(&p, "\x01\x23\xab", 3, 0x10, 0x20, 0);
  expect_site(&p, "\x01\x23\xab", 3, 0x1f, 0x20, 223);
  expect_site(&p, "\x01\x23\xab", 3, 0x1f, 0xa0, 0);
  expect_site(&p, "\x01\x23\xab", 3, 0x1f, 0x21, -1);
  expect_site(&p, "\x01\x23\xab", 3, 0x1f, 0, -1); /* of a thread, say */
  expect_site(&p, "\x01\x23\xab", 3, 0x11, 0x20, -1);
  expect_site(&p, "\x01\x23", 2, 0x10, 0, -1);
  expect_site(&p, "\xff", 1, 0x10, 0x20, 225);
  expect_site(&p, "\xff", 1, 0x10, 0x30, 224);
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
      {HEAD "+10 0\n", "before the first return address", 3},
      {HEAD "@\n", "expected @ and a build id", 3},
      {HEAD "@123\n", "expected @ and a build id", 3},
      {HEAD "@12 3\n", "expected @ and a build id", 3},
      {HEAD "@0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01\n", "expected @ and a build id", 3},
      {HEAD "@12\n+ 0\n", "expected +OFFSET", 4},
      {HEAD "@12\n+2 0\n+2 0\n", "expected +OFFSET", 5},
      {HEAD "@12\n+2\n", "expected a hint", 4},
      {HEAD "@12\n+2 256\n", "expected a hint", 4},
      {HEAD "@12\n+2 - 100000000=1\n", "bits are to ascend", 4},
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
  assert_true(module.build_id && module.build_id_size > 0);
  assert_int_equal(hearth_code_module_offset(&module, address + 3) - hearth_code_module_offset(&module, address), 3);
  assert_false(hearth_code_module_find((uintptr_t)&module, &module)); /* the stack */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_read),        cmocka_unit_test(return_addresses_are_found),
      cmocka_unit_test(what_is_wrong_is_said), cmocka_unit_test(damaged_lists_do_no_harm),
      cmocka_unit_test(code_is_known_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
