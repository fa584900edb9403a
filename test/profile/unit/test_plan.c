/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plans: which sites are chosen, their bits, the tables; and that damaged plans are refused. */
#include "hearth/ids.h"
#include "hearth/lowered_calls.h"
#include "hearth/plan.h"
#include "make_plan.h"
#include "profile_fixture.h"
#include "profile_verifier.h"
#include "reseal.h"

/* ------------------------------------------------- profiles ------------------------------------------------- */

/* One context: its frames, leaf first, each a function of one letter and a line of one digit: "x1 h2 m3"; or
 * "?", in a library without source. */
typedef struct context {
  hearth_placement hotness; /* what its numbers are to lead to */
  uint64_t bytes;
  const char *frames;
  uint64_t allocs; /* 0: 10 */
} context;

#define COLD    HEARTH_CLASS_COLD
#define HOT     HEARTH_CLASS_HOT
#define UNKNOWN HEARTH_CLASS_UNKNOWN
#define POOL    HEARTH_PLACEMENT_POOL
#define DORMANT HEARTH_PLACEMENT_DORMANT

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const uint64_t run_ns = 4000000000;

static void add(hearth_builder *builder, const context *c) {
  hearth_builder_frame frames[16] = {0};
  size_t n = 0;
  hearth_error err;
  uint64_t allocs = c->allocs ? c->allocs : 10;
  hearth_mib mib = {.AllocCount = allocs,
                    .TotalSize = c->bytes,
                    .TotalLifetime = allocs * run_ns,
                    .TotalAccessCount = c->hotness == HOT ? 1000 * c->bytes : 0};
  if (c->hotness == DORMANT) {
    mib.TotalAccessCount = c->bytes;
    mib.Picks = 10;
    mib.LatePicks = 6;
  }
  for (const char *at = c->frames; *at; at += at[2] ? 3 : 2, n++) {
    const char name[] = {at[0], '\0'};
    bool has_source = at[1] != '?';
    frames[n].line = has_source ? (uint32_t)(at[1] - '0') : HEARTH_LINE_UNKNOWN;
    frames[n].column = has_source;
    expect_ok(
        hearth_builder_function(builder, name, has_source ? "a.c" : "l.so", has_source, &frames[n].function, &err),
        &err);
  }
  expect_ok(hearth_builder_add(builder, frames, n, &mib, &err), &err);
}

static hearth_profile_summary one_run(void) {
  return (hearth_profile_summary){.runs = 1, .duration_ns = run_ns, .accesses_counted = true};
}

static bytes profile_of(const context *contexts, size_t n, bool backwards) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile_summary run = one_run();
  hearth_error err;
  expect_ok(hearth_builder_add_run(builder, &run, &err), &err);
  for (size_t i = 0; i < n; i++)
    add(builder, &contexts[backwards ? n - 1 - i : i]);
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

static bytes plan_of(bytes b, const hearth_plan_options *options) {
  hearth_profile *profile = open_bytes(b);
  hearth_error err;
  bytes planned;
  expect_ok(make_plan(profile, options, &planned.data, &planned.size, &err), &err);
  hearth_profile_close(profile);
  return planned;
}

/* -------------------------------------------------- answers -------------------------------------------------- */

typedef struct planned {
  bytes b;
  hearth_profile *profile;
  hearth_plan plan;
} planned;

static planned open_planned_bytes(bytes b) {
  planned p = {.b = b, .profile = open_bytes(b)};
  hearth_error err;
  expect_ok(hearth_profile_verify(p.profile, &err), &err);
  expect_ok(hearth_profile_get_plan(p.profile, &p.plan, &err), &err);
  return p;
}

static planned open_planned(const context *contexts, size_t n, const hearth_plan_options *options) {
  bytes bare = profile_of(contexts, n, false);
  planned p = open_planned_bytes(plan_of(bare, options));
  free(bare.data);
  return p;
}

static void close_planned(planned *p) {
  hearth_profile_close(p->profile);
  free(p->b.data);
}

static uint64_t id_of(const char *frame) {
  if (frame[1] == '?')
    return hearth_function_id(frame, 1, "l.so");
  return hearth_stack_id(hearth_function_id(frame, 1, "a.c"), (uint32_t)(frame[1] - '0'), 1);
}

static const hearth_plan_site *site_of(const planned *p, const char *frame) {
  return hearth_plan_find_site(&p->plan, id_of(frame));
}

/* What an allocation concludes while the frames of a context are being called. */
static hearth_placement conclude(const planned *p, const char *frames) {
  const hearth_plan_table *table = hearth_plan_find_table(&p->plan, id_of(frames));
  uint64_t word = 0;
  assert_non_null(table);
  for (const char *at = frames; strlen(at) > 2;) {
    const hearth_plan_site *site = site_of(p, at += 3);
    word |= site ? UINT64_C(1) << site->bit : 0;
  }
  return table->placements[(word & table->mask) != 0];
}

