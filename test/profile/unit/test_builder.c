/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder: what is written depends on what was added, never on the order or grouping of the additions. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "profile_fixture.h"

static hearth_status write_file(hearth_builder *builder, const char *path, hearth_error *err) {
  bytes b = write_bytes(builder);
  hearth_status status = hearth_file_write(path, b.data, b.size, err);
  free(b.data);
  return status;
}

enum { ADDITIONS = 400, FUNCTIONS = 30, MAX_DEPTH = 8, RUNS = 5 };

typedef struct addition {
  struct {
    uint32_t function, variant, line, column, discriminator;
    bool inlined;
  } frames[MAX_DEPTH];
  size_t depth;
  hearth_mib mib;
} addition;

static addition additions[ADDITIONS];

/* Few functions, lines and columns, so that contexts repeat, share callers and are prefixes of each other. */
static void make_additions(uint64_t seed) {
  for (size_t i = 0; i < ADDITIONS; i++) {
    addition *a = &additions[i];
    memset(a, 0, sizeof *a);
    a->depth = 1 + next_random(&seed) % MAX_DEPTH;
    for (size_t k = 0; k < a->depth; k++) {
      a->frames[k].function = next_random(&seed) % (k < 2 ? 3 : FUNCTIONS);
      a->frames[k].variant = next_random(&seed) % 3;
      a->frames[k].line = next_random(&seed) % 3;
      a->frames[k].column = next_random(&seed) % 2;
      a->frames[k].discriminator = next_random(&seed) % 8;
      a->frames[k].inlined = next_random(&seed) % 2;
    }
    for (size_t k = 0; k < HEARTH_MIB_COLUMNS; k++)
      a->mib.v[k] = (uint64_t)next_random(&seed) << next_random(&seed) % 20;
    a->mib.AllocCount = next_random(&seed) % 10; /* 0: an empty record */
  }
}

/* The same function described with another directory, start line or compiler suffix. */
static uint32_t add_function(hearth_builder *builder, uint32_t number, uint32_t variant) {
  static const char *const directories[] = {"/build/one/", "", "src/"};
  static const char *const suffixes[] = {"", ".part.0", ".llvm.77"};
  char name[64], path[64];
  uint32_t row;
  hearth_error err;
  snprintf(name, sizeof name, "function_%u%s", number, suffixes[variant]);
  snprintf(path, sizeof path, "%sfile_%u.c", directories[variant], number % 4);
  expect_ok(hearth_builder_function(builder, name, path, 10 + number + variant, &row, &err), &err);
  return row;
}

static void add(hearth_builder *builder, const addition *a) {
  hearth_builder_frame frames[MAX_DEPTH];
  hearth_error err;
  for (size_t k = 0; k < a->depth; k++)
    frames[k] = (hearth_builder_frame){.function = add_function(builder, a->frames[k].function, a->frames[k].variant),
                                       .line = a->frames[k].line,
                                       .column = a->frames[k].column,
                                       .discriminator = a->frames[k].discriminator,
                                       .inlined = a->frames[k].inlined};
  expect_ok(hearth_builder_add(builder, frames, a->depth, &a->mib, &err), &err);
}

static void end_run(hearth_builder *builder, uint32_t number) {
  static const uint8_t build_id[] = {1, 2, 3, 4, 5};
  char name[16];
  hearth_error err;
  hearth_profile_summary run = {.runs = 1,
                                .duration_ns = 1000000 * (uint64_t)(number + 1),
                                .dropped_blocks = number,
                                .dropped_frames = 2 * number,
                                .accesses_counted = true};
  snprintf(name, sizeof name, "binary_%u", number % 3);
  expect_ok(hearth_builder_end_run(builder, &run, &err), &err);
  expect_ok(hearth_builder_add_run(builder, &run, &err), &err);
  expect_ok(hearth_builder_add_binary(builder, name, build_id, 4 + number % 2, &err), &err);
}

/* Additions first + k * step, as one profile. */
static bytes build_part(size_t first, size_t step, uint32_t run) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_builder_begin_run(builder);
  for (size_t i = first; i < ADDITIONS; i += step)
    add(builder, &additions[i]);
  end_run(builder, run);
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

static bytes build_all_in_order(const size_t *order) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  for (uint32_t run = 0; run < RUNS; run++) {
    hearth_builder_begin_run(builder);
    for (size_t i = 0; i < ADDITIONS; i++)
      if (order[i] % RUNS == run)
        add(builder, &additions[order[i]]);
    end_run(builder, run);
  }
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

static void shuffle(size_t *order, size_t n, uint64_t *seed) {
  for (size_t i = n; i > 1; i--) {
    size_t k = next_random(seed) % i, kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
  }
}

