/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes up the profile of a large program: generate OUTPUT CONTEXTS
 *
 * MODULES modules of FUNCTIONS functions, in layers: main is in the first, libraries are the last. A call site calls
 * within its module (1 in 2), one of the next few modules (3 in 10), any module further down (15 in 100), or one further
 * up, as callbacks and recursion do (5 in 100). The first call sites of a function are taken more often than its last
 * ones. 3 in 10 allocations go through helpers such as xmalloc, in the last module; the others are calls of the
 * function that wants the memory. How long a block lives and how much it is used depends on the allocating function,
 * and for 1 in 3 of them on one of the four callers above it. All random numbers come from one fixed seed. */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "hearth/builder.h"

enum { MODULES = 500, FUNCTIONS = 10, COUNT = MODULES * FUNCTIONS, SITES = 6, DEPTH = 48, HELPERS = COUNT - FUNCTIONS };

typedef struct program {
  uint32_t callee[COUNT][SITES];
  uint32_t number[COUNT]; /* the builder's */
} program;

/* xorshift64*: the same numbers everywhere. */
static uint32_t next_random(void) {
  static uint64_t state = 3;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

static uint32_t below(uint32_t limit) { return next_random() % limit; }

/* 0 half of the time, 1 a quarter of it, and so on; less than `limit`. */
static uint32_t skewed(uint32_t limit) { return (uint32_t)__builtin_ctz(next_random() | 1u << (limit - 1)); }

static void check(hearth_status status, const hearth_error *err) {
  if (status == HEARTH_OK)
    return;
  fprintf(stderr, "generate: error: %s\n", err->message);
  exit(1);
}

static uint32_t called_module(uint32_t module) {
  uint32_t dice = below(100), rest = MODULES - 1 - module;
  if (dice < 50 || rest == 0)
    return module;
  if (dice < 80)
    return module + 1 + skewed(rest < 8 ? rest : 8);
  return dice < 95 ? module + 1 + below(rest) : below(module + 1);
}

static void make_program(program *p, hearth_builder *builder) {
  for (uint32_t f = 0; f < COUNT; f++) {
    char name[32], path[64];
    hearth_error err;
    snprintf(name, sizeof name, "function%u", f);
    snprintf(path, sizeof path, "src/part%u/module%u.c", f / FUNCTIONS / 20, f / FUNCTIONS);
    check(hearth_builder_function(builder, name, path, 20 * (f % FUNCTIONS), &p->number[f], &err), &err);
    for (uint32_t s = 0; s < SITES; s++)
      p->callee[f][s] = called_module(f / FUNCTIONS) * FUNCTIONS + below(FUNCTIONS);
  }
}

static hearth_builder_frame frame_of(const program *p, uint32_t function, uint32_t site) {
  return (hearth_builder_frame){.function = p->number[function], .line = 2 + 3 * site, .column = 5 + 4 * (site % 3)};
}

static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
  return value ^ value >> 31;
}

/* Blocks as whoever wants the memory uses them; `who` decides. */
static hearth_mib blocks_of(uint64_t who) {
  uint64_t kind = mix(who), blocks = 1 + skewed(16) * below(8), size = 16 * (1 + kind % 20);
  uint64_t life = kind >> 8 & 3 ? 1000 + below(100000000) : UINT64_C(3000000000) + below(1000000000);
  uint64_t accesses = kind >> 12 & 3 ? (kind >> 16 & 255) * (1 + below(16)) : below(4);
  return (hearth_mib){.AllocCount = blocks,
                      .MinSize = size,
                      .MaxSize = size,
                      .TotalSize = size * blocks,
                      .MaxAccessCount = accesses,
                      .TotalAccessCount = accesses * blocks,
                      .MinLifetime = life,
                      .MaxLifetime = life,
                      .TotalLifetime = life * blocks,
                      .AllocTimestamp = next_random(),
                      .DeallocTimestamp = next_random()};
}

static void add_walk(const program *p, hearth_builder *builder) {
  hearth_builder_frame down[DEPTH + 2], up[DEPTH + 2];
  uint32_t function = 0, functions[DEPTH + 1];
  size_t n = 0, depth = 6 + below(DEPTH - 6);
  hearth_error err;
  for (; n < depth; n++) {
    uint32_t site = skewed(SITES);
    down[n] = frame_of(p, functions[n] = function, site);
    function = p->callee[function][site];
  }
  uint64_t who = mix(function);
  if (who % 3 == 0)
    who += functions[n - 1 - who / 3 % 4];
  if (below(10) < 3) {
    down[n++] = frame_of(p, function, SITES);
    function = HELPERS + skewed(FUNCTIONS);
  }
  down[n++] = frame_of(p, function, SITES + 1 + skewed(3));
  for (size_t i = 0; i < n; i++)
    up[i] = down[n - 1 - i];
  hearth_mib mib = blocks_of(who);
  check(hearth_builder_add(builder, up, n, &mib, &err), &err);
}

int main(int argc, char **argv) {
  static program p;
  void *data;
  size_t size;
  hearth_error err;
  if (argc != 3) {
    fprintf(stderr, "usage: generate OUTPUT CONTEXTS\n");
    return 2;
  }
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile_summary run = {.runs = 1, .duration_ns = UINT64_C(4000000000), .accesses_counted = true};
  if (!builder)
    return 1;
  make_program(&p, builder);
  while (hearth_builder_context_count(builder) < strtoull(argv[2], NULL, 10))
    add_walk(&p, builder);
  check(hearth_builder_add_run(builder, &run, &err), &err);
  check(hearth_builder_write_memory(builder, &data, &size, &err), &err);
  check(hearth_file_write(argv[1], data, size, &err), &err);
  free(data);
  hearth_builder_destroy(builder);
  return 0;
}
