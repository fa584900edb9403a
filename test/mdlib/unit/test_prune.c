/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib: what is attached is read back, and pruning keeps exactly what is still possible. */
#include "hearth/ir_facts.h"
#include "md_fixture.h"

static const uint64_t stack_a[] = {345, 234, 123}, stack_b[] = {456, 234, 123}, stack_c[] = {456, 678};

/* Three contexts of the allocation 567; `count` of them, with these classes. */
static void attach(fixture *f, size_t count, hearth_class a, hearth_class b, hearth_class c) {
  hearth_md_mib mibs[3] = {{.stack = stack_a, .depth = 3, .hotness = a},
                           {.stack = stack_b, .depth = 3, .hotness = b},
                           {.stack = stack_c, .depth = 2, .hotness = c}};
  for (size_t i = 0; i < 3; i++)
    hearth_md_mib_set(&mibs[i], HEARTH_TAG_AllocCount, 10 + i);
  uint64_t own = 567;
  hearth_md_attach(f->md, f->call, &own, 1, mibs, count);
}

static void check_counts(fixture *f, size_t n, ...) {
  hearth_md_mibs mibs;
  va_list expected;
  assert_int_equal(hearth_md_get_mibs(f->md, f->call, &mibs), n > 0);
  assert_int_equal(mibs.count, n);
  va_start(expected, n);
  for (size_t i = 0; i < n; i++)
    assert_int_equal(mibs.mibs[i].values[HEARTH_TAG_AllocCount], va_arg(expected, int));
  va_end(expected);
  hearth_md_mibs_free(&mibs);
}

static void test_round_trip(void **state) {
  fixture *f = *state;
  hearth_md_mibs mibs;
  bool ambiguous;
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  assert_true(hearth_md_get_mibs(f->md, f->call, &mibs));
  assert_int_equal(mibs.count, 3);
  assert_int_equal(mibs.mibs[0].depth, 3);
  assert_memory_equal(mibs.mibs[0].stack, stack_a, sizeof stack_a);
  assert_int_equal(mibs.mibs[2].depth, 2);
  assert_memory_equal(mibs.mibs[2].stack, stack_c, sizeof stack_c);
  assert_int_equal(mibs.mibs[2].hotness, HEARTH_CLASS_HOT);
  hearth_md_mibs_free(&mibs);
  assert_int_equal(hearth_md_get_hint(f->call, &ambiguous), HEARTH_CLASS_UNKNOWN);
  assert_true(ambiguous);
  uint64_t id = 0;
  assert_int_equal(hearth_md_get_callsite(f->md, f->call, &id, 1), 1);
  assert_int_equal(id, 567);
}

static void test_one_class_is_a_plain_hint(void **state) {
  fixture *f = *state;
  bool ambiguous;
  attach(f, 2, HEARTH_CLASS_COLD, HEARTH_CLASS_COLD, HEARTH_CLASS_UNKNOWN);
  assert_int_equal(hearth_md_get_hint(f->call, &ambiguous), HEARTH_CLASS_COLD);
  assert_false(ambiguous);
  if (!hearth_md_is_chained_only(f->md))
    assert_null(LLVMGetMetadata(f->call, kind(f, "memprof")));
}

