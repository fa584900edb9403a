/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Identities: fixed by the format, so that literal values are tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "file.h"
#include "hearth/ids.h"

static void strips_suffixes_of_copies(void **state) {
  static const struct {
    const char *name, *stripped;
  } rows[] = {
      {"main", "main"},
      {"", ""},
      {"f.llvm.1234567", "f"},
      {"f.part.0", "f"},
      {"f.isra.0.part.1", "f"},
      {"f.constprop.0.cold", "f"},
      {"f.cold.12", "f"},
      {"f.lto_priv.3", "f"},
      {"f.memprof.2", "f"},
      {"f.17", "f"},
      {"f.__uniq.123", "f.__uniq.123"},
      {"f.__uniq.123.llvm.456", "f.__uniq.123"},
      {"f.__uniq.123.5", "f.__uniq.123"},
      {"f.coldish", "f.coldish"},
      {"f.llvm.", "f.llvm."},
      {"f17", "f17"},
      {".17", ".17"},
      {".cold", ".cold"},
      {"17", "17"},
      {"_Z4workv.resume", "_Z4workv"},
      {"_Z4workv.destroy", "_Z4workv"},
      {"_ZN1aC2Ev.other", "_ZN1aC2Ev.other"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    assert_int_equal(hearth_function_name_length(rows[i].name, strlen(rows[i].name)), strlen(rows[i].stripped));
}

static void base_name_is_behind_the_last_separator(void **state) {
  (void)state;
  assert_string_equal(hearth_base_name("a.c"), "a.c");
  assert_string_equal(hearth_base_name("/x/y/a.c"), "a.c");
  assert_string_equal(hearth_base_name("c:\\x\\a.c"), "a.c");
  assert_string_equal(hearth_base_name("x/"), "");
  assert_string_equal(hearth_base_name(""), "");
}

static void function_id_is_of_stripped_name_and_base_name(void **state) {
  (void)state;
  /* one-shot XXH3-64 of "main\0store.c" */
  assert_true(hearth_function_id("main", 4, "src/store.c") == UINT64_C(0x4b1800dac88a8a42));
  assert_true(hearth_function_id("main", 4, "/other/store.c") == hearth_function_id("main", 4, "src/store.c"));
  assert_true(hearth_function_id("main.part.0", 11, "store.c") == hearth_function_id("main", 4, "store.c"));
  assert_true(hearth_function_id("main", 4, "b.c") != hearth_function_id("main", 4, "a.c"));
  assert_true(hearth_function_id("ab", 2, "c") != hearth_function_id("a", 1, "bc"));
}

static void llvm_function_id_is_md5(void **state) {
  static const char many_a[] =
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  (void)state;
  assert_true(hearth_llvm_function_id("main", 4) == UINT64_C(0xdb956436e78dd5fa));
  assert_true(hearth_llvm_function_id("_Z4leafi", 8) == UINT64_C(0xede35059da910bb0));
  /* md5sum of 55, 56, 64 and 130 times "a": the tail's corner cases */
  assert_true(hearth_llvm_function_id(many_a, 55) == UINT64_C(0x22a1f9dfb67217ef));
  assert_true(hearth_llvm_function_id(many_a, 56) == UINT64_C(0xb028f803c78a0c3b));
  assert_true(hearth_llvm_function_id(many_a, 64) == UINT64_C(0x4971b580d4424801));
  assert_true(hearth_llvm_function_id(many_a, 130) == UINT64_C(0xa5aefdc7cce416e0));
}

static void stack_id_is_of_function_line_column(void **state) {
  (void)state;
  /* one-shot XXH3-64 of the 16 bytes */
  assert_true(hearth_stack_id(1, 2, 3) == UINT64_C(0x29942ec15edde20d));
  assert_true(hearth_stack_id(1, 2, 3) != hearth_stack_id(1, 3, 2));
}

static void base_discriminator_drops_factors(void **state) {
  (void)state;
  assert_int_equal(hearth_base_discriminator(0), 0);
  assert_int_equal(hearth_base_discriminator(1), 0); /* base absent */
  for (uint32_t base = 1; base < 4096; base++) {
    /* Base in 5 bits, or 12 with a continuation bit; bit 0 of each part clear. */
    uint32_t encoded = base < 32 ? base << 1 : (base & 0x1f) << 1 | 0x40 | (base & 0xfe0) << 2;
    assert_int_equal(hearth_base_discriminator(encoded), base);
    uint32_t width = base < 32 ? 7 : 14;
    assert_int_equal(hearth_base_discriminator(encoded | UINT32_C(4) << 1 << width), base); /* duplication factor 4 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strips_suffixes_of_copies),
      cmocka_unit_test(base_name_is_behind_the_last_separator),
      cmocka_unit_test(function_id_is_of_stripped_name_and_base_name),
      cmocka_unit_test(llvm_function_id_is_md5),
      cmocka_unit_test(stack_id_is_of_function_line_column),
      cmocka_unit_test(base_discriminator_drops_factors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