static void order_of_additions_does_not_matter(void **state) {
  size_t order[ADDITIONS];
  uint64_t seed = 42;
  (void)state;
  make_additions(7);
  for (size_t i = 0; i < ADDITIONS; i++)
    order[i] = i;
  bytes expected = build_all_in_order(order);
  for (int round = 0; round < 20; round++) {
    shuffle(order, ADDITIONS, &seed);
    bytes b = build_all_in_order(order);
    expect_equal_bytes(expected, b);
    free(b.data);
  }
  free(expected.data);
}

/* Merge random pairs of the parts, which it frees, until one profile is left. */
static bytes merge_as_tree(bytes *parts, size_t n, uint64_t *seed) {
  for (; n > 1; n--) {
    size_t a = next_random(seed) % n, b = (a + 1 + next_random(seed) % (n - 1)) % n;
    bytes merged = merge_bytes((bytes[]){parts[a], parts[b]}, 2);
    free(parts[a].data);
    free(parts[b].data);
    parts[a < b ? a : b] = merged;
    parts[a < b ? b : a] = parts[n - 1];
  }
  return parts[0];
}

static void shape_of_merge_tree_does_not_matter(void **state) {
  size_t order[ADDITIONS];
  uint64_t seed = 4711;
  (void)state;
  make_additions(8);
  for (size_t i = 0; i < ADDITIONS; i++)
    order[i] = i;
  bytes expected = build_all_in_order(order);
  for (int round = 0; round < 20; round++) {
    bytes parts[RUNS];
    for (uint32_t i = 0; i < RUNS; i++)
      parts[i] = build_part(i, RUNS, i);
    bytes root = merge_as_tree(parts, RUNS, &seed);
    expect_equal_bytes(expected, root);
    free(root.data);
  }
  free(expected.data);
}

/* Three profiles in four do not know the bytes that are live in them. The sum has those that are known, however it came about, and
 * their number: no estimate is in it. */
static void sums_hold_no_estimate_of_live_bytes(void **state) {
  enum { PARTS = 24, ROUNDS = 20 };
  static const char *const known[] = {"", "", "", "SizedAtExit 2\nLiveBytes 1000\n"};
  uint64_t seed = 46;
  bytes expected = {NULL};
  hearth_error err;
  (void)state;
  for (int round = 0; round < ROUNDS; round++) {
    bytes parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
      char text[256];
      snprintf(text, sizeof text,
               "hearth-profile-text 1\nrun accesses=0\ncontext\nframe f a.c 1 1 1 0\nAllocCount 10\nTotalSize %zu\n"
               "LiveAtExit 2\n%s",
               3000 + i, known[i % 4]);
      parts[i] = bytes_from_text(text);
    }
    bytes root = merge_as_tree(parts, PARTS, &seed);
    if (round == 0)
      expected = root;
    expect_equal_bytes(expected, root);
    if (round > 0)
      free(root.data);
  }
  hearth_profile *profile = open_bytes(expected);
  hearth_mib mib;
  expect_ok(hearth_profile_get_context(profile, 0, NULL, &mib, &err), &err);
  assert_int_equal(mib.LiveAtExit, 2 * PARTS);
  assert_int_equal(mib.SizedAtExit, 2 * PARTS / 4);
  assert_int_equal(mib.LiveBytes, 1000 * PARTS / 4);
  hearth_profile_close(profile);
  free(expected.data);
}

static void merging_one_profile_copies_it(void **state) {
  (void)state;
  make_additions(9);
  bytes part = build_part(0, 1, 3), copy = merge_bytes(&part, 1);
  expect_equal_bytes(part, copy);
  free(part.data);
  free(copy.data);
}

static void equal_contexts_are_summed(void **state) {
  (void)state;
  bytes one = bytes_from_text(small_profile()), two = merge_bytes((bytes[]){one, one}, 2);
  hearth_profile *profile = open_bytes(two);
  hearth_profile_summary s;
  hearth_error err;
  expect_ok(hearth_profile_get_summary(profile, &s, &err), &err);
  assert_int_equal(hearth_profile_context_count(profile), 2);
  assert_int_equal(s.total_allocs, 3000);
  assert_int_equal(s.total_bytes, 2 * (67108864 + 32000));
  assert_int_equal(s.total_accesses, 2 * 9001000);
  assert_int_equal(s.runs, 4);
  assert_int_equal(s.duration_ns, 8000000000);
  assert_int_equal(s.dropped_blocks, 6);
  assert_int_equal(s.dropped_frames, 2);
  assert_int_equal(hearth_profile_binary_count(profile), 1);
  hearth_profile_close(profile);
  free(one.data);
  free(two.data);
}

