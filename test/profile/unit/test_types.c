/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types of allocations: the table in programs, and names in indexed profiles. */
#include "profile_fixture.h"
#include "reseal.h"

#include "hearth/ids.h"
#include "hearth/program_tables.h"
#include "index.h"
#include "profile_verifier.h"

/* -------------------------------------------------- in programs -------------------------------------------------- */

typedef struct table {
  uint8_t bytes[512];
  size_t size;
} table;

static void append(table *t, uint64_t function, uint32_t line, uint32_t column, const char *name) {
  hearth_type_record record = {function, line, column, (uint32_t)strlen(name), 0};
  memcpy(t->bytes + t->size, &record, sizeof record);
  memcpy(t->bytes + t->size + sizeof record, name, record.name_size);
  t->size += sizeof record + ((record.name_size + 7) & ~7u);
}

/* Several calls at one place: of one type, and of two. */
static table example(void) {
  table t = {.size = 0};
  append(&t, 9, 2, 1, "later");
  append(&t, 7, 2, 1, "ns::Node");
  append(&t, 7, 2, 1, "ns::Node");
  append(&t, 7, 3, 1, "one");
  append(&t, 7, 3, 1, "other");
  append(&t, 7, 3, 1, "one");
  return t;
}

static void expect_type(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column,
                        const char *name) {
  hearth_bytes found = hearth_types_find(types, function, line, column);
  assert_int_equal(found.size, strlen(name));
  assert_int_equal(memcmp(found.data ? found.data : (const uint8_t *)"", name, found.size), 0);
}

static void places_have_types(void **state) {
  table t = example();
  hearth_types types;
  hearth_error err;
  (void)state;
  expect_ok(hearth_types_read((hearth_bytes){t.bytes, t.size}, "program", &types, &err), &err);
  memset(t.bytes, 0, sizeof t.bytes); /* they are copied */
  expect_type(&types, 7, 2, 1, "ns::Node");
  expect_type(&types, 9, 2, 1, "later");
  expect_type(&types, 7, 3, 1, "");
  expect_type(&types, 7, 2, 2, "");
  hearth_types_free(&types);
  expect_ok(hearth_types_read((hearth_bytes){NULL, 0}, "program", &types, &err), &err);
  expect_type(&types, 7, 2, 1, "");
  hearth_types_free(&types);
}

static void expect_error(const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size); /* of the exact size, so that a sanitizer sees reads behind its end */
  hearth_types types;
  hearth_error err;
  memcpy(copy, bytes, size);
  assert_int_equal(hearth_types_read((hearth_bytes){copy, size}, "program", &types, &err), HEARTH_E_CORRUPT);
  assert_non_null(strstr(err.message, "program: section hearth_types, offset "));
  hearth_types_free(&types);
  free(copy);
}

static void damaged_tables_are_refused(void **state) {
  static const struct {
    size_t at;
    uint8_t value;
  } damage[] = {{16, 0}, {16, 255}, {19, 255}, {20, 1}, {24, 0}}; /* name_size, reserved, a NUL in the name */
  table t = {.size = 0};
  (void)state;
  append(&t, 7, 2, 1, "ns::Node");
  for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
    table damaged = t;
    damaged.bytes[damage[i].at] = damage[i].value;
    expect_error(damaged.bytes, damaged.size);
  }
  for (size_t size = 1; size < t.size; size++)
    expect_error(t.bytes, size);
}

/* -------------------------------------------------- in profiles -------------------------------------------------- */

#define HEAD "hearth-profile-text 1\nrun duration_ns=8\n"

static char *profile_with(const char *types, uint64_t id) {
  static char text[1024];
  snprintf(text, sizeof text, HEAD "%scontext\n  frame f a.c 1 1 1 0\n  AllocCount 1\n  DataTypeId %llu\n", types,
           (unsigned long long)id);
  return text;
}

static uint64_t id_of(const char *name) { return hearth_type_id(name, strlen(name)); }

static void expect_name(bytes b, uint64_t expected_id, const char *expected) {
  hearth_profile *profile = open_bytes(b);
  const char *name;
  hearth_mib mib;
  hearth_error err;
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
  assert_true(mib.DataTypeId == expected_id);
  expect_ok(hearth_profile_type_name(profile, mib.DataTypeId, &name, &err), &err);
  assert_string_equal(name, expected);
  hearth_profile_close(profile);
}

static void names_are_found_by_id(void **state) {
  const char *types = "type int\ntype \"std::pair<int, long>\"\ntype ns::Node\n";
  (void)state;
  bytes b = bytes_from_text(profile_with(types, id_of("std::pair<int, long>")));
  bytes again = bytes_from_text(profile_with("type \"std::pair<int, long>\"\n", id_of("std::pair<int, long>")));
  expect_name(b, id_of("std::pair<int, long>"), "std::pair<int, long>");
  expect_equal_bytes(b, again); /* names that no context needs are not stored */
  expect_text_twin(b, "\ntype \"std::pair<int, long>\"\n");
  free(again.data);
  free(b.data);
}

static bytes merged(const char *first, uint64_t first_id, const char *second, uint64_t second_id) {
  bytes parts[2];
  parts[0] = bytes_from_text(profile_with(first, first_id)); /* before the second is made in the same place */
  parts[1] = bytes_from_text(profile_with(second, second_id));
  bytes result = merge_bytes(parts, 2);
  free(parts[0].data);
  free(parts[1].data);
  return result;
}

static void merging_keeps_what_is_known(void **state) {
  uint64_t a = id_of("a"), b = id_of("b");
  (void)state;
  bytes same = merged("type a\n", a, "type a\n", a), unknown = merged("", 0, "type a\n", a);
  bytes mixed = merged("type a\n", a, "type b\n", b), other_way = merged("type b\n", b, "type a\n", a);
  expect_name(same, a, "a");
  expect_name(unknown, a, "a");
  expect_name(mixed, HEARTH_MIB_MIXED, "");
  expect_equal_bytes(mixed, other_way);
  free(same.data);
  free(unknown.data);
  free(mixed.data);
  free(other_way.data);
}

static void damaged_profiles_are_refused(void **state) {
  bytes b = bytes_from_text(profile_with("type ns::Node\n", id_of("ns::Node")));
  hearth_indexed_header *header = b.data;
  unsigned errors = 0;
  (void)state;
  assert_int_equal(header->section_count, HEARTH_SECTION_CHECKSUMS + 1);
  for (size_t at = 0; at < b.size; at++) {
    uint8_t *damaged = malloc(b.size);
    hearth_profile *profile;
    const char *name;
    hearth_error err;
    memcpy(damaged, b.data, b.size);
    damaged[at] ^= 0x11;
    reseal(damaged, b.size);
    if (hearth_profile_open_memory(damaged, b.size, "memory", &profile, &err) == HEARTH_OK) {
      if (hearth_profile_type_name(profile, id_of("ns::Node"), &name, &err) != HEARTH_OK)
        errors++;
      else
        assert_true(strlen(name) <= b.size);
      hearth_profile_close(profile);
    }
    free(damaged);
  }
  assert_true(errors > 0);
  free(b.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_have_types),
      cmocka_unit_test(damaged_tables_are_refused),
      cmocka_unit_test(names_are_found_by_id),
      cmocka_unit_test(merging_keeps_what_is_known),
      cmocka_unit_test(damaged_profiles_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
