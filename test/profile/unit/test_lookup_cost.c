/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a compile reads of a large profile: one module of a program of 1000 modules is looked up as the compiler plugin
 * does it, each function, its frames, their contexts with numbers, and then whole stacks. The cost is counted in blocks
 * of 4 KiB whose checksum was looked at.
 *
 * The program is made up: a module has 5 functions with 4 call sites each. Of the sites 7 in 10 call within the module,
 * the others a module of the layer below. Contexts are random walks from main, 100,000 or as many as the argument says:
 * callers are as scattered over the program as can be. Numbers are neighbours whatever the program. */
#include "profile_fixture.h"

#include "hearth/ids.h"
#include "reader_internal.h"

enum { MODULES = 1000, FUNCTIONS = 5, SITES = 4, DEPTH = 40 };

typedef struct program {
  uint32_t callee[MODULES * FUNCTIONS][SITES];
  uint32_t number[MODULES * FUNCTIONS]; /* the builder's */
} program;

static void function_name(uint32_t function, char name[32], char path[32]) {
  snprintf(name, 32, "function%u", function);
  snprintf(path, 32, "module%u.c", function / FUNCTIONS);
}

static void make_program(program *p, hearth_builder *builder, uint64_t *seed) {
  for (uint32_t f = 0; f < MODULES * FUNCTIONS; f++) {
    char name[32], path[32];
    hearth_error err;
    function_name(f, name, path);
    expect_ok(hearth_builder_function(builder, name, path, 1, &p->number[f], &err), &err);
    for (uint32_t s = 0; s < SITES; s++) {
      uint32_t module = f / FUNCTIONS, below = 3 * module + 1 + next_random(seed) % 3;
      if (next_random(seed) % 10 < 7)
        below = module;
      p->callee[f][s] = below % MODULES * FUNCTIONS + next_random(seed) % FUNCTIONS;
    }
  }
}

static void add_walk(const program *p, hearth_builder *builder, uint64_t *seed) {
  hearth_builder_frame frames[DEPTH], reversed[DEPTH];
  size_t depth = 10 + next_random(seed) % (DEPTH - 10);
  uint32_t function = 0;
  hearth_error err;
  for (size_t i = 0; i < depth; i++) {
    uint32_t site = next_random(seed) % SITES;
    frames[i] = (hearth_builder_frame){.function = p->number[function], .line = site + 1, .column = 5};
    function = p->callee[function][site];
  }
  for (size_t i = 0; i < depth; i++)
    reversed[i] = frames[depth - 1 - i];
  uint64_t blocks = 1 + next_random(seed) % 3, size = 16 * (1 + next_random(seed) % 20);
  uint64_t life = 1000 + next_random(seed) % 100000000, accesses = next_random(seed) % 500;
  hearth_mib mib = {.AllocCount = blocks,
                    .MinSize = size,
                    .MaxSize = size,
                    .TotalSize = size * blocks,
                    .MaxAccessCount = accesses,
                    .TotalAccessCount = accesses * blocks,
                    .MinLifetime = life,
                    .MaxLifetime = life,
                    .TotalLifetime = life * blocks,
                    .AllocTimestamp = next_random(seed),
                    .DeallocTimestamp = next_random(seed)};
  expect_ok(hearth_builder_add(builder, reversed, depth, &mib, &err), &err);
}

static void look_up_function(hearth_profile *profile, uint32_t number, bool stacks) {
  char name[32], path[32];
  uint32_t row, node, frame_row;
  hearth_function_info function;
  hearth_frame_info frame;
  hearth_error err;
  function_name(number, name, path);
  if (hearth_profile_find_function(profile, hearth_function_id(name, strlen(name), path), &row, &err) != HEARTH_OK)
    return; /* no walk ended there */
  expect_ok(hearth_profile_get_function(profile, row, &function, &err), &err);
  for (uint32_t i = 0; i < function.frame_count; i++) {
    expect_ok(hearth_profile_get_frame(profile, function.first_frame + i, &frame, &err), &err);
    for (uint32_t k = 0; k < frame.context_count; k++) {
      hearth_mib mib;
      expect_ok(hearth_profile_get_context(profile, frame.first_context + k, &node, &mib, &err), &err);
      while (stacks && node != HEARTH_NONE)
        expect_ok(hearth_profile_get_stack(profile, node, &frame_row, &node, &err), &err);
    }
  }
}

static size_t blocks_checked(const hearth_profile *profile) {
  size_t blocks = 0;
  for (size_t i = 0; i <= hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS)->count / 8; i++)
    blocks += (size_t)__builtin_popcount(profile->checked[i]);
  return blocks;
}

/* Share of the file, on average over some modules. */
static double average_cost(bytes b, bool stacks) {
  size_t blocks = 0, modules = 0;
  for (uint32_t module = 1; module < MODULES; module += 37, modules++) {
    hearth_profile *profile = open_bytes(b);
    for (uint32_t f = 0; f < FUNCTIONS; f++)
      look_up_function(profile, module * FUNCTIONS + f, stacks);
    blocks += blocks_checked(profile);
    hearth_profile_close(profile);
  }
  return (double)blocks * HEARTH_BLOCK_SIZE / (double)b.size / (double)modules;
}

static size_t contexts = 100000;

static void a_module_reads_little_of_the_profile(void **state) {
  static program p;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  uint64_t seed = 3;
  (void)state;
  make_program(&p, builder, &seed);
  while (hearth_builder_context_count(builder) < contexts)
    add_walk(&p, builder, &seed);
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  double numbers = average_cost(b, false), all = average_cost(b, true);
  printf("%zu contexts, %zu bytes; a module reads %.2f %% of them for its numbers, %.2f %% with all stacks\n", contexts,
         b.size, 100 * numbers, 100 * all);
  assert_true(numbers < 0.02);
  assert_true(all < 0.025);
  free(b.data);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_module_reads_little_of_the_profile),
  };
  if (argc > 1)
    contexts = strtoull(argv[1], NULL, 10);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