static void accesses_count_only_if_every_run_counted(void **state) {
  (void)state;
  bytes counted = bytes_from_text(small_profile());
  bytes other = bytes_from_text("hearth-profile-text 1\nrun accesses=0\ncontext\nframe f a.c 1 1 1 0\nAllocCount 1\n");
  bytes both = merge_bytes((bytes[]){counted, other}, 2);
  hearth_profile *profile = open_bytes(both);
  hearth_profile_summary s;
  hearth_error err;
  double density;
  expect_ok(hearth_profile_get_summary(profile, &s, &err), &err);
  assert_false(s.accesses_counted);
  assert_int_equal(hearth_profile_get_hot_cutoff(profile, 900000, &density, &err), HEARTH_E_NOT_FOUND);
  hearth_profile_close(profile);
  free(counted.data);
  free(other.data);
  free(both.data);
}

static void discriminators_are_decoded_once(void **state) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_mib mib = {.AllocCount = 1};
  hearth_builder_frame frame = {.line = 1, .discriminator = 6 << 1};
  hearth_frame_info info;
  hearth_error err;
  (void)state;
  expect_ok(hearth_builder_function(builder, "f", "a.c", 1, &frame.function, &err), &err);
  expect_ok(hearth_builder_add(builder, &frame, 1, &mib, &err), &err);
  bytes b = write_bytes(builder), merged = merge_bytes(&b, 1);
  hearth_profile *profile = open_bytes(merged);
  expect_ok(hearth_profile_get_frame(profile, 0, &info, &err), &err);
  assert_int_equal(info.discriminator, 6);
  hearth_profile_close(profile);
  hearth_builder_destroy(builder);
  free(b.data);
  free(merged.data);
}

static void unusable_arguments_are_refused(void **state) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_builder_frame frame = {.function = 7};
  hearth_mib mib = {.AllocCount = 1};
  hearth_error err;
  uint32_t row;
  char path[HEARTH_PATH_LIMIT + 1];
  (void)state;
  assert_int_equal(hearth_builder_add(builder, &frame, 0, &mib, &err), HEARTH_E_USAGE);
  assert_int_equal(hearth_builder_add(builder, &frame, 1, &mib, &err), HEARTH_E_USAGE);
  memset(path, 'a', sizeof path);
  path[HEARTH_PATH_LIMIT] = '\0';
  assert_int_equal(hearth_builder_function(builder, "f", path, 1, &row, &err), HEARTH_E_FULL);
  assert_int_equal(hearth_builder_context_count(builder), 0);
  hearth_builder_destroy(builder);
}

static void schemes_do_not_mix(void **state) {
  hearth_error err;
  (void)state;
  bytes b = bytes_from_text_with("hearth-profile-text 1\nscheme llvm\nrun\n", HEARTH_IDS_LLVM);
  hearth_profile *profile = open_bytes(b);
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  assert_int_equal(hearth_builder_add_profile(builder, profile, &err), HEARTH_E_MISMATCH);
  hearth_builder_destroy(builder);
  hearth_profile_close(profile);
  free(b.data);
}

static void writing_replaces_whole_files_only(void **state) {
  char directory[] = "/tmp/hearth-test-XXXXXX", file[64], link[64], missing[64];
  struct stat info;
  hearth_error err;
  hearth_profile *profile;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  (void)state;
  assert_non_null(mkdtemp(directory));
  snprintf(file, sizeof file, "%s/prof", directory);
  snprintf(link, sizeof link, "%s/link", directory);
  snprintf(missing, sizeof missing, "%s/no/prof", directory);
  assert_int_equal(symlink(file, link), 0);
  expect_ok(hearth_builder_read_text(builder, small_profile(), strlen(small_profile()), "text", &err), &err);
  expect_ok(write_file(builder, file, &err), &err);
  expect_ok(write_file(builder, link, &err), &err); /* the builder stays usable, the link a link */
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expect_ok(hearth_profile_open(link, &profile, &err), &err);
  hearth_profile_close(profile);
  expect_ok(write_file(builder, "/dev/null", &err), &err);
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));
  assert_int_equal(write_file(builder, missing, &err), HEARTH_E_IO);
  assert_int_equal(write_file(builder, directory, &err), HEARTH_E_IO);
  assert_non_null(strstr(err.message, "directory"));
  hearth_builder_destroy(builder);
  assert_int_equal(unlink(link), 0);
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(directory), 0); /* no temporary file is left */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_of_additions_does_not_matter),
      cmocka_unit_test(shape_of_merge_tree_does_not_matter),
      cmocka_unit_test(sums_hold_no_estimate_of_live_bytes),
      cmocka_unit_test(merging_one_profile_copies_it),
      cmocka_unit_test(equal_contexts_are_summed),
      cmocka_unit_test(accesses_count_only_if_every_run_counted),
      cmocka_unit_test(discriminators_are_decoded_once),
      cmocka_unit_test(unusable_arguments_are_refused),
      cmocka_unit_test(schemes_do_not_mix),
      cmocka_unit_test(writing_replaces_whole_files_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
