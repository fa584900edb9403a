/* `hearth show --plan`: each choice of the plan and what it is worth. */
#include <inttypes.h>

#include "file.h"
#include "hearth/plan.h"
#include "names.h"
#include "print.h"
#include "units.h"

typedef struct plan_view {
  hearth_profile *profile;
  hearth_names names;
  hearth_plan plan;
  FILE *stream;
} plan_view;

/* "name  file:line:column" */
static hearth_status print_place(plan_view *v, uint32_t row, hearth_error *err) {
  hearth_frame_info frame;
  hearth_function_text function;
  HEARTH_TRY(hearth_profile_get_frame(v->profile, row, &frame, err));
  HEARTH_TRY(hearth_function_text_get(&v->names, frame.function, &function, err));
  hearth_print_name(function.name, 0, v->stream);
  fputs("  ", v->stream);
  hearth_print_name(*function.path ? function.path : "?", 0, v->stream);
  fprintf(v->stream, ":%" PRIu32 ":%" PRIu32, function.info.start_line + frame.line, frame.column);
  return HEARTH_OK;
}

static hearth_status print_sites(plan_view *v, hearth_error *err) {
  fprintf(v->stream, "\nDecision sites: bit, bytes that it put right, blocks allocated while it is being called\n");
  for (uint32_t i = 0; i < v->plan.site_count; i++) {
    const hearth_plan_site *site = &v->plan.sites[i];
    fprintf(v->stream, "  %2" PRIu32 " %10s %12" PRIu64 "  ", site->bit, hearth_units_bytes(site->bytes).c,
            site->allocs);
    HEARTH_TRY(print_place(v, site->frame, err));
    fputc('\n', v->stream);
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

/* What an entry's hint is wrong for: bytes of other classes than its own, or all where it has none. */
static uint64_t bytes_left(const hearth_plan_entry *entry) {
  uint64_t sum = 0;
  for (uint32_t c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    sum += c == entry->hotness ? 0 : entry->bytes[c];
  return sum;
}

static void print_entry(const plan_view *v, const hearth_plan_entry *entry) {
  fputs("    bits ", v->stream);
  print_bits(entry->bits, v->stream);
  fprintf(v->stream, ": %s;", entry->hotness ? hearth_class_name((hearth_class)entry->hotness) : "ambiguous");
  for (hearth_class c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (entry->bytes[c])
      fprintf(v->stream, " %s %s", hearth_class_name(c), hearth_units_bytes(entry->bytes[c]).c);
  fputc('\n', v->stream);
}

static hearth_status print_table(plan_view *v, const hearth_plan_table *table, uint64_t *left, hearth_error *err) {
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(&v->plan, table, &count);
  uint64_t own_left = 0;
  fputs("  ", v->stream);
  HEARTH_TRY(print_place(v, table->frame, err));
  fputc('\n', v->stream);
  for (uint32_t i = 0; i < count; i++) {
    print_entry(v, &entries[i]);
    own_left += bytes_left(&entries[i]);
  }
  if (own_left && !table->mask)
    fprintf(v->stream,
            "    no site is worth its while here: --min-gain, --max-sites, or its contexts share all callers\n");
  else if (own_left)
    fprintf(v->stream, "    %s remain: contexts of several classes go through the same decision sites\n",
            hearth_units_bytes(own_left).c);
  *left += own_left;
  return HEARTH_OK;
}

static hearth_status print_plan(plan_view *v, hearth_error *err) {
  uint64_t bits = 0, left = 0;
  for (uint32_t i = 0; i < v->plan.site_count; i++)
    bits |= UINT64_C(1) << v->plan.sites[i].bit;
  if (!v->plan.id) {
    fputs("no plan: no allocation call has contexts of several classes ('hearth plan' makes plans)\n", v->stream);
    return HEARTH_OK;
  }
  fprintf(v->stream, "plan %016" PRIx64 ": %" PRIu32 " decision site%s in %d bit%s for %" PRIu32 " allocation call%s\n",
          v->plan.id, v->plan.site_count, hearth_plural(v->plan.site_count), __builtin_popcountll(bits),
          hearth_plural((uint64_t)__builtin_popcountll(bits)), v->plan.table_count, hearth_plural(v->plan.table_count));
  if (v->plan.site_count)
    HEARTH_TRY(print_sites(v, err));
  fprintf(v->stream, "\nAllocation calls: class and bytes by the bits that are set\n");
  for (uint32_t i = 0; i < v->plan.table_count; i++)
    HEARTH_TRY(print_table(v, &v->plan.tables[i], &left, err));
  fprintf(v->stream, "\n%s are left in a class that is not theirs\n", hearth_units_bytes(left).c);
  return HEARTH_OK;
}

hearth_status hearth_plan_print_text(hearth_profile *profile, bool linkage_names, FILE *stream, hearth_error *err) {
  plan_view v = {.profile = profile, .stream = stream};
  hearth_status status = hearth_profile_get_plan(profile, &v.plan, err);
  if (status == HEARTH_OK)
    status = hearth_names_init(&v.names, profile, linkage_names, err);
  if (status == HEARTH_OK)
    status = print_plan(&v, err);
  hearth_names_destroy(&v.names);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