/* Two pools and a cold context: of one pool only where pruning leaves one. */
static void test_pools(void **state) {
  fixture *f = *state;
  hearth_md_schema schema;
  hearth_md_mibs mibs;
  const hearth_placement zero = HEARTH_PLACEMENT_POOL, last = HEARTH_PLACEMENTS - 1;
  const hearth_md_mib all[] = {{.stack = stack_a, .depth = 3, .hotness = HEARTH_CLASS_HOT, .pool = zero},
                               {.stack = stack_b, .depth = 3, .hotness = HEARTH_CLASS_HOT, .pool = last},
                               {.stack = stack_c, .depth = 2, .hotness = HEARTH_CLASS_COLD}};
  const uint64_t own = 567, at_a[] = {567, 345}, at_b_and_c[] = {567, 456}, at_c[] = {567, 456, 678};
  hearth_md_schema_default(&schema);
  schema.tags[schema.count++] = HEARTH_TAG_Pool;
  assert_true(hearth_md_use_schema(f->md, &schema));

  hearth_md_attach(f->md, f->call, &own, 1, all, 3);
  assert_int_equal(hearth_md_get_pool(f->call), HEARTH_MD_POOL_AMBIGUOUS);
  assert_true(hearth_md_get_mibs(f->md, f->call, &mibs));
  assert_int_equal(mibs.mibs[0].pool, zero);
  assert_int_equal(mibs.mibs[1].pool, last);
  assert_int_equal(mibs.mibs[2].pool, 0);
  hearth_md_mibs_free(&mibs);
  assert_true(hearth_md_prune(f->md, f->call, at_b_and_c, 2));
  assert_int_equal(hearth_md_get_pool(f->call), last);
  assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
  assert_true(hearth_md_prune(f->md, f->call, at_c, 3));
  assert_int_equal(hearth_md_get_pool(f->call), 0);

  hearth_md_attach(f->md, f->call, &own, 1, all, 3);
  assert_true(hearth_md_prune(f->md, f->call, at_a, 2));
  assert_int_equal(hearth_md_get_pool(f->call), zero);
  hearth_md_resolve(f->md, f->call, HEARTH_CLASS_HOT);
  assert_int_equal(hearth_md_get_pool(f->call), zero);
  assert_true(hearth_md_remove(f->md, f->call));
  assert_int_equal(hearth_md_get_pool(f->call), 0);

  hearth_md_attach(f->md, f->call, &own, 1, all, 2); /* two pools of one class */
  assert_int_equal(hearth_md_get_hint(f->call, NULL), HEARTH_CLASS_HOT);
  assert_int_equal(hearth_md_get_pool(f->call), HEARTH_MD_POOL_AMBIGUOUS);
  assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
  hearth_md_attach(f->md, f->call, &own, 1, all, 3);
  LLVMSetMetadata(f->call, kind(f, "memprof.mib"),
                  NULL); /* the flat form, if there is one, does not tell pools apart */
  if (!hearth_ir_flat_mibs_know_hot())
    return;
  assert_true(hearth_md_prune(f->md, f->call, at_b_and_c, 2));
  assert_int_equal(hearth_md_get_pool(f->call), HEARTH_MD_POOL_AMBIGUOUS);
}

/* Contexts that only the chained form tells apart, by class or pool, are one in the flat list. */
static void test_flat_list_has_a_context_once(void **state) {
  fixture *f = *state;
  hearth_md_schema schema;
  const uint64_t own = 567;
  const hearth_placement pool = HEARTH_PLACEMENT_POOL;
  const hearth_md_mib all[] = {{.stack = stack_a, .depth = 3},
                               {.stack = stack_b, .depth = 3, .hotness = HEARTH_CLASS_COLD},
                               {.stack = stack_a, .depth = 3, .hotness = HEARTH_CLASS_NOTCOLD},
                               {.stack = stack_a, .depth = 3, .hotness = HEARTH_CLASS_NOTCOLD, .pool = pool}};
  hearth_md_schema_default(&schema);
  schema.tags[schema.count++] = HEARTH_TAG_Pool;
  assert_true(hearth_md_use_schema(f->md, &schema));
  for (size_t first = 0; first < 2; first++) { /* without class beside notcold; one pool beside none */
    hearth_md_attach(f->md, f->call, &own, 1, all + first, 3);
    assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
    if (!hearth_md_is_chained_only(f->md))
      LLVMSetMetadata(f->call, kind(f, "memprof"), NULL);
    LLVMSetMetadata(f->call, kind(f, "callsite"), NULL);
    assert_true(hearth_md_prune(f->md, f->call, &own, 1));
    assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
    hearth_md_mibs mibs;
    assert_true(hearth_md_get_mibs(f->md, f->call, &mibs));
    assert_int_equal(mibs.count, 3); /* the chained form keeps them */
    hearth_md_mibs_free(&mibs);
    if (!hearth_ir_flat_mibs_know_hot())
      continue;
    LLVMSetMetadata(f->call, kind(f, "memprof.mib"), NULL);
    assert_true(hearth_md_get_mibs(f->md, f->call, &mibs));
    assert_int_equal(mibs.count, 2);
    hearth_md_mibs_free(&mibs);
  }
}

static void test_prune_keeps_what_agrees(void **state) {
  fixture *f = *state;
  const uint64_t one[] = {567, 456}, two[] = {567, 456, 234}, deeper[] = {567, 456, 678, 999, 998};
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  assert_true(hearth_md_prune(f->md, f->call, one, 2));
  check_counts(f, 2, 11, 12);
  assert_true(hearth_md_prune(f->md, f->call, two, 3));
  check_counts(f, 1, 11);
  assert_int_equal(hearth_md_get_hint(f->call, NULL), HEARTH_CLASS_NOTCOLD);
  /* A callsite longer than the stack: only the common prefix decides. */
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  assert_true(hearth_md_prune(f->md, f->call, deeper, 5));
  check_counts(f, 1, 12);
}

