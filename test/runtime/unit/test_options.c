/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options of the runtime: settings strings as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime_options.h"

#include <string.h>

static hearth_runtime_options options;

static int set_up(void **state) {
  (void)state;
  hearth_runtime_options_begin(&options);
  return 0;
}

static void apply(const char *string) { hearth_runtime_options_apply(&options, string, "test"); }

static void test_defaults(void **state) {
  (void)state;
  assert_string_equal(options.log_path, "memprof.profraw.%e.%p.%u");
  assert_int_equal(options.format, HEARTH_FORMAT_HEARTH);
  assert_int_equal(options.stack_depth, 64);
  assert_int_equal(options.dump_at_exit, 1);
  apply(NULL);
  apply("");
  apply("::");
  assert_int_equal(options.stack_depth, 64);
}

static void test_settings(void **state) {
  (void)state;
  apply("log_path=/tmp/x:format=llvm:stack_depth=0:dump_at_exit=0");
  assert_string_equal(options.log_path, "/tmp/x");
  assert_int_equal(options.format, HEARTH_FORMAT_LLVM);
  assert_int_equal(options.stack_depth, 0);
  assert_int_equal(options.dump_at_exit, 0);
  apply("stack_depth=3:stack_depth=4"); /* the last one wins; others stay */
  assert_int_equal(options.stack_depth, 4);
  assert_int_equal(options.format, HEARTH_FORMAT_LLVM);
}

static void test_seconds(void **state) {
  (void)state;
  apply("dump_interval=3");
  assert_int_equal(options.dump_interval, 3000);
  apply("dump_interval=0.4");
  assert_int_equal(options.dump_interval, 400);
  apply("dump_interval=4000000.000");
  assert_int_equal(options.dump_interval, 4000000000);
  static const char *const bad[] = {"dump_interval=1.",          "dump_interval=.5",  "dump_interval=1.2345",
                                    "dump_interval=4000000.001", "dump_interval=1,5", "dump_interval=1.-5"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    apply(bad[i]);
  assert_int_equal(options.dump_interval, 4000000000);
}

static void test_quotes(void **state) {
  (void)state;
  apply("log_path='/a:b=c':stack_depth=7");
  assert_string_equal(options.log_path, "/a:b=c");
  assert_int_equal(options.stack_depth, 7);
  apply("log_path=\"d:e\"");
  assert_string_equal(options.log_path, "d:e");
  apply("log_path='open"); /* no end: an ordinary character */
  assert_string_equal(options.log_path, "'open");
}

static void test_bad_values_change_nothing(void **state) {
  (void)state;
  static char long_path[HEARTH_OPTION_TEXT_SIZE + 20];

  apply("stack_depth=256:stack_depth=-1:stack_depth=:stack_depth=1x:stack_depth=99999999999999999999:stack_depth");
  assert_int_equal(options.stack_depth, 64);
  apply("format=llv:format=llvmx:format=:format=hearth|llvm");
  assert_int_equal(options.format, HEARTH_FORMAT_HEARTH);
  memcpy(long_path, "log_path=", 9);
  memset(long_path + 9, 'x', HEARTH_OPTION_TEXT_SIZE);
  apply(long_path);
  apply("log_path=");
  assert_string_equal(options.log_path, "memprof.profraw.%e.%p.%u");
}

static void test_unknown_keys_are_skipped(void **state) {
  (void)state;
  apply("stack_dept=1:=:x=':stack_depth=9:stack_depthx=3");
  assert_int_equal(options.stack_depth, 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_defaults, set_up),
      cmocka_unit_test_setup(test_settings, set_up),
      cmocka_unit_test_setup(test_seconds, set_up),
      cmocka_unit_test_setup(test_quotes, set_up),
      cmocka_unit_test_setup(test_bad_values_change_nothing, set_up),
      cmocka_unit_test_setup(test_unknown_keys_are_skipped, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
