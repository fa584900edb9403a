/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Option structs of callers that were built with other releases' headers: smaller ones, and larger ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hearth/indexer.h"
#include "hearth/plan.h"
#include "hearth/status.h"
#include "hearth/view.h"
#include "make_plan.h"

/* -------------------------------------------------- the copy ------------------------------------------------ */

typedef struct options {
  size_t size;
  int first, second;
} options;

typedef struct newer_options {
  options known;
  int third;
} newer_options;

static options taken(const void *from) {
  options known = {.second = 99};
  hearth_error err;
  assert_int_equal(hearth_options_take(&known, sizeof known, from, &err), HEARTH_OK);
  assert_int_equal(known.size, sizeof known);
  return known;
}

static void none_are_defaults(void **state) {
  options known = {.first = 7, .second = 8};
  (void)state;
  assert_int_equal(hearth_options_take(&known, sizeof known, NULL, NULL), HEARTH_OK);
  assert_int_equal(known.first, 0);
  assert_int_equal(known.second, 0);
}

static void size_may_be_left_zero(void **state) {
  (void)state;
  options known = taken(&(options){.first = 1, .second = 2});
  assert_int_equal(known.first, 1);
  assert_int_equal(known.second, 2);
  assert_int_equal(taken(&(options){.size = sizeof(options), .second = 3}).second, 3);
}

/* What the caller's struct lacks is 0, whatever lies behind it. */
static void smaller_struct_is_copied_as_far_as_it_reaches(void **state) {
  (void)state;
  options known = taken(&(options){.size = offsetof(options, second), .first = 4, .second = 5});
  assert_int_equal(known.first, 4);
  assert_int_equal(known.second, 0);
}

static void larger_struct_must_not_set_what_is_not_known(void **state) {
  newer_options newer = {.known = {.size = sizeof newer, .first = 6}};
  options known;
  hearth_error err;
  (void)state;
  assert_int_equal(taken(&newer).first, 6);
  newer.third = 1;
  assert_int_equal(hearth_options_take(&known, sizeof known, &newer, &err), HEARTH_E_USAGE);
  assert_non_null(strstr(err.message, "newer library"));
}

static void size_smaller_than_itself_is_an_error(void **state) {
  options known;
  hearth_error err;
  (void)state;
  assert_int_equal(hearth_options_take(&known, sizeof known, &(options){.size = 3}, &err), HEARTH_E_USAGE);
}

/* -------------------------------------------------- the interfaces ------------------------------------------ */

typedef struct fixture {
  hearth_profile *profile;
  void *data;
  FILE *stream;
} fixture;

static int set_up(void **state) {
  static fixture f;
  const hearth_profile_summary run = {.runs = 1, .duration_ns = 1000000000, .accesses_counted = true};
  const hearth_mib mib = {{.AllocCount = 1, .TotalSize = 64, .TotalLifetime = 1000000, .TotalAccessCount = 5}};
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_builder_frame frame = {.line = 1, .column = 2};
  hearth_error err;
  size_t size;
  assert_int_equal(hearth_builder_function(builder, "f", "a.c", 1, &frame.function, &err), HEARTH_OK);
  assert_int_equal(hearth_builder_add(builder, &frame, 1, &mib, &err), HEARTH_OK);
  assert_int_equal(hearth_builder_add_run(builder, &run, &err), HEARTH_OK);
  assert_int_equal(hearth_builder_write_memory(builder, &f.data, &size, &err), HEARTH_OK);
  assert_int_equal(hearth_profile_open_memory(f.data, size, "p", &f.profile, &err), HEARTH_OK);
  hearth_builder_destroy(builder);
  f.stream = fopen("/dev/null", "w");
  *state = &f;
  return f.stream ? 0 : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  hearth_profile_close(f->profile);
  free(f->data);
  return fclose(f->stream);
}

/* Each calls one function with options of unknown size. */
typedef hearth_status use(fixture *f, const void *options, hearth_error *err);

static hearth_status use_classify(fixture *f, const void *options, hearth_error *err) {
  hearth_classifier classifier;
  return hearth_classifier_init(&classifier, f->profile, options, err);
}