static void test_prune_is_idempotent(void **state) {
  fixture *f = *state;
  const uint64_t ids[] = {567, 456};
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  hearth_md_prune(f->md, f->call, ids, 2);
  char *once = LLVMPrintModuleToString(f->module);
  hearth_md_prune(f->md, f->call, ids, 2);
  char *twice = LLVMPrintModuleToString(f->module);
  assert_string_equal(once, twice);
  LLVMDisposeMessage(once);
  LLVMDisposeMessage(twice);
}

static void test_unknown_frame_agrees_with_any(void **state) {
  fixture *f = *state;
  const uint64_t ids[] = {567, 0, 234};
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  hearth_md_prune(f->md, f->call, ids, 3);
  check_counts(f, 2, 10, 11);
}

static void test_nothing_possible_removes_everything(void **state) {
  fixture *f = *state;
  const uint64_t ids[] = {567, 1};
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  assert_true(hearth_md_prune(f->md, f->call, ids, 2));
  check_counts(f, 0);
  assert_null(LLVMGetMetadata(f->call, kind(f, "callsite")));
  assert_null(LLVMGetMetadata(f->call, kind(f, "memprof")));
  assert_false(hearth_md_remove(f->md, f->call));
}

/* Whatever stands where our metadata is expected, reading it says "nothing there". */
static void test_garbage_is_not_there(void **state) {
  fixture *f = *state;
  hearth_md_mibs mibs;
  uint64_t id;
  unsigned list_kind = kind(f, hearth_md_is_chained_only(f->md) ? "memprof" : "memprof.mib");
  LLVMMetadataRef string = LLVMMDStringInContext2(f->context, "x", 1);
  LLVMMetadataRef empty = LLVMMDNodeInContext2(f->context, NULL, 0);
  LLVMMetadataRef null = NULL, nulls = LLVMMDNodeInContext2(f->context, &null, 1);
  LLVMMetadataRef strings = LLVMMDNodeInContext2(f->context, &string, 1);
  LLVMMetadataRef nested[2] = {strings, nulls};
  LLVMMetadataRef garbage[] = {empty, nulls, strings, LLVMMDNodeInContext2(f->context, nested, 2)};
  for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
    LLVMSetMetadata(f->call, list_kind, LLVMMetadataAsValue(f->context, garbage[i]));
    LLVMSetMetadata(f->call, kind(f, "callsite"), LLVMMetadataAsValue(f->context, garbage[i]));
    assert_false(hearth_md_get_mibs(f->md, f->call, &mibs));
    assert_int_equal(hearth_md_get_callsite(f->md, f->call, &id, 1), 0);
    assert_false(hearth_md_prune(f->md, f->call, &(uint64_t){567}, 1));
  }
}

/* In the RFC's own convention, which LLVM 14 alone has, an allocation call has neither attribute nor `!callsite`. */
static void test_own_id_may_be_lacking(void **state) {
  fixture *f = *state;
  const uint64_t outer[] = {456, 234};
  uint64_t ids[3];
  if (!hearth_md_is_chained_only(f->md))
    skip();
  attach(f, 3, HEARTH_CLASS_COLD, HEARTH_CLASS_NOTCOLD, HEARTH_CLASS_HOT);
  LLVMRemoveCallSiteStringAttribute(f->call, LLVMAttributeFunctionIndex, "memprof", strlen("memprof"));
  LLVMSetMetadata(f->call, kind(f, "callsite"), NULL);
  assert_int_equal(hearth_md_get_callsite(f->md, f->call, NULL, 0), 1);
  hearth_md_set_callsite(f->md, f->other, outer, 2);
  assert_true(hearth_md_concatenate_callsites(f->md, f->call, f->other));
  check_counts(f, 1, 11);
  assert_int_equal(hearth_md_get_callsite(f->md, f->call, ids, 3), 3);
  assert_int_equal(ids[0], 0);
  assert_memory_equal(ids + 1, outer, sizeof outer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MD_TEST(test_round_trip),
      MD_TEST(test_one_class_is_a_plain_hint),
      MD_TEST(test_pools),
      MD_TEST(test_flat_list_has_a_context_once),
      MD_TEST(test_prune_keeps_what_agrees),
      MD_TEST(test_prune_is_idempotent),
      MD_TEST(test_unknown_frame_agrees_with_any),
      MD_TEST(test_nothing_possible_removes_everything),
      MD_TEST(test_garbage_is_not_there),
      MD_TEST(test_own_id_may_be_lacking),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
