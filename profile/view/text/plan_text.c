/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --plan`: each choice of the plan and its worth. */
#include <inttypes.h>

#include "amount.h"
#include "file.h"
#include "plan_view.h"
#include "print.h"

/* "name  file:line:column", or "name  library" */
static hearth_status print_place(hearth_plan_view *v, uint32_t row, FILE *stream, hearth_error *err) {
  hearth_place place;
  HEARTH_TRY(hearth_place_get(v->profile, &v->names, row, &place, err));
  hearth_print_name(place.function.name, 0, stream);
  fputs("  ", stream);
  hearth_print_name(*place.function.path ? place.function.path : "?", 0, stream);
  if (place.frame.stack_id)
    fprintf(stream, ":%" PRIu32 ":%" PRIu32, place.line, place.frame.column);
  return HEARTH_OK;
}

static hearth_status print_sites(hearth_plan_view *v, FILE *stream, hearth_error *err) {
  fprintf(stream,
          "\nDecision sites: bit, weight that is right because of it, blocks allocated while it is being called\n");
  for (uint32_t i = 0; i < v->plan.site_count; i++) {
    const hearth_plan_site *site = v->sites[i];
    fprintf(stream, "  %2" PRIu32 " %10s %12" PRIu64 "  ", site->bit, hearth_amount_bytes(site->bytes).c, site->allocs);
    HEARTH_TRY(print_place(v, site->frame, stream, err));
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static void print_bits(uint64_t bits, FILE *stream) {
  const char *separator = "";
  for (int bit = 0; bit < 64; bit++)
    if (bits >> bit & 1) {
      fprintf(stream, "%s%d", separator, bit);
      separator = "+";
    }
  if (!bits)
    fputs("none", stream);
}

static void print_entry(const hearth_plan_entry *entry, FILE *stream) {
  fputs("    bits ", stream);
  print_bits(entry->bits, stream);
  fprintf(stream, ": %s; %s",
          entry->placement ? hearth_placement_name((hearth_placement)entry->placement) : "ambiguous",
          hearth_amount_bytes(entry->bytes).c);
  if (entry->placement && entry->right_bytes < entry->bytes)
    fprintf(stream, ", of others %s", hearth_amount_bytes(entry->bytes - entry->right_bytes).c);
  fputc('\n', stream);
}

static hearth_status print_table(hearth_plan_view *v, const hearth_plan_table *table, FILE *stream, hearth_error *err) {
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(&v->plan, table, &count);
  uint64_t left = hearth_plan_table_bytes_left(v, table);
  fputs("  ", stream);
  HEARTH_TRY(print_place(v, table->frame, stream, err));
  fputc('\n', stream);
  for (uint32_t i = 0; i < count; i++)
    print_entry(&entries[i], stream);
  if (left && !table->mask)
    fprintf(stream,
            "    no site is worth its while here: --min-gain, --max-sites, or its contexts share all callers\n");
  else if (left)
    fprintf(stream,
            "    %s remain: contexts go through none of the decision sites, or those of several placements through the "
            "same\n",
            hearth_amount_bytes(left).c);
  return HEARTH_OK;
}

/* A prediction, in thousandths. */
static double number(uint64_t thousandths) { return (double)thousandths / 1000; }

static const hearth_plan_layout *layout_of(const hearth_plan *plan, enum hearth_layout which) {
  for (uint32_t i = 0; i < plan->layout_count; i++)
    if (plan->layouts[i].layout == which)
      return &plan->layouts[i];
  return NULL;
}

/* Per cent of the time that a layout saves. */
static double saving(const hearth_plan_layout *layout) { return layout ? (1e6 - (double)layout->time_ppm) / 1e4 : 0; }

static void print_reason(const hearth_plan *plan, FILE *stream) {
  const hearth_plan_layout *none = layout_of(plan, HEARTH_LAYOUT_NONE);
  double gain = saving(layout_of(plan, plan->layout)), warm = saving(layout_of(plan, HEARTH_LAYOUT_WARM));
  if (none && none->lines == 0)
    fputs("  nothing is known of accesses: classes are all there is to go by\n", stream);
  else if (plan->layout <= HEARTH_LAYOUT_COLD)
    fputs("  no pools: less than 1 % of the time would be gained\n", stream);
  else if (plan->layout == HEARTH_LAYOUT_WARM)
    fprintf(stream, "  %s is to save %.1f %% of the time, and more pools not much more\n",
            hearth_layout_name(plan->layout), gain);
  else
    fprintf(stream, "  %s is to save %.1f %% of the time, one pool %.1f %%\n", hearth_layout_name(plan->layout), gain,
            warm);
}

static void print_layouts(const hearth_plan *plan, FILE *stream) {
  if (plan->layout_count == 0)
    return;
  fputs(
      "\nLayouts: pools; lines, pages and huge pages that a window touches; cycles of its misses; memory at the peak, "
      "on average; time to that without hints\n",
      stream);
  for (uint32_t i = 0; i < plan->layout_count; i++) {
    const hearth_plan_layout *l = &plan->layouts[i];
    fprintf(stream, "  %c %-6s %2" PRIu32 " %10.1f %9.1f %8.1f %12.0f %10s %10s %6.3f\n",
            l->layout == plan->layout ? '*' : ' ', hearth_layout_name((enum hearth_layout)l->layout), l->pool_count,
            number(l->lines), number(l->pages), number(l->huge_pages), number(l->cycles),
            hearth_amount_bytes(l->peak_bytes).c, hearth_amount_bytes(l->steady_bytes).c, (double)l->time_ppm / 1e6);
  }
  print_reason(plan, stream);
}

static void print_pools(const hearth_plan *plan, FILE *stream) {
  if (plan->pool_count)
    fputs("\nPools: contexts, bytes, blocks, accesses; memory; lines, pages and huge pages that a window touches\n",
          stream);
  for (uint32_t i = 0; i < plan->pool_count; i++) {
    const hearth_plan_pool *pool = &plan->pools[i];
    fprintf(stream, "  %2" PRIu32 " %8" PRIu32 " %10s %12" PRIu64 " %14" PRIu64 " %10s %10.1f %9.1f %8.1f\n", i,
            pool->contexts, hearth_amount_bytes(pool->bytes).c, pool->allocs, pool->accesses,
            hearth_amount_bytes(pool->memory).c, number(pool->lines), number(pool->pages), number(pool->huge_pages));
  }
}

static hearth_status print_plan(hearth_plan_view *v, FILE *stream, hearth_error *err) {
  uint64_t bits = 0, left = 0;
  for (uint32_t i = 0; i < v->plan.site_count; i++)
    bits |= UINT64_C(1) << v->plan.sites[i].bit;
  if (!v->plan.id) {
    fputs("no plan: no context has a placement ('hearth plan' makes plans)\n", stream);
    return HEARTH_OK;
  }
  fprintf(stream,
          "plan %016" PRIx64 ": layout %s, %" PRIu32 " pool%s, %" PRIu32 " decision site%s in %d bit%s for %" PRIu32
          " allocation call%s\n",
          v->plan.id, hearth_layout_name(v->plan.layout), v->plan.pool_count, hearth_plural(v->plan.pool_count),
          v->plan.site_count, hearth_plural(v->plan.site_count), __builtin_popcountll(bits),
          hearth_plural((uint64_t)__builtin_popcountll(bits)), v->plan.table_count, hearth_plural(v->plan.table_count));
  print_layouts(&v->plan, stream);
  print_pools(&v->plan, stream);
  if (v->plan.site_count)
    HEARTH_TRY(print_sites(v, stream, err));
  if (!v->plan.table_count)
    return HEARTH_OK;
  fprintf(stream, "\nAllocation calls: placement and bytes by the bits that are set\n");
  for (uint32_t i = 0; i < v->plan.table_count; i++) {
    HEARTH_TRY(print_table(v, v->tables[i], stream, err));
    left += hearth_plan_table_bytes_left(v, v->tables[i]);
  }
  fprintf(stream, "\n%s get a placement that is not theirs\n", hearth_amount_bytes(left).c);
  return HEARTH_OK;
}

hearth_status hearth_plan_print_text(hearth_profile *profile, FILE *stream, hearth_error *err) {
  hearth_plan_view v;
  hearth_status status = hearth_plan_view_init(&v, profile, err);
  if (status == HEARTH_OK)
    status = print_plan(&v, stream, err);
  hearth_plan_view_destroy(&v);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