static void expect_all_told_apart(const planned *p, const context *contexts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (contexts[i].hotness == HOT ? conclude(p, contexts[i].frames) < POOL : conclude(p, contexts[i].frames) != COLD)
      fail_msg("%s: taken for %s", contexts[i].frames, hearth_placement_name(conclude(p, contexts[i].frames)));
}

/* -------------------------------------------------- choices -------------------------------------------------- */

/* The cold one of two callers is known by a bit. */
static void a_bit_tells_a_cold_caller(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 m1"}, {COLD, 1000, "x1 h1 m2"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 1);
  assert_int_equal(p.plan.table_count, 1);
  assert_non_null(site_of(&p, "m2"));
  assert_int_equal(p.plan.sites[0].bytes, 1000);
  assert_int_equal(p.plan.sites[0].allocs, 10);
  assert_int_equal(p.plan.tables[0].mask, 1);
  assert_null(site_of(&p, "x1"));
  assert_null(hearth_plan_find_table(&p.plan, id_of("h1")));
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
}

/* A call that others go through as well tells nothing, not even together with another one. */
static void sites_prove_by_themselves(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 g1 m1"}, {COLD, 1000, "x1 h1 g2 m1"}, {HOT, 1000, "x1 h2 g2 m1"},
                              {COLD, 500, "x1 h3 g3 m1"}, {HOT, 2000, "y1 h4 g1 m1"},  {COLD, 2000, "y1 h4 g3 m1"},
                              {COLD, 700, "z1 m1"},       {COLD, 800, "z1 m2"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.table_count, 2); /* all contexts of z1 are cold */
  assert_int_equal(p.plan.site_count, 1);
  assert_int_equal(site_of(&p, "g3")->bytes, 2500);
  assert_true(conclude(&p, "x1 h1 g2 m1") >= POOL);
  assert_true(conclude(&p, "x1 h2 g2 m1") >= POOL);
  expect_all_told_apart(&p, contexts + 3, 3);
  close_planned(&p);
}

static void outer_sites_are_preferred(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 g1 f1 m1"}, {COLD, 1000, "x1 h2 g2 f2 m2"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 1);
  assert_non_null(site_of(&p, "m2"));
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
}

/* h1 to h8 would each be worth its bit; g1, through which they are called, is worth all of them. */
static void few_sites_are_preferred(void **state) {
  context contexts[17];
  char frames[17][16];
  (void)state;
  for (int i = 0; i < 8; i++) {
    snprintf(frames[i], sizeof frames[i], "x1 h%d g1 m1", i + 1);
    snprintf(frames[8 + i], sizeof frames[i], "x1 k%d f1 m1", i + 1);
    contexts[i] = (context){COLD, 1000 + (uint64_t)i, frames[i]};
    contexts[8 + i] = (context){HOT, 2000, frames[8 + i]};
  }
  contexts[16] = (context){HOT, 10, "x1 h9 g1 m1"};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  assert_int_equal(p.plan.site_count, 1); /* h9 is passed over */
  assert_non_null(site_of(&p, "g1"));
  close_planned(&p);
}

