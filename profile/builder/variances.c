/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Variances between runs: an array beside the contexts. While a run is added, its own sums are kept by context, since several
 * of its records may be of one; at its end each gives one observation. */
#include <stdlib.h>

#include "builder_tables.h"
#include "hearth/expect.h"

void hearth_builder_free_variances(builder_variances *variances) {
  free(variances->rows);
  free(variances->run);
  free(variances->run_rows);
}

static void forget_run(builder_variances *s) {
  for (size_t i = 0; i < s->run_count; i++)
    s->run_rows[s->run[i].context] = HEARTH_NONE;
  s->run_count = 0;
}

void hearth_builder_begin_run(hearth_builder *builder) {
  forget_run(&builder->variances);
  builder->variances.in_run = true;
}

static hearth_status run_row(hearth_builder *builder, size_t context, builder_run_sums **ret, hearth_error *err) {
  builder_variances *s = &builder->variances;
  size_t more = context < s->run_row_count ? 0 : context + 1 - s->run_row_count;
  HEARTH_TRY(hearth_rows_reserve(&s->run_rows, &s->run_row_room, s->run_row_count, more, sizeof *s->run_rows, err));
  for (; more > 0; more--)
    s->run_rows[s->run_row_count++] = HEARTH_NONE;
  if (s->run_rows[context] == HEARTH_NONE) {
    HEARTH_TRY(hearth_rows_reserve(&s->run, &s->run_room, s->run_count, 1, sizeof *s->run, err));
    s->run_rows[context] = (uint32_t)s->run_count;
    s->run[s->run_count++] = (builder_run_sums){.context = (uint32_t)context};
  }
  *ret = &s->run[s->run_rows[context]];
  return HEARTH_OK;
}

hearth_status hearth_builder_note_in_run(hearth_builder *builder, size_t context, const hearth_mib *mib,
                                         hearth_error *err) {
  builder_run_sums *sums;
  if (!builder->variances.in_run)
    return HEARTH_OK;
  HEARTH_TRY(run_row(builder, context, &sums, err));
  sums->allocs = hearth_merge_SUM(sums->allocs, mib->AllocCount);
  sums->bytes = hearth_merge_SUM(sums->bytes, mib->TotalSize);
  sums->accesses = hearth_merge_SUM(sums->accesses, mib->TotalAccessCount);
  sums->lifetime = hearth_merge_SUM(sums->lifetime, mib->TotalLifetime);
  return HEARTH_OK;
}

static bool are_unrecorded(const hearth_builder *builder) {
  return builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount;
}

static hearth_status variance_add_row(hearth_builder *builder, size_t context, const hearth_variance *variance,
                                      hearth_error *err) {
  builder_variances *s = &builder->variances;
  hearth_expect(context < builder->context_count);
  HEARTH_TRY(hearth_rows_extend(&s->rows, &s->room, &s->count, context + 1, sizeof *s->rows, err));
  hearth_variance_add(&s->rows[context], variance, builder->weight);
  return HEARTH_OK;
}

static hearth_status observe_run(hearth_builder *builder, uint64_t duration_ns, hearth_error *err) {
  const builder_variances *s = &builder->variances;
  hearth_mib mib = {{0}};
  for (size_t i = 0; i < s->run_count; i++) {
    hearth_variance variance;
    mib.AllocCount = s->run[i].allocs;
    mib.TotalSize = s->run[i].bytes;
    mib.TotalAccessCount = s->run[i].accesses;
    mib.TotalLifetime = s->run[i].lifetime;
    hearth_variance_of_run(&mib, duration_ns, &variance);
    HEARTH_TRY(variance_add_row(builder, s->run[i].context, &variance, err));
  }
  return HEARTH_OK;
}

static bool is_observed(const hearth_builder *builder, const hearth_profile_summary *run) {
  return run->runs == 1 && run->accesses_counted && !run->accesses_estimated && !are_unrecorded(builder);
}

hearth_status hearth_builder_end_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err) {
  hearth_status status = is_observed(builder, run) ? observe_run(builder, run->duration_ns, err) : HEARTH_OK;
  forget_run(&builder->variances);
  builder->variances.in_run = false;
  return status;
}

hearth_status hearth_builder_add_variance(hearth_builder *builder, uint32_t node, const hearth_variance *variance,
                                          hearth_error *err) {
  hearth_expect(node < builder->node_count);
  uint32_t context = builder->nodes[node].context;
  if (context == HEARTH_NONE || variance->runs == 0 || are_unrecorded(builder))
    return HEARTH_OK;
  return variance_add_row(builder, context, variance, err);
}

hearth_variance hearth_builder_variance(const hearth_builder *builder, size_t context) {
  return context < builder->variances.count ? builder->variances.rows[context] : (hearth_variance){{0}};
}

static bool variances_are_equal(const hearth_variance *a, const hearth_variance *b) {
  uint64_t difference = 0;
  for (size_t i = 0; i < HEARTH_VARIANCE_SUMS; i++)
    difference |= a->sums[i] ^ b->sums[i];
  return difference == 0;
}

bool hearth_builder_is_one_run(const hearth_builder *builder) {
  if (builder->variances.count == 0)
    return true;
  if (!is_observed(builder, &builder->runs))
    return false;
  for (size_t i = 0; i < builder->context_count; i++) {
    hearth_mib mib;
    hearth_variance found = hearth_builder_variance(builder, i), expected;
    hearth_mib_rows_get(&builder->mibs, i, &mib);
    hearth_variance_of_run(&mib, builder->runs.duration_ns, &expected);
    if (!variances_are_equal(&found, &expected))
      return false;
  }
  return true;
}
