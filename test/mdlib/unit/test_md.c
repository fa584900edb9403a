/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mdlib: schemas, stacks, values and statistics. */
#include "hearth/ir_facts.h"
#include "md_fixture.h"

static void test_default_schema(void **state) {
  fixture *f = *state;
  hearth_md_schema schema, read;
  hearth_md_schema_default(&schema);
  LLVMMetadataRef node = hearth_md_schema_create(f->md, &schema);
  assert_non_null(node);
  assert_true(hearth_md_schema_read(node, &read));
  assert_int_equal(read.count, schema.count);
  assert_memory_equal(read.tags, schema.tags, schema.count);
  assert_ptr_equal(hearth_md_schema_create(f->md, &read), node);
  assert_int_equal(schema.tags[0], HEARTH_TAG_AllocCount);
  assert_int_equal(schema.tags[schema.count - 1], HEARTH_TAG_Hotness);
  assert_null(hearth_md_get_schema(f->md, 0)); /* not entered before it is used */
}

static void test_schema_names(void **state) {
  (void)state;
  assert_string_equal(hearth_md_field_name(HEARTH_TAG_AveSize), "AveSize");
  assert_int_equal(hearth_md_field_tag("AveSize", 7), HEARTH_TAG_AveSize);
  assert_int_equal(hearth_md_field_tag("AveSize", 3), 0);
  assert_null(hearth_md_field_name(1)); /* StackID is no value */
  assert_null(hearth_md_field_name(HEARTH_TAG_LIMIT));
}

static void test_invalid_schemas(void **state) {
  fixture *f = *state;
  hearth_md_schema twice = {2, {HEARTH_TAG_AllocCount, HEARTH_TAG_AllocCount}}, unknown = {1, {0}};
  hearth_md_schema read;
  LLVMMetadataRef string = LLVMMDStringInContext2(f->context, "x", 1);
  assert_null(hearth_md_schema_create(f->md, &twice));
  assert_null(hearth_md_schema_create(f->md, &unknown));
  assert_false(hearth_md_use_schema(f->md, &twice));
  assert_false(hearth_md_schema_read(NULL, &read));
  assert_false(hearth_md_schema_read(string, &read));
  assert_false(hearth_md_schema_read(LLVMMDNodeInContext2(f->context, &string, 1), &read));
}

static const uint64_t ids[] = {345, 234, 123};

/* Both encodings give the ids back, whatever their number. */
static void test_stacks(void **state) {
  fixture *f = *state;
  for (size_t n = 0; n <= 3; n++) {
    uint64_t read[4] = {0}, id;
    size_t k = 0;
    LLVMMetadataRef chain = hearth_md_stack_create(f->md, ids, n);
    assert_int_equal(hearth_md_stack_read(chain, NULL, 0), n);
    assert_int_equal(hearth_md_stack_read(chain, read, 4), n);
    assert_memory_equal(read, ids, n * sizeof *ids);
    for (hearth_md_cursor c = hearth_md_stack_begin(chain); hearth_md_stack_next(&c, &id); k++)
      assert_int_equal(id, ids[k]);
    assert_int_equal(k, n);
    if (n == 0)
      continue;
    memset(read, 0, sizeof read);
    assert_int_equal(hearth_md_stack_read(hearth_md_stack_create_flat(f->md, ids, n), read, 4), n);
    assert_memory_equal(read, ids, n * sizeof *ids);
  }
}