/* So that they are clear before the call. */
static void sites_have_bits_of_their_own(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 m1"},
                              {COLD, 900, "x1 h2 m1"}, /* parts at h */
                              {HOT, 1000, "y1 g1 n1"},
                              {COLD, 900, "y1 g2 n1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  uint64_t bits = 0;
  (void)state;
  assert_int_equal(p.plan.site_count, 2);
  for (uint32_t i = 0; i < 2; i++) {
    assert_true(p.plan.sites[i].is_alone);
    bits |= UINT64_C(1) << p.plan.sites[i].bit;
  }
  assert_int_equal(bits, 3);
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
}

/* h2 calls itself on the way to another allocation: the bit that is set then belongs to the outer call, too. */
static void sites_that_meet_themselves_are_not_alone(void **state) {
  const context contexts[] = {
      {HOT, 1000, "x1 h1 m1"}, {COLD, 900, "x1 h2 m1"}, {COLD, 1000, "x1 h3 m1"}, {HOT, 1000, "y1 h2 k1 h2 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 2);
  assert_false(site_of(&p, "h2")->is_alone);
  assert_true(site_of(&p, "h3")->is_alone);
  close_planned(&p);
}

/* Through y1's contexts go sites that only x1 heeds: y1 must not take their bit for that of its own. */
static void sites_that_one_allocation_sees_have_bits_of_their_own(void **state) {
  const context contexts[] = {{HOT, 9000, "x1 h1 m1"},    {COLD, 9000, "x1 h2 m1"},   {HOT, 1000, "y1 g1 h1 m1"},
                              {HOT, 1000, "y1 g1 h2 m1"}, {COLD, 900, "y1 g2 h1 m1"}, {COLD, 900, "y1 g2 h2 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 2);
  assert_int_not_equal(site_of(&p, "h2")->bit, site_of(&p, "g2")->bit);
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
}

/* Of 70 cold callers of one allocation call, which need a bit each, those that are worth most have one. */
static void there_are_no_more_sites_than_bits(void **state) {
  enum { CALLERS = 140 };
  static char frames[CALLERS][12];
  context contexts[CALLERS];
  uint64_t bits = 0;
  (void)state;
  for (int i = 0; i < CALLERS; i++) {
    snprintf(frames[i], sizeof frames[i], "x1 %c%c m1", 'A' + i / 9 % 26, '1' + i % 9);
    contexts[i] = (context){i % 2 ? HOT : COLD, 2000 - (uint64_t)i, frames[i]};
  }
  planned p = open_planned(contexts, CALLERS, NULL);
  for (uint32_t i = 0; i < p.plan.site_count; i++)
    bits |= UINT64_C(1) << p.plan.sites[i].bit;
  assert_int_equal(p.plan.site_count, HEARTH_PLAN_SITES_MAX);
  assert_int_equal(__builtin_popcountll(bits), HEARTH_PLAN_SITES_MAX);
  expect_all_told_apart(&p, contexts, 2 * HEARTH_PLAN_SITES_MAX);
  assert_int_equal(conclude(&p, frames[2 * HEARTH_PLAN_SITES_MAX]), POOL);
  close_planned(&p);
}

/* a2 would be worth most for its cost; b1 and b2, which are worth having, prove all that it does. */
static void sites_that_others_make_needless_are_dropped(void **state) {
  const context contexts[] = {
      {COLD, 2000, "x1 a2 b1 m1", 1}, {COLD, 2000, "x1 a2 b2 m1", 1}, {COLD, 500, "x1 a3 b1 m1", 1},
      {COLD, 500, "x1 a4 b1 m1", 1},  {COLD, 500, "x1 a5 b1 m1", 1},  {COLD, 500, "x1 a6 b2 m1", 1},
      {COLD, 500, "x1 a7 b2 m1", 1},  {COLD, 500, "x1 a8 b2 m1", 1},  {HOT, 1000, "x1 c1 m1", 1}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 2);
  assert_non_null(site_of(&p, "b1"));
  assert_non_null(site_of(&p, "b2"));
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
}

static void sites_are_worth_their_bits(void **state) {
  const context contexts[] = {{HOT, 100000, "x1 h1 m1"},
                              {COLD, 60000, "x1 h2 m1"},
                              {COLD, 40000, "x1 h3 m1"},
                              {HOT, 100000, "x1 h4 m1"},
                              {COLD, 9, "x1 h5 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 2); /* the 9 bytes are not worth one */
  assert_null(site_of(&p, "h5"));
  assert_non_null(site_of(&p, "h2"));
  assert_non_null(site_of(&p, "h3"));
  close_planned(&p);
}

/* Of a thousand accesses for each byte, a million reads of the word are worth a thousand bytes. */
static void bits_are_worth_reading(void **state) {
  (void)state;
  for (uint64_t cold = 900; cold <= 1100; cold += 200) {
    const context contexts[] = {{HOT, 1000000, "x1 h1 m1", 1000000}, {COLD, cold, "x1 h1 m2"}};
    planned p = open_planned(contexts, COUNT(contexts), NULL);
    assert_int_equal(p.plan.site_count, cold > 1000);
    assert_int_equal(conclude(&p, "x1 h1 m2"), cold > 1000 ? COLD : POOL);
    close_planned(&p);
  }
}

/* What nothing tells apart is cold only if the rest is little and hardly used. */
static void mixtures_are_seldom_cold(void **state) {
  const context few[] = {{HOT, 10, "x1 m1 n1"}, {COLD, 90, "x1 m1"}},
                idle[] = {{HOT, 4, "x1 m1 n1"}, {COLD, 96, "x1 m1"}, {HOT, 5000, "y1"}},
                many[] = {{HOT, 100, "x1 m1 n1"}, {COLD, 1700, "x1 m1"}, {HOT, 500000, "y1"}};
  planned p = open_planned(few, COUNT(few), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 0);
  assert_int_equal(p.plan.tables[0].mask, 0);
  assert_int_equal(conclude(&p, "x1 m1"), POOL); /* all accesses are theirs */
  close_planned(&p);
  p = open_planned(idle, COUNT(idle), NULL);
  assert_int_equal(conclude(&p, "x1 m1"), COLD);
  close_planned(&p);
  p = open_planned(many, COUNT(many), NULL);
  assert_int_equal(conclude(&p, "x1 m1"), POOL + 1); /* more than a twentieth of the bytes */
  close_planned(&p);
}

/* Ten bytes in a million are few, but half of the accesses are not: nothing is cold without a site, and the call has the first
 * id. */
static void bytes_weigh_as_much_as_they_are_used(void **state) {
  const context contexts[] = {{COLD, 1000000, "x1 h1 m1"}, {HOT, 10, "x1 h2 m1"}, {HOT, 9, "y1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 1);
  assert_int_equal(site_of(&p, "h1")->bytes, 1000000);
  assert_int_equal(p.plan.calls[0].bytes, 10);
  assert_true(p.plan.calls[0].weight > 400000);
  expect_all_told_apart(&p, contexts, 2);
  close_planned(&p);
}

/* p1 is called by what it calls: folding leaves s3 and d1 out, but their bits would be set. */
static void recursive_sites_are_not_chosen(void **state) {
  const context contexts[] = {{COLD, 900, "x1 s1 d1 p1 m1"},
                              {COLD, 900, "x1 s2 d1 p1 m1"},
                              {HOT, 9000, "x1 r1 d2 p1 s3 d1 p1 m1"},
                              {HOT, 9000, "x1 r2 d2 p1 s3 d1 p1 m1"}};
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH), *sum = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_profile_summary run = one_run();
  hearth_error err;
  (void)state;
  hearth_builder_fold_recursion(builder, true);
  expect_ok(hearth_builder_add_run(builder, &run, &err), &err);
  for (size_t i = 0; i < COUNT(contexts); i++)
    add(builder, &contexts[i]);
  bytes alone = write_bytes(builder);
  add_bytes(sum, alone); /* knows of them, too */
  bytes folded = write_bytes(sum);
  planned p = open_planned_bytes(plan_of(folded, NULL));
  assert_int_equal(hearth_profile_context_count(p.profile), 4);
  assert_null(site_of(&p, "d1"));
  assert_null(site_of(&p, "s3"));
  expect_all_told_apart(&p, contexts, COUNT(contexts));
  close_planned(&p);
  free(alone.data);
  free(folded.data);
  hearth_builder_destroy(builder);
  hearth_builder_destroy(sum);
}

static void classes_are_those_that_are_asked_for(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 m1"}, {COLD, 1000, "x1 h1 m2"}};
  hearth_classify_options classify = {.mode = HEARTH_CLASSIFY_LLVM};
  const hearth_plan_options options = {.classify = &classify};
  (void)state;
  planned p = open_planned(contexts, COUNT(contexts), &options); /* of too short a run */
  assert_int_equal(p.plan.table_count, 0);
  close_planned(&p);
  classify.llvm_cold_lifetime_s = 1;
  p = open_planned(contexts, COUNT(contexts), &options);
  assert_int_equal(conclude(&p, "x1 h1 m1"), POOL);
  assert_int_equal(conclude(&p, "x1 h1 m2"), COLD);
  close_planned(&p);
  classify = (hearth_classify_options){.hot_share_ppm = 1}; /* less than any that profiles store */
  p = open_planned(contexts, COUNT(contexts), &options);
  assert_int_equal(conclude(&p, "x1 h1 m1"), POOL);
  assert_int_equal(conclude(&p, "x1 h1 m2"), COLD);
  close_planned(&p);
}

/* -------------------------------------------------- lost bits ------------------------------------------------ */

/* Whatever bits get lost: what no bits tell of is not cold, and only cold contexts have bits of the mask. */
static void expect_losses_make_nothing_cold(const planned *p) {
  for (uint32_t i = 0; i < p->plan.table_count; i++) {
    const hearth_plan_table *table = &p->plan.tables[i];
    if (table->mask && (table->placements[0] == COLD || table->right_bytes[1] < table->bytes[1] / 100 * 95))
      fail_msg("table %u: %lu of %lu bytes with bits are cold", i, (unsigned long)table->right_bytes[1],
               (unsigned long)table->bytes[1]);
  }
}

/* Contexts that go through what others go through, and on from there. */
static void bits_that_get_lost_make_nothing_cold(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 m1"},       {COLD, 900, "x1 h1 g1 m1"},
                              {COLD, 800, "x1 h2 g1 m1"},    {HOT, 700, "x1 h2 g2 m2"},
                              {HOT, 600, "x1 h2 g2 f1 m1"},  {COLD, 500, "x1 k1 h1 g1 m1"},
                              {COLD, 4000, "y1 h1 g1 m1"},   {HOT, 30, "y1 k1 h1 g1 m1"},
                              {HOT, 4000, "y1 k2 h1 g1 m1"}, {COLD, 3000, "y1 k3 h1 f1 m2"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  expect_losses_make_nothing_cold(&p);
  assert_int_not_equal(conclude(&p, "x1 z1"), COLD);
  assert_int_not_equal(conclude(&p, "y1 z1"), COLD);
  expect_all_told_apart(&p, contexts, 6);
  close_planned(&p);
}

static void random_plans_make_nothing_cold(void **state) {
  enum { CONTEXTS = 60, FRAMES = 6 };
  static char frames[CONTEXTS][3 * FRAMES + 1];
  uint64_t seed = 11;
  (void)state;
  for (int round = 0; round < 50; round++) {
    context contexts[CONTEXTS];
    for (int i = 0; i < CONTEXTS; i++) {
      char *at = frames[i];
      at += sprintf(at, "%c1", "xyz"[next_random(&seed) % 3]);
      for (uint64_t depth = 1 + next_random(&seed) % (FRAMES - 1); depth > 0; depth--)
        at += sprintf(at, " %c%c", (char)('a' + next_random(&seed) % 6), (char)('1' + next_random(&seed) % 4));
      contexts[i] = (context){next_random(&seed) % 2 ? HOT : COLD, 1 + next_random(&seed) % 5000, frames[i]};
    }
    planned p = open_planned(contexts, CONTEXTS, NULL);
    expect_losses_make_nothing_cold(&p);
    close_planned(&p);
  }
}

/* Memory that rests for most of its life lies apart, but is not cold: also where other contexts of the call are. */
static void dormant_blocks_lie_apart(void **state) {
  const context contexts[] = {{DORMANT, 100000, "x1 h1 m1"},
                              {HOT, 100000, "x1 h2 m1"},
                              {COLD, 100000, "x1 h3 m1"},
                              {DORMANT, 100000, "y1 h2 m1"},
                              {COLD, 100000, "z1 h2 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_true(p.plan.has_dormant);
  assert_int_equal(p.plan.call_count, 1);
  assert_int_equal(p.plan.pools[HEARTH_PLAN_CALLS_MAX], HEARTH_POOLS_MAX);
  assert_int_equal(conclude(&p, "x1 h1 m1"), HEARTH_PLACEMENT_DORMANT);
  assert_int_equal(conclude(&p, "x1 h3 m1"), HEARTH_PLACEMENT_DORMANT);
  assert_int_equal(conclude(&p, "x1 h2 m1"), POOL);
  uint32_t of[HEARTH_PLACEMENTS] = {0};
  for (uint32_t i = 0; i < COUNT(contexts); i++)
    of[hearth_plan_placement_of(&p.plan, i)]++;
  assert_int_equal(of[HEARTH_PLACEMENT_DORMANT], 2);
  assert_int_equal(of[COLD], 2);
  assert_int_equal(of[POOL], 1);
  close_planned(&p);
}

/* Where nothing differs a plan has placements and no tables. Light contexts have none. */
/* Large blocks lie page by page: a site that tells them from others would gain nothing. */
static void large_blocks_are_not_dormant(void **state) {
  const uint64_t most = UINT64_C(10) * HEARTH_POOLED_BYTES_MAX;
  (void)state;
  for (uint64_t more = 0; more < 2; more++) {
    const context contexts[] = {{DORMANT, most + more, "x1 h1 m1"}, {HOT, most, "x1 h2 m1"}};
    planned p = open_planned(contexts, COUNT(contexts), NULL);
    assert_int_equal(p.plan.has_dormant, !more);
    assert_int_equal(p.plan.site_count, !more);
    close_planned(&p);
  }
}

static void contexts_have_placements(void **state) {
  const context contexts[] = {
      {HOT, 100000, "x1 h1 m1"}, {HOT, 100000, "x1 h2 m1"}, {COLD, 100000, "y1 h2 m1"}, {COLD, 1, "z1 h2 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.site_count, 0);
  assert_int_equal(p.plan.table_count, 0);
  assert_int_equal(p.plan.call_count, 1);
  assert_int_equal(p.plan.calls[0].contexts, 2);
  assert_int_equal(p.plan.calls[0].bytes, 200000);
  assert_int_equal(p.plan.context_count, COUNT(contexts));
  for (uint32_t i = 0; i < COUNT(contexts); i++) {
    hearth_mib mib;
    hearth_error err;
    expect_ok(hearth_profile_get_context(p.profile, i, NULL, &mib, &err), &err);
    assert_int_equal(hearth_plan_placement_of(&p.plan, i), mib.TotalAccessCount ? POOL
                                                           : mib.TotalSize == 1 ? UNKNOWN
                                                                                : COLD);
  }
  assert_int_equal(hearth_plan_placement_of(&p.plan, COUNT(contexts)), UNKNOWN);
  close_planned(&p);
}

static void there_is_no_plan_without_contexts(void **state) {
  bytes bare = profile_of(NULL, 0, false), same = plan_of(bare, NULL);
  (void)state;
  expect_equal_bytes(bare, same);
  free(bare.data);
  free(same.data);
}

/* -------------------------------------------------- pool ids ------------------------------------------------- */

static void heavy_calls_have_ids(void **state) {
  enum { CALLS = 40 };
  static char frames[CALLS][6];
  context contexts[CALLS];
  (void)state;
  for (int i = 0; i < CALLS; i++) {
    snprintf(frames[i], sizeof frames[i], "%c%c m1", 'a' + i / 9, '1' + i % 9);
    contexts[i] = (context){HOT, 1000 + (uint64_t)(i * 7 % CALLS), frames[i]};
  }
  planned p = open_planned(contexts, CALLS, NULL);
  assert_int_equal(p.plan.call_count, HEARTH_PLAN_CALLS_MAX);
  for (uint32_t i = 0; i < HEARTH_PLAN_CALLS_MAX; i++)
    assert_int_equal(p.plan.calls[i].bytes, 1000 + CALLS - 1 - i);
  for (uint32_t i = 0; i < CALLS; i++) {
    hearth_mib mib;
    hearth_error err;
    expect_ok(hearth_profile_get_context(p.profile, i, NULL, &mib, &err), &err);
    uint64_t rank = 1000 + CALLS - 1 - mib.TotalSize;
    assert_int_equal(hearth_plan_placement_of(&p.plan, i),
                     rank < HEARTH_PLAN_CALLS_MAX ? POOL + rank : (uint64_t)HEARTH_CLASS_NOTCOLD);
  }
  close_planned(&p);
}

/* Calls in code without source get none: no hint reaches them. */
static void calls_without_place_have_no_id(void **state) {
  const context contexts[] = {{HOT, 9000, "l? x1 m1"}, {HOT, 1000, "x1 m1"}};
  planned p = open_planned(contexts, COUNT(contexts), NULL);
  (void)state;
  assert_int_equal(p.plan.call_count, 1);
  assert_int_equal(p.plan.calls[0].bytes, 1000);
  close_planned(&p);
}

/* -------------------------------------------------- layouts -------------------------------------------------- */

static void layouts_are_texts(void **state) {
  const struct {
    const char *text;
    uint32_t calls;
    const char *printed; /* NULL: refused */
    bool has_dormant;
  } rows[] = {{"one", 4, "0"},
              {"one", 4, "000000000000000000000000000000v", true},
              {"calls", 4, "1234"},
              {"calls", 0, "0"},
              {"calls", 2, "120000000000000000000000000000v", true},
              {"0", 4, "0", true},
              {"0012", 4, "0012"},
              {"0012000", 4, "0012"},
              {"0012", 3, NULL},
              {"9av", 30, "9av"},
              {"w", 30, NULL},
              {"", 30, NULL},
              {"A", 30, NULL},
              {"warm", 30, NULL},
              {"0000000000000000000000000000001", 30, NULL},
              {"0000000000000000000000000000001", 4, "0000000000000000000000000000001", true},
              {"00000000000000000000000000000001", 30, NULL, true},
              {"calls", 30, "123456789abcdefghijklmnopqrstuv", true}};
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    uint8_t pools[HEARTH_POOLS_MAX + 1];
    char text[HEARTH_POOLS_MAX + 1];
    hearth_error err;
    hearth_status status = hearth_layout_parse(rows[i].text, rows[i].calls, rows[i].has_dormant, pools, &err);
    assert_int_equal(status, rows[i].printed ? HEARTH_OK : HEARTH_E_USAGE);
    if (status != HEARTH_OK)
      continue;
    hearth_layout_print(pools, text);
    assert_string_equal(text, rows[i].printed);
  }
}

/* Set later or asked for at once, it is the same; but for layout and tuning, nothing changes. */
static void layouts_are_set_in_place(void **state) {
  const context contexts[] = {{HOT, 1000, "x1 h1 m1"}, {COLD, 1000, "x1 h2 m1"}, {HOT, 900, "y1"}};
  const hearth_plan_options asked = {.layout = "01"};
  const hearth_plan_tuning tuning = {HEARTH_TUNING_MEMORY, 7, 1000001, 900000, 20000, 30000};
  bytes bare = profile_of(contexts, COUNT(contexts), false), with = plan_of(bare, &asked), set, back;
  planned p = open_planned_bytes(plan_of(bare, NULL));
  hearth_error err;
  (void)state;
  expect_ok(hearth_plan_set_layout(p.profile, "01", NULL, &set.data, &set.size, &err), &err);
  expect_equal_bytes(set, with);
  free(set.data);
  expect_ok(hearth_plan_set_layout(p.profile, "1", &tuning, &set.data, &set.size, &err), &err);
  planned tuned = open_planned_bytes(set);
  assert_int_equal(tuned.plan.id, p.plan.id);
  assert_int_equal(tuned.plan.pools[0], 1);
  assert_int_equal(tuned.plan.pools[1], 0);
  assert_memory_equal(&tuned.plan.tuning, &tuning, sizeof tuning);
  expect_ok(hearth_plan_set_layout(tuned.profile, "one", NULL, &back.data, &back.size, &err), &err);
  expect_equal_bytes(back, p.b);
  assert_int_equal(hearth_plan_set_layout(p.profile, "001", NULL, &set.data, &set.size, &err), HEARTH_E_USAGE);
  hearth_profile *unplanned = open_bytes(bare);
  assert_int_equal(hearth_plan_set_layout(unplanned, "one", NULL, &set.data, &set.size, &err), HEARTH_E_EMPTY);
  hearth_profile_close(unplanned);
  close_planned(&tuned);
  close_planned(&p);
  free(back.data);
  free(with.data);
  free(bare.data);
}

/* ------------------------------------------------ determinism ------------------------------------------------ */

static const context many[] = {{HOT, 1000, "x1 h1 g1 m1"}, {COLD, 1000, "x1 h1 g2 m1"}, {COLD, 1000, "x1 h2 g3 m1"},
                               {HOT, 1000, "x1 h2 g4 m2"}, {HOT, 1000, "y1 h1 g1 m1"},  {COLD, 1000, "y1 h2 g1 m1"},
                               {HOT, 1000, "z1 f1 m3"},    {COLD, 1000, "z1 f2 m3"}};

static void equal_profiles_have_equal_plans(void **state) {
  bytes b[] = {profile_of(many, COUNT(many), false), profile_of(many, COUNT(many), true)};
  bytes p[] = {plan_of(b[0], NULL), plan_of(b[1], NULL)};
  (void)state;
  expect_equal_bytes(p[0], p[1]);
  bytes again = plan_of(p[0], NULL); /* takes the place of the plan that is there */
  expect_equal_bytes(p[0], again);
  for (int i = 0; i < 2; i++) {
    free(b[i].data);
    free(p[i].data);
  }
  free(again.data);
}

/* A plan is no part of what is summed: it is made anew of the sum. */
static void merges_leave_plans_behind(void **state) {
  bytes bare = profile_of(many, COUNT(many), false), with = plan_of(bare, NULL);
  (void)state;
  bytes copy = merge_bytes(&with, 1);
  expect_equal_bytes(copy, bare);
  free(bare.data);
  free(with.data);
  free(copy.data);
}

/* -------------------------------------------------- damage --------------------------------------------------- */

typedef struct sections {
  hearth_indexed_section *row;
  hearth_indexed_plan *plan;
  hearth_plan_site *sites;
  hearth_plan_table *tables;
  hearth_plan_call *calls;
  hearth_placement *placements;
} sections;

static sections find_sections(bytes b) {
  hearth_indexed_header *header = b.data;
  hearth_indexed_section *rows = (hearth_indexed_section *)(header + 1);
  sections s = {0};
  for (uint32_t i = 0; i < header->section_count; i++)
    if (rows[i].id == HEARTH_SECTION_PLAN)
      s.row = &rows[i];
  assert_non_null(s.row);
  s.plan = (hearth_indexed_plan *)((uint8_t *)b.data + s.row->offset);
  s.sites = (hearth_plan_site *)(s.plan + 1);
  s.tables = (hearth_plan_table *)(s.sites + s.plan->site_count);
  s.calls = (hearth_plan_call *)(s.tables + s.plan->table_count);
  s.placements = (hearth_placement *)(s.calls + s.plan->call_count);
  return s;
}

static void expect_refused(bytes b, const char *message) {
  hearth_plan plan;
  hearth_error err;
  reseal(b.data, b.size);
  hearth_profile *profile = open_bytes(b);
  assert_int_equal(hearth_profile_get_plan(profile, &plan, &err), HEARTH_E_CORRUPT);
  assert_int_equal(plan.id, 0);
  if (!strstr(err.message, message) || !strstr(err.message, "memory: "))
    fail_msg("'%s' is not in '%s'", message, err.message);
  assert_int_equal(hearth_profile_verify(profile, &err), HEARTH_E_CORRUPT);
  hearth_profile_close(profile);
}

static void impossible_plans_are_refused(void **state) {
  bytes bare = profile_of(many, COUNT(many), false), b = plan_of(bare, NULL);
  sections s = find_sections(b);
  (void)state;
  assert_in_range(s.plan->site_count, 3, 64);
  assert_int_equal(s.plan->table_count, 3);
#define REFUSED(field, value, message)                                                                                 \
  do {                                                                                                                 \
    __typeof__(field) kept = (field);                                                                                  \
    (field) = (value);                                                                                                 \
    expect_refused(b, message);                                                                                        \
    (field) = kept;                                                                                                    \
  } while (0)
  REFUSED(s.row->size, 16, "the plan is cut short");
  REFUSED(s.row->size, s.row->size - 8, "the plan has a wrong size");
  REFUSED(s.plan->id, 0, "the plan has a wrong size or no id");
  REFUSED(s.plan->site_count, s.plan->site_count + 1, "wrong size");
  REFUSED(s.plan->table_count, UINT32_MAX, "wrong size");
  REFUSED(s.sites[0].bit, HEARTH_PLAN_SITES_MAX, "decision site 0 is impossible");
  REFUSED(s.sites[0].is_alone, 2, "decision site 0 is impossible");
  REFUSED(s.sites[0].reserved, 1, "decision site 0 is impossible");
  REFUSED(s.sites[1].frame, 1000, "decision site 1 is impossible");
  REFUSED(s.sites[1].stack_id, s.sites[0].stack_id, "decision site 1 is impossible");
  REFUSED(s.sites[1].bit, s.sites[0].bit, "decision site 1 is impossible");
  REFUSED(s.tables[2].frame, 1000, "table 2 of the plan is impossible");
  REFUSED(s.tables[2].stack_id, 0, "table 2 of the plan is impossible");
  REFUSED(s.tables[0].mask, 0, "table 0 of the plan is impossible");
  REFUSED(s.tables[0].mask, s.tables[0].mask | UINT64_C(1) << 60, "table 0 of the plan is impossible");
  REFUSED(s.tables[0].placements[0], POOL + 3, "table 0 of the plan is impossible");
  REFUSED(s.tables[1].placements[1], POOL + 3, "table 1 of the plan is impossible");
  REFUSED(s.tables[0].right_bytes[1], s.tables[0].bytes[1] + 1, "table 0 of the plan is impossible");
  REFUSED(s.tables[0].reserved, 1, "table 0 of the plan is impossible");
  REFUSED(s.plan->call_count, HEARTH_PLAN_CALLS_MAX + 1, "wrong size");
  REFUSED(s.plan->tuning, HEARTH_TUNINGS, "wrong size");
  REFUSED(s.plan->pools[0], HEARTH_POOLS_MAX + 1, "the layout has no such pool for id 1");
  REFUSED(s.plan->pools[3], 1, "the layout has no such pool for id 4");
  REFUSED(s.plan->context_count, s.plan->context_count - 1, "the plan is of other contexts");
  REFUSED(s.calls[0].hotness, COLD, "call 0 of the plan is impossible");
  REFUSED(s.calls[0].reserved, 1, "call 0 of the plan is impossible");
  REFUSED(s.calls[1].frame, 1000, "call 1 of the plan is impossible");
  REFUSED(s.calls[1].weight, UINT64_MAX, "call 1 of the plan is impossible");
  REFUSED(s.placements[1], POOL + 3, "the plan has no call for context 1");
#undef REFUSED
  free(bare.data);
  free(b.data);
}

/* Damage that carries right checksums: any answer will do, a crash or a hang will not. */
static void damaged_profiles_are_planned_or_refused(void **state) {
  bytes bare = profile_of(many, COUNT(many), false), b = plan_of(bare, NULL), copy = {malloc(b.size), b.size};
  uint64_t seed = 7;
  (void)state;
  for (int round = 0; round < 2000; round++) {
    hearth_profile *profile;
    hearth_error err;
    bytes made;
    hearth_plan plan;
    memcpy(copy.data, b.data, b.size);
    for (int i = 0; i <= round % 3; i++)
      ((uint8_t *)copy.data)[next_random(&seed) % b.size] = (uint8_t)next_random(&seed);
    reseal(copy.data, copy.size);
    if (hearth_profile_open_memory(copy.data, copy.size, "memory", &profile, &err) != HEARTH_OK)
      continue;
    hearth_profile_get_plan(profile, &plan, &err);
    if (make_plan(profile, NULL, &made.data, &made.size, &err) == HEARTH_OK)
      free(made.data);
    hearth_profile_close(profile);
  }
  free(bare.data);
  free(b.data);
  free(copy.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bit_tells_a_cold_caller),
      cmocka_unit_test(sites_prove_by_themselves),
      cmocka_unit_test(outer_sites_are_preferred),
      cmocka_unit_test(few_sites_are_preferred),
      cmocka_unit_test(sites_have_bits_of_their_own),
      cmocka_unit_test(sites_that_meet_themselves_are_not_alone),
      cmocka_unit_test(sites_that_one_allocation_sees_have_bits_of_their_own),
      cmocka_unit_test(there_are_no_more_sites_than_bits),
      cmocka_unit_test(sites_that_others_make_needless_are_dropped),
      cmocka_unit_test(sites_are_worth_their_bits),
      cmocka_unit_test(bits_are_worth_reading),
      cmocka_unit_test(mixtures_are_seldom_cold),
      cmocka_unit_test(bytes_weigh_as_much_as_they_are_used),
      cmocka_unit_test(recursive_sites_are_not_chosen),
      cmocka_unit_test(classes_are_those_that_are_asked_for),
      cmocka_unit_test(bits_that_get_lost_make_nothing_cold),
      cmocka_unit_test(random_plans_make_nothing_cold),
      cmocka_unit_test(dormant_blocks_lie_apart),
      cmocka_unit_test(large_blocks_are_not_dormant),
      cmocka_unit_test(contexts_have_placements),
      cmocka_unit_test(heavy_calls_have_ids),
      cmocka_unit_test(calls_without_place_have_no_id),
      cmocka_unit_test(layouts_are_texts),
      cmocka_unit_test(layouts_are_set_in_place),
      cmocka_unit_test(there_is_no_plan_without_contexts),
      cmocka_unit_test(equal_profiles_have_equal_plans),
      cmocka_unit_test(merges_leave_plans_behind),
      cmocka_unit_test(impossible_plans_are_refused),
      cmocka_unit_test(damaged_profiles_are_planned_or_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
