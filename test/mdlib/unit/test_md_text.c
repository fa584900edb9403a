/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib on modules in text form: contexts without class, schemas of odd shape, values out of range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <llvm-c/IRReader.h>

#include "hearth/md.h"
#include "metadata_verifier.h"

/* Types without pointers: LLVM 14 writes those differently. */
#define ONE_CALL(attachments)                                                                                          \
  "define void @f() {\n  call i64 @malloc(i64 4) " attachments "\n  ret void\n}\ndeclare i64 @malloc(i64)\n"

typedef struct fixture {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMValueRef call;
  hearth_md *md;
} fixture;

static fixture open_text(const char *text) {
  fixture f = {.context = LLVMContextCreate()};
  char *message = NULL;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "text");
  if (LLVMParseIRInContext(f.context, buffer, &f.module, &message))
    fail_msg("%s", message);
  f.call = LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(LLVMGetNamedFunction(f.module, "f")));
  f.md = hearth_md_create(f.module);
  return f;
}

static void close_text(fixture *f) {
  hearth_md_destroy(f->md);
  LLVMDisposeModule(f->module);
  LLVMContextDispose(f->context);
}

static size_t findings(fixture *f) { return hearth_md_verify(f->md, NULL, NULL); }

static bool has(fixture *f, const char *kind) {
  return LLVMGetMetadata(f->call, LLVMGetMDKindIDInContext(f->context, kind, (unsigned)strlen(kind)));
}

static bool is_llvm14(void) {
  fixture f = open_text(ONE_CALL(""));
  bool chained_only = hearth_md_is_chained_only(f.md);
  close_text(&f);
  return chained_only;
}

/* Contexts 9 and 10-9; the schema has no Hotness. */
static const char no_class[] =
    ONE_CALL("\"memprof\"=\"ambiguous\", !callsite !1, !memprof.mib !2") "!memprof.schema = !{!8}\n"
                                                                         "!1 = !{i64 5}\n!2 = !{!8, !3, !4}\n"
                                                                         "!3 = !{!6, i64 7}\n!4 = !{!7, i64 8}\n"
                                                                         "!6 = !{i64 9}\n!7 = !{i64 10, !6}\n"
                                                                         "!8 = !{!\"Stack\", !\"AllocCount\"}\n";

static void test_contexts_without_class_do_not_differ(void **state) {
  (void)state;
  if (is_llvm14())
    skip();
  fixture f = open_text(no_class);
  assert_int_equal(findings(&f), 0);
  assert_true(hearth_md_prune(f.md, f.call, &(uint64_t){5}, 1));
  assert_int_equal(findings(&f), 0);
  assert_false(has(&f, "memprof"));
  close_text(&f);
}

/* LLVM settled cold: a context without class does not contradict it, whether the callsite is known again or not. */
static void test_settled_class_stays_beside_contexts_without(void **state) {
  (void)state;
  if (is_llvm14())
    skip();
  const uint64_t inside[] = {5, 6}, elsewhere[] = {5, 7};
  for (int i = 0; i < 3; i++) {
    fixture f = open_text(ONE_CALL("\"memprof\"=\"cold\", !memprof.mib !2") //
                          "!memprof.schema = !{!8}\n!1 = !{i64 6}\n!2 = !{!8, !3, !4, !5}\n"
                          "!3 = !{!1, null}\n!4 = !{!1, i32 1}\n!5 = !{!1, i32 2}\n"
                          "!8 = !{!\"Stack\", !\"Hotness\"}\n");
    hearth_md_mibs all;
    for (int again = 0; again < 2; again++) {
      assert_true(hearth_md_prune(f.md, f.call, i == 0 ? inside : elsewhere, i == 2 ? 0 : 2));
      assert_int_equal(hearth_md_get_hint(f.call, NULL), HEARTH_CLASS_COLD);
      assert_int_equal(findings(&f), 0);
      assert_false(has(&f, "memprof")); /* that would call the one without class notcold */
      assert_true(hearth_md_get_mibs(f.md, f.call, &all));
      assert_int_equal(all.count, 2);
      hearth_md_mibs_free(&all);
    }
    close_text(&f);
  }
}

/* The classes that are known are all cold: the attribute may say so, or that not all are known. */
static void test_hint_beside_contexts_without_class(void **state) {
  (void)state;
  static const char *const hints[] = {"ambiguous", "cold", "notcold", "hot"};
  for (size_t i = 0; i < 4; i++) {
    char text[512];
    snprintf(text, sizeof text,
             ONE_CALL("\"memprof\"=\"%s\", !callsite !1, %s !2") //
             "!memprof.schema = !{!8}\n!1 = !{i64 5}\n!2 = !{%s!3, !4}\n!3 = !{!1, null}\n!4 = !{!1, i32 1}\n"
             "!8 = !{!\"Stack\", !\"Hotness\"}\n",
             hints[i], is_llvm14() ? "!memprof" : "!memprof.mib", is_llvm14() ? "" : "!8, ");
    fixture f = open_text(text);
    assert_int_equal(findings(&f), i < 2 ? 0 : 1);
    close_text(&f);
  }
}

static void count_hotness(const hearth_md_finding *finding, void *data) {
  *(size_t *)data += finding->rule == HEARTH_MD_RULE_HOTNESS;
}

static void test_class_out_of_range_beside_a_hint(void **state) {
  (void)state;
  fixture f = open_text(is_llvm14() ? ONE_CALL("\"memprof\"=\"cold\", !callsite !1, !memprof !2") //
                            "!memprof.schema = !{!8}\n!1 = !{i64 5}\n!2 = !{!3}\n!3 = !{!1, i32 77}\n"
                            "!8 = !{!\"Stack\", !\"Hotness\"}\n"
                                    : ONE_CALL("\"memprof\"=\"cold\", !callsite !1, !memprof.mib !2") //
                            "!memprof.schema = !{!8}\n!1 = !{i64 5}\n!2 = !{!8, !3}\n!3 = !{!1, i32 77}\n"
                            "!8 = !{!\"Stack\", !\"Hotness\"}\n");
  size_t hotness = 0;
  assert_int_equal(hearth_md_verify(f.md, count_hotness, &hotness), 1);
  assert_int_equal(hotness, 1);
  close_text(&f);
}

static void test_unify_counts_malformed_schemas(void **state) {
  (void)state;
  fixture f = open_text(ONE_CALL("") "!memprof.schema = !{!1, !2, !3}\n!1 = !{!\"Stack\", !\"Hotness\"}\n"
                                     "!2 = !{}\n!3 = !{!\"Stack\", i64 1}\n");
  bool changed = true;
  assert_int_equal(hearth_md_unify(f.md, &changed), 2);
  assert_false(changed);
  assert_non_null(hearth_md_get_schema(f.md, 2));
  close_text(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contexts_without_class_do_not_differ),
      cmocka_unit_test(test_settled_class_stays_beside_contexts_without),
      cmocka_unit_test(test_hint_beside_contexts_without_class),
      cmocka_unit_test(test_class_out_of_range_beside_a_hint),
      cmocka_unit_test(test_unify_counts_malformed_schemas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