static void test_equal_tails_are_one_node(void **state) {
  fixture *f = *state;
  const uint64_t other[] = {456, 234, 123}, longer[] = {9, 345, 234, 123};
  hearth_md_mib mibs[3] = {{.stack = ids, .depth = 3, .hotness = HEARTH_CLASS_COLD},
                           {.stack = other, .depth = 3, .hotness = HEARTH_CLASS_HOT},
                           {.stack = longer, .depth = 4, .hotness = HEARTH_CLASS_COLD}};
  hearth_md_attach(f->md, f->call, &(uint64_t){567}, 1, mibs, 3);
  LLVMMetadataRef list = LLVMValueAsMetadata(
      LLVMGetMetadata(f->call, kind(f, hearth_md_is_chained_only(f->md) ? "memprof" : "memprof.mib")));
  unsigned first = hearth_md_is_chained_only(f->md) ? 0 : 1;
  LLVMMetadataRef stacks[3];
  for (unsigned i = 0; i < 3; i++)
    stacks[i] = hearth_ir_operand(hearth_ir_operand(list, first + i), 0);
  assert_ptr_equal(hearth_ir_operand(stacks[0], 1), hearth_ir_operand(stacks[1], 1)); /* 234, 123 */
  assert_ptr_equal(hearth_ir_operand(stacks[2], 1), stacks[0]);
  assert_int_equal(LLVMGetMetadata(f->call, kind(f, "memprof")) != NULL,
                   hearth_ir_flat_mibs_know_hot() || hearth_md_is_chained_only(f->md));
}

/* Chains are made from the last one's tail: an order that shares nothing, some and all of it. */
static void test_stacks_in_any_order(void **state) {
  fixture *f = *state;
  uint64_t stack[5], read[5];
  for (unsigned number = 0; number < 600; number++) {
    size_t n = number * 7 % 6;
    for (size_t i = 0; i < n; i++)
      stack[i] = 1 + (number * 31 >> i) % 2;
    LLVMMetadataRef chain = hearth_md_stack_create(f->md, stack, n);
    assert_int_equal(hearth_md_stack_read(chain, read, 5), n);
    assert_memory_equal(read, stack, n * sizeof *stack);
    assert_ptr_equal(hearth_md_stack_create(f->md, stack, n), chain);
  }
}

static void test_long_stacks_are_cut_at_the_root(void **state) {
  fixture *f = *state;
  size_t n = HEARTH_MD_DEPTH_MAX + 10;
  uint64_t *stack = malloc(n * sizeof *stack), *read = malloc(n * sizeof *read);
  for (size_t i = 0; i < n; i++)
    stack[i] = i + 1;
  assert_int_equal(hearth_md_stack_read(hearth_md_stack_create(f->md, stack, n), read, n), HEARTH_MD_DEPTH_MAX);
  assert_memory_equal(read, stack, HEARTH_MD_DEPTH_MAX * sizeof *stack);
  free(stack);
  free(read);
}

static void test_values(void **state) {
  (void)state;
  hearth_md_mib a = {0};
  uint64_t value;
  assert_false(hearth_md_mib_get(&a, HEARTH_TAG_MinSize, &value));
  assert_false(hearth_md_mib_get(&a, HEARTH_TAG_LIMIT, &value));
  hearth_md_mib_set(&a, HEARTH_TAG_AllocCount, 4);
  assert_true(hearth_md_mib_get(&a, HEARTH_TAG_AllocCount, &value));
  assert_int_equal(value, 4);
}

static void test_instructions_that_are_no_calls(void **state) {
  fixture *f = *state;
  LLVMValueRef ret = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(f->call));
  LLVMMetadataRef node = hearth_md_stack_create(f->md, (const uint64_t[]){1, 2}, 2);
  LLVMSetMetadata(ret, kind(f, "memprof"), LLVMMetadataAsValue(f->context, node));
  assert_int_equal(hearth_md_get_hint(ret, NULL), HEARTH_CLASS_UNKNOWN);
  assert_false(hearth_md_prune(f->md, ret, (const uint64_t[]){1}, 1));
  assert_false(hearth_md_concatenate_callsites(f->md, ret, f->call));
  assert_true(hearth_md_remove(f->md, ret));
}