static hearth_status use_plan(fixture *f, const void *options, hearth_error *err) {
  void *data = NULL;
  size_t size;
  hearth_status status = make_plan(f->profile, options, &data, &size, err);
  free(data);
  return status;
}

static hearth_status use_listing(fixture *f, const void *options, hearth_error *err) {
  return hearth_listing_print_text(f->profile, "p", options, f->stream, err);
}

static hearth_status use_indexer(fixture *f, const void *options, hearth_error *err) {
  hearth_indexer *indexer;
  (void)f;
  hearth_status status = hearth_indexer_create(options, &indexer, err);
  hearth_indexer_destroy(indexer);
  return status;
}

#if HEARTH_VIEWS
#include "hearth/profile_diff.h"
#include "hearth/profile_export.h"

static const hearth_export_options export = {.title = "p"};
static const hearth_page_options page = {.title = "p"};

static hearth_status use_view(fixture *f, const void *options, hearth_error *err) {
  hearth_profile *const profiles[] = {f->profile, f->profile};
  const char *const names[] = {"a", "b"};
  hearth_diff *diff;
  hearth_status status = hearth_diff_create(profiles, names, options, &diff, err);
  hearth_diff_destroy(diff);
  return status;
}

static hearth_status use_export(fixture *f, const void *options, hearth_error *err) {
  return hearth_export(f->profile, HEARTH_EXPORT_FOLDED, options, f->stream, err);
}

static hearth_status use_page(fixture *f, const void *options, hearth_error *err) {
  return hearth_page_write_html(f->profile, options, f->stream, err);
}
#endif

#if HEARTH_TRACES
#include "hearth/heap_dumps.h"

static hearth_status use_heap_view(fixture *f, const void *options, hearth_error *err) {
  return hearth_heap_print(&(hearth_heap_dumps){0}, NULL, options, f->stream, err);
}

static hearth_status use_heap_reader(fixture *f, const void *options, hearth_error *err) {
  hearth_heap_reader *reader;
  (void)f;
  hearth_status status = hearth_heap_reader_create(options, &reader, err);
  hearth_heap_reader_destroy(reader);
  return status;
}
#endif

typedef struct any_options {
  size_t size;
  char fields[1016];
} any_options;

static void every_interface_tells_releases_apart(void **state) {
  static const struct {
    use *use;
    size_t size;
    const void *needed; /* what must be set; NULL: nothing */
  } rows[] = {
#if HEARTH_VIEWS
      {use_view, sizeof(hearth_view_options), NULL},           {use_export, sizeof(hearth_export_options), &export},
      {use_page, sizeof(hearth_page_options), &page},
#endif
#if HEARTH_TRACES
      {use_heap_view, sizeof(hearth_heap_view_options), NULL}, {use_heap_reader, sizeof(hearth_indexer_options), NULL},
#endif
      {use_classify, sizeof(hearth_classify_options), NULL},   {use_plan, sizeof(hearth_plan_options), NULL},
      {use_listing, sizeof(hearth_listing_options), NULL},     {use_indexer, sizeof(hearth_indexer_options), NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    any_options given = {0};
    hearth_error err = {0};
    if (rows[i].needed)
      memcpy(&given, rows[i].needed, rows[i].size);
    given.size = rows[i].size;
    assert_int_equal(rows[i].use(*state, &given, &err), HEARTH_OK);
    given.size = sizeof given;
    assert_int_equal(rows[i].use(*state, &given, &err), HEARTH_OK);
    ((char *)&given)[sizeof given - 1] = 1;
    assert_int_equal(rows[i].use(*state, &given, &err), HEARTH_E_USAGE);
    if (rows[i].needed)
      continue;
    memset(given.fields, 0xff, sizeof given.fields); /* none of it is the caller's */
    given.size = sizeof given.size;
    assert_int_equal(rows[i].use(*state, &given, &err), HEARTH_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_are_defaults),
      cmocka_unit_test(size_may_be_left_zero),
      cmocka_unit_test(smaller_struct_is_copied_as_far_as_it_reaches),
      cmocka_unit_test(larger_struct_must_not_set_what_is_not_known),
      cmocka_unit_test(size_smaller_than_itself_is_an_error),
      cmocka_unit_test_setup_teardown(every_interface_tells_releases_apart, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
