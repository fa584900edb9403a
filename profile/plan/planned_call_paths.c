/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Keys of call paths. Return addresses are put in order with the heights of the stack there; each address gets the cheapest
 * key that parts its placements: none but itself where all are equal, or the height. Contexts without a height keep to what
 * they have in common, but for cold: other heights than those of the profile are unknown. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "call_path_sites.h"
#include "file.h"
#include "hearth/hints.h"
#include "hearth/library_calls.h"

static int compare(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_paths(const void *a, const void *b) {
  const hearth_call_path *x = &((const path *)a)->row, *y = &((const path *)b)->row;
  int order = compare(x->binary, y->binary);
  order = order ? order : compare(x->offset, y->offset);
  order = order ? order : compare(x->height, y->height);
  return order ? order : compare(x->context, y->context);
}

/* The bytes of a context are shared out among its paths. */
static hearth_status read_context(path_sites *k, const hearth_call_paths *rows, size_t first, size_t end,
                                  hearth_error *err) {
  uint32_t node, context = rows->rows[first].context;
  hearth_mib mib;
  HEARTH_TRY(hearth_profile_get_context(k->profile, context, &node, &mib, err));
  hearth_placement placement = hearth_plan_placement_of(&k->plan, context);
  k->sums.with_path += mib.TotalSize;
  k->sums.unplaced += placement == HEARTH_CLASS_UNKNOWN ? mib.TotalSize : 0;
  for (size_t i = first; placement != HEARTH_CLASS_UNKNOWN && i < end; i++)
    k->paths[k->path_count++] = (path){rows->rows[i], placement, mib.TotalSize / (end - first)};
  return HEARTH_OK;
}

static hearth_status read_paths(path_sites *k, const hearth_call_paths *rows, hearth_error *err) {
  for (size_t first = 0, end; first < rows->count; first = end) {
    for (end = first + 1; end < rows->count && rows->rows[end].context == rows->rows[first].context; end++)
      ;
    HEARTH_TRY(read_context(k, rows, first, end, err));
  }
  qsort(k->paths, k->path_count, sizeof *k->paths, compare_paths);
  return HEARTH_OK;
}

/* Is it more than what the program's own allocator does anyway? */
static bool is_hint(hearth_placement placement) {
  return placement != HEARTH_CLASS_UNKNOWN && placement != HEARTH_CLASS_NOTCOLD;
}

/* What all paths of [first, end) have; UNKNOWN if they differ. */
static hearth_placement common(const path *paths, size_t first, size_t end) {
  hearth_placement placement = first < end ? paths[first].placement : HEARTH_CLASS_UNKNOWN;
  for (size_t i = first; i < end; i++)
    if (paths[i].placement != placement)
      return HEARTH_CLASS_UNKNOWN;
  return placement;
}

static size_t end_of_height(const path_sites *k, const path_site *s, size_t first) {
  size_t end = first;
  while (end < s->end && k->paths[end].row.height == k->paths[first].row.height)
    end++;
  return end;
}

static void choose_key(path_sites *k, path_site *s) {
  hearth_placement all = common(k->paths, s->first, s->end);
  s->by_height = all == HEARTH_CLASS_UNKNOWN;
  s->rest = all;
  size_t known = s->first;
  while (s->by_height && known < s->end && k->paths[known].row.height == 0)
    known++;
  if (s->by_height && common(k->paths, s->first, known) != HEARTH_CLASS_COLD)
    s->rest = common(k->paths, s->first, known);
  for (size_t first = s->first, end; first < s->end; first = end) {
    end = end_of_height(k, s, first);
    bool parted = common(k->paths, first, end) != HEARTH_CLASS_UNKNOWN;
    s->has_hint = s->has_hint || is_hint(common(k->paths, first, end)) || is_hint(s->rest);
    for (size_t i = first; i < end; i++) {
      enum hearth_path_key key = !s->by_height ? HEARTH_PATH_ADDRESS
                                 : k->paths[i].row.height == 0
                                     ? k->paths[i].placement == s->rest ? HEARTH_PATH_REST : HEARTH_PATH_AMBIGUOUS
                                 : parted ? HEARTH_PATH_HEIGHT
                                          : HEARTH_PATH_AMBIGUOUS;
      s->bytes[key] += k->paths[i].bytes;
      k->sums.bytes[key] += k->paths[i].bytes;
    }
  }
}

static void find_sites(path_sites *k) {
  for (size_t first = 0, end; first < k->path_count; first = end) {
    const hearth_call_path *row = &k->paths[first].row;
    for (end = first;
         end < k->path_count && k->paths[end].row.binary == row->binary && k->paths[end].row.offset == row->offset;
         end++)
      ;
    path_site *s = &k->sites[k->site_count++];
    *s = (path_site){.first = first, .end = end};
    choose_key(k, s);
    k->has_hints = k->has_hints || s->has_hint;
  }
}

void hearth_path_sites_free(path_sites *k) {
  free(k->paths);
  free(k->sites);
}

hearth_status hearth_path_sites_find(path_sites *k, hearth_error *err) {
  hearth_call_paths rows;
  HEARTH_TRY(hearth_profile_get_plan(k->profile, &k->plan, err));
  HEARTH_TRY(hearth_profile_get_call_paths(k->profile, &rows, err));
  if (rows.count == 0)
    return hearth_error_set(
        err, HEARTH_E_EMPTY,
        "no call paths, which only 'hearth record' of this version or a newer one notes: record the "
        "program again, as it is, and index that");
  HEARTH_TRY(hearth_array_create(&k->paths, rows.count, sizeof *k->paths, err));
  HEARTH_TRY(hearth_array_create(&k->sites, rows.count, sizeof *k->sites, err));
  HEARTH_TRY(read_paths(k, &rows, err));
  find_sites(k);
  return HEARTH_OK;
}

/* ------------------------------------------------ the table ------------------------------------------------- */

static unsigned hint_of(hearth_placement placement) {
  static const uint8_t hints[] = {[HEARTH_CLASS_COLD] = HEARTH_HINT_COLD,
                                  [HEARTH_CLASS_NOTCOLD] = HEARTH_HINT_NOTCOLD,
                                  [HEARTH_CLASS_HOT] = HEARTH_HINT_HOT};
  return hearth_hint_of(placement, hints);
}

static hearth_status write_module(const path_sites *k, uint32_t binary, FILE *stream, hearth_error *err) {
  const char *name;
  const uint8_t *build_id;
  uint32_t size;
  HEARTH_TRY(hearth_profile_get_binary(k->profile, binary, &name, &build_id, &size, err));
  fputc(HEARTH_LIBRARY_CALLS_MODULE, stream);
  for (uint32_t i = 0; i < size; i++)
    fprintf(stream, "%02x", build_id[i]);
  fprintf(stream, " # %s\n", name);
  return HEARTH_OK;
}

static void write_site(const path_sites *k, const path_site *s, FILE *stream) {
  fprintf(stream, "%c%" PRIx64, HEARTH_LIBRARY_CALLS_PATH, k->paths[s->first].row.offset);
  if (s->rest != HEARTH_CLASS_UNKNOWN)
    fprintf(stream, " %u", hint_of(s->rest));
  else
    fputs(" " HEARTH_LIBRARY_CALLS_NONE, stream);
  for (size_t first = s->first, end; s->by_height && first < s->end; first = end) {
    end = end_of_height(k, s, first);
    hearth_placement placement = common(k->paths, first, end);
    if (k->paths[first].row.height && placement != HEARTH_CLASS_UNKNOWN)
      fprintf(stream, " %x=%u", k->paths[first].row.height, hint_of(placement));
  }
  fputc('\n', stream);
}

static hearth_status write_sites(const path_sites *k, FILE *stream, hearth_error *err) {
  uint32_t binary = HEARTH_NONE;
  fprintf(stream, HEARTH_LIBRARY_CALLS_HEAD "\n" HEARTH_LIBRARY_CALLS_PLAN " %016" PRIx64 "\n", k->plan.id);
  for (size_t i = 0; i < k->site_count; i++) {
    const path_site *s = &k->sites[i];
    if (!s->has_hint)
      continue;
    if (k->paths[s->first].row.binary != binary)
      HEARTH_TRY(write_module(k, binary = k->paths[s->first].row.binary, stream, err));
    write_site(k, s, stream);
  }
  return hearth_stream_flush(stream, err);
}

hearth_status hearth_path_keys_write(hearth_profile *profile, FILE *stream, bool *ret_has_hints, hearth_error *err) {
  path_sites k = {.profile = profile};
  hearth_status status = hearth_path_sites_find(&k, err);
  if (status == HEARTH_OK)
    status = write_sites(&k, stream, err);
  *ret_has_hints = k.has_hints;
  hearth_path_sites_free(&k);
  return status;
}

/* ------------------------------------------------- the plan ------------------------------------------------- */

static hearth_status plan_anew(hearth_profile **profile, uint32_t layout, void **ret_data, hearth_error *err) {
  const hearth_plan_options options = {.layout = layout, .guess_accesses = true};
  size_t size;
  HEARTH_TRY(hearth_plan_make(*profile, &options, ret_data, &size, err));
  hearth_profile_close(*profile);
  *profile = NULL;
  return hearth_profile_open_memory(*ret_data, size, "the plan", profile, err);
}

hearth_status hearth_path_plan_make(hearth_profile **profile, uint32_t layout, void **ret_data, hearth_error *err) {
  hearth_profile_summary summary;
  hearth_plan has;
  *ret_data = NULL;
  HEARTH_TRY(hearth_profile_get_summary(*profile, &summary, err));
  HEARTH_TRY(hearth_profile_get_plan(*profile, &has, err));
  bool is_planned = summary.accesses_counted || (has.id && has.pool_count);
  if (layout == HEARTH_PATH_LAYOUT_OWN && is_planned)
    return HEARTH_OK;
  return plan_anew(profile, layout == HEARTH_PATH_LAYOUT_OWN ? 0 : layout, ret_data, err);
}
