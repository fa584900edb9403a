/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which rows STACKS has for contexts of several modules, and where (docs/formats/indexed.md, "STACKS"). */
#include "profile_fixture.h"

#include "profile_verifier.h"
#include "reader_internal.h"
#include "reseal.h"

/* Its stack: a leaf in the module, line `below` of middle.c, main. */
static void add_context(hearth_builder *builder, const char *module, uint32_t line, uint32_t below, bool inlined) {
  hearth_builder_frame frames[3] = {
      {.line = line, .column = 1, .inlined = inlined}, {.line = below, .column = 2}, {.line = 1, .column = 3}};
  hearth_mib mib = {.AllocCount = 1, .TotalSize = 8};
  hearth_error err;
  expect_ok(hearth_builder_function(builder, module, module, 1, &frames[0].function, &err), &err);
  expect_ok(hearth_builder_function(builder, "middle", "middle.c", 1, &frames[1].function, &err), &err);
  expect_ok(hearth_builder_function(builder, "main", "main.c", 1, &frames[2].function, &err), &err);
  expect_ok(hearth_builder_add(builder, frames, 3, &mib, &err), &err);
}

/* Through line 100 of middle.c come as many contexts of two modules as are copied, through line 200 one more. */
static bytes example(bool backwards) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  uint32_t few = HEARTH_STACK_COPIED, many = HEARTH_STACK_COPIED + 1;
  for (uint32_t n = 0; n < few + many; n++) {
    uint32_t i = backwards ? few + many - 1 - n : n, below = i < few ? 100 : 200;
    add_context(builder, i % 2 ? "a.c" : "b.c", 1000 + i, below, false);
  }
  add_context(builder, "a.c", 1, 300, false);
  add_context(builder, "header.h", 1, 300, true); /* compiled into middle.c */
  add_context(builder, "", 1, 400, false);        /* no module */
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

/* Nodes of a frame of middle.c, by line; first and last row. */
static size_t rows_of(hearth_profile *profile, uint32_t line, uint32_t *ret_first, uint32_t *ret_last) {
  size_t rows = 0;
  hearth_error err;
  for (uint32_t i = 0; i < hearth_profile_stack_count(profile); i++) {
    uint32_t row, parent;
    hearth_frame_info frame;
    expect_ok(hearth_profile_get_stack(profile, i, &row, &parent, &err), &err);
    expect_ok(hearth_profile_get_frame(profile, row, &frame, &err), &err);
    if (frame.line != line)
      continue;
    *ret_first = rows++ ? *ret_first : i;
    *ret_last = i;
  }
  return rows;
}

static uint32_t first_node(hearth_profile *profile, const char *file) {
  for (uint32_t i = 0; i < hearth_profile_path_count(profile); i++) {
    char path[HEARTH_PATH_LIMIT];
    uint32_t node;
    hearth_error err;
    expect_ok(hearth_profile_get_path(profile, i, path, sizeof path, &err), &err);
    expect_ok(hearth_profile_first_node(profile, i, &node, &err), &err);
    if (strcmp(path, file) == 0)
      return node;
  }
  fail_msg("there is no file %s", file);
  return 0;
}

static void nodes_lie_with_their_module(void **state) {
  bytes b = example(false);
  hearth_profile *profile = open_bytes(b);
  hearth_error err;
  uint32_t first, last, a = first_node(profile, "a.c"), middle = first_node(profile, "middle.c");
  (void)state;
  expect_ok(hearth_profile_verify(profile, &err), &err);
  assert_int_equal(rows_of(profile, 1000, &first, &last), 1);
  assert_in_range(first, first_node(profile, "b.c"), first_node(profile, "main.c") - 1);
  assert_int_equal(rows_of(profile, 100, &first, &last), 2); /* copied */
  assert_in_range(first, a, first_node(profile, "b.c") - 1);
  assert_in_range(last, first_node(profile, "b.c"), first_node(profile, "main.c") - 1);
  assert_int_equal(rows_of(profile, 200, &first, &last), 1); /* shared */
  assert_in_range(first, 0, a - 1);
  assert_int_equal(rows_of(profile, 300, &first, &last), 2); /* of a.c and middle.c */
  assert_in_range(last, middle, hearth_profile_stack_count(profile) - 1);
  assert_int_equal(rows_of(profile, 400, &first, &last), 1); /* of no module */
  assert_in_range(first, 0, a - 1);
  hearth_profile_close(profile);
  free(b.data);
}

static void order_of_arrival_does_not_matter(void **state) {
  bytes forwards = example(false), backwards = example(true);
  (void)state;
  expect_equal_bytes(forwards, backwards);
  expect_text_twin(forwards, "");
  free(forwards.data);
  free(backwards.data);
}

/* Copies are read as one stack. */
static void merging_does_not_multiply(void **state) {
  bytes b = example(false);
  hearth_profile *profile = open_bytes(b);
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_error err;
  (void)state;
  expect_ok(hearth_builder_add_profile(builder, profile, &err), &err);
  expect_ok(hearth_builder_add_profile(builder, profile, &err), &err);
  bytes twice = write_bytes(builder);
  hearth_profile *sum = open_bytes(twice);
  assert_int_equal(hearth_profile_context_count(sum), hearth_profile_context_count(profile));
  assert_int_equal(hearth_profile_stack_count(sum), hearth_profile_stack_count(profile));
  hearth_profile_close(sum);
  hearth_profile_close(profile);
  hearth_builder_destroy(builder);
  free(twice.data);
  free(b.data);
}

/* One node more or less in a module: its tops are no longer sorted. */
static void verify_finds_nodes_of_other_modules(void **state) {
  (void)state;
  for (int step = -1; step <= 1; step += 2) {
    bytes b = example(false);
    hearth_error err;
    hearth_indexed_path *paths = section_data(b, HEARTH_SECTION_PATHS);
    paths[1].first_node += (uint32_t)step; /* of b.c */
    reseal(b.data, b.size);
    hearth_profile *profile = open_bytes(b);
    assert_int_equal(hearth_profile_verify(profile, &err), HEARTH_E_CORRUPT);
    hearth_profile_close(profile);
    free(b.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_lie_with_their_module),
      cmocka_unit_test(order_of_arrival_does_not_matter),
      cmocka_unit_test(merging_does_not_multiply),
      cmocka_unit_test(verify_finds_nodes_of_other_modules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