/* A value that is not recorded is null, not 0. */
static void test_absent_values_stay_absent(void **state) {
  fixture *f = *state;
  hearth_md_mib mib = {.stack = ids, .depth = 3, .hotness = HEARTH_CLASS_COLD};
  hearth_md_mibs read;
  uint64_t value;
  assert_true(hearth_md_use_schema(
      f->md, &(hearth_md_schema){3, {HEARTH_TAG_AllocCount, HEARTH_TAG_MinSize, HEARTH_TAG_Hotness}}));
  hearth_md_mib_set(&mib, HEARTH_TAG_AllocCount, 0);
  hearth_md_attach(f->md, f->call, &(uint64_t){567}, 1, &mib, 1);
  assert_true(hearth_md_get_mibs(f->md, f->call, &read));
  assert_true(hearth_md_mib_get(read.mibs, HEARTH_TAG_AllocCount, &value));
  assert_int_equal(value, 0);
  assert_false(hearth_md_mib_get(read.mibs, HEARTH_TAG_MinSize, &value));
  assert_int_equal(read.mibs[0].hotness, HEARTH_CLASS_COLD);
  hearth_md_mibs_free(&read);
  assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
}

static void test_both_encodings(void **state) {
  fixture *f = *state;
  hearth_md_mib mibs[2] = {{.stack = ids, .depth = 3, .hotness = HEARTH_CLASS_COLD}, {.hotness = HEARTH_CLASS_HOT}};
  bool chained_only = hearth_md_is_chained_only(f->md), flat = hearth_ir_flat_mibs_know_hot();
  hearth_md_attach(f->md, f->call, &(uint64_t){567}, 1, mibs, 2);
  assert_int_equal(LLVMGetMetadata(f->call, kind(f, "memprof.mib")) != NULL, !chained_only);
  assert_int_equal(LLVMGetMetadata(f->call, kind(f, "memprof")) != NULL, flat || chained_only);
  hearth_md_attach(f->md, f->other, &(uint64_t){567}, 1, mibs, 1); /* of one class */
  assert_int_equal(LLVMGetMetadata(f->other, kind(f, "memprof.mib")) != NULL, !chained_only);
  assert_int_equal(LLVMGetMetadata(f->other, kind(f, "memprof")) != NULL, chained_only);
}

/* `call` was in the callee of `other`, and is now in its place. */
static void test_concatenated_callsites(void **state) {
  fixture *f = *state;
  const uint64_t stack_a[] = {345, 1}, stack_b[] = {456, 1};
  hearth_md_mib mibs[2] = {{.stack = stack_a, .depth = 2, .hotness = HEARTH_CLASS_COLD},
                           {.stack = stack_b, .depth = 2, .hotness = HEARTH_CLASS_HOT}};
  uint64_t read[4] = {0};
  hearth_md_attach(f->md, f->call, &(uint64_t){567}, 1, mibs, 2);
  assert_false(hearth_md_concatenate_callsites(f->md, f->call, f->other));
  hearth_md_set_callsite(f->md, f->other, (uint64_t[]){456, 1}, 2);
  assert_true(hearth_md_concatenate_callsites(f->md, f->call, f->other));
  assert_int_equal(hearth_md_get_callsite(f->md, f->call, read, 4), 3);
  assert_int_equal(read[1], 456);
  assert_int_equal(hearth_md_get_hint(f->call, NULL), HEARTH_CLASS_HOT);
  assert_int_equal(hearth_md_verify(f->md, NULL, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MD_TEST(test_default_schema),
      MD_TEST(test_schema_names),
      MD_TEST(test_invalid_schemas),
      MD_TEST(test_stacks),
      MD_TEST(test_equal_tails_are_one_node),
      MD_TEST(test_stacks_in_any_order),
      MD_TEST(test_long_stacks_are_cut_at_the_root),
      MD_TEST(test_values),
      MD_TEST(test_instructions_that_are_no_calls),
      MD_TEST(test_absent_values_stay_absent),
      MD_TEST(test_both_encodings),
      MD_TEST(test_concatenated_callsites),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
