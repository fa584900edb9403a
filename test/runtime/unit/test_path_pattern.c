/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Patterns in names of files: each letter, what is none, and names that are to be taken as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dump.h"

#include <string.h>

static const hearth_pattern_words words = {"app", "77", "0a1b", "node1", "123456"};

static const char *expand(const char *pattern) {
  static char buffer[64];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);

  hearth_pattern_add(&text, pattern, &words);
  return text.cut ? "cut" : buffer;
}

static void test_letters(void **state) {
  (void)state;
  assert_string_equal(expand("%e.%p"), "app.77");
  assert_string_equal(expand("/%h/%m/%e%e"), "/node1/0a1b/appapp");
  assert_string_equal(expand("%p-%u"), "77-123456");
  assert_string_equal(expand("100%%%p%%p"), "100%77%p");
  assert_string_equal(expand("%x%"), "%x%");
  assert_string_equal(expand(""), "");
  assert_string_equal(expand("%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e%e"), "cut");
}

static void test_has(void **state) {
  (void)state;
  assert_true(hearth_pattern_has("a%ep%p", 'p'));
  assert_false(hearth_pattern_has("a%e%%p", 'p'));
  assert_false(hearth_pattern_has("p%", 'p'));
}

static void test_literal(void **state) {
  (void)state;
  char buffer[64];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);

  hearth_pattern_add_literal(&text, "/100%early/%p%");
  assert_string_equal(expand(buffer), "/100%early/%p%");
}

static void test_process(void **state) {
  (void)state;
  hearth_pattern_words own = hearth_pattern_words_of_process();

  assert_string_equal(own.program, "test_path_pattern");
  assert_true(strlen(own.build) >= 16 && strspn(own.build, "0123456789abcdef") == strlen(own.build));
  assert_true(own.host[0] && !strchr(own.host, '/'));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_letters), cmocka_unit_test(test_has),
                                     cmocka_unit_test(test_literal), cmocka_unit_test(test_process)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
