/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The content of a report: of a profile, and the code that does not depend on its source. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "groups.h"
#include "hearth/profile.h"
#include "hearth/profile_diff.h"
#include "selection.h"

/* Each context's series is added to that of its owner; all but the largest are summed in the last one. */

enum { SERIES_MOST = 12 };

static void model_add(hearth_page_owner_series *to, const hearth_histogram *more) {
  for (uint32_t i = 0; i < HEARTH_TALLY_MOMENTS && i < more->size; i++) {
    to->bytes[i] += more->counts[i];
    to->sum += (double)more->counts[i];
  }
}

static hearth_page_owner_series *series_of(hearth_page_model *model, const hearth_page_context *context) {
  hearth_page_owner_series *series = &model->owners[context->owner];
  series->peak = hearth_merge_SUM(series->peak, context->of[HEARTH_QUANTITY_PEAK]);
  return series;
}

static int model_compare(const void *x, const void *y) {
  const hearth_page_owner_series *a = x, *b = y;
  if (a->sum != b->sum)
    return a->sum > b->sum ? -1 : 1;
  return (a->function > b->function) - (a->function < b->function);
}

static void sum_others(hearth_page_model *model, uint32_t count) {
  hearth_page_owner_series *last = &model->owners[SERIES_MOST];
  if (count <= SERIES_MOST) {
    model->owner_count = count;
    return;
  }
  for (uint32_t i = SERIES_MOST + 1; i < count; i++)
    model_add(last, &(hearth_histogram){.counts = model->owners[i].bytes, .size = HEARTH_TALLY_MOMENTS});
  last->function = HEARTH_NONE;
  model->owner_count = SERIES_MOST + 1;
}

/* Levels as a series: of each moment, those of the part of the run in which it lies, on average of the runs. */
static void add_levels(hearth_page_owner_series *to, const uint64_t *levels, uint64_t runs) {
  uint64_t counts[HEARTH_TALLY_MOMENTS];
  for (size_t i = 0; i < HEARTH_TALLY_MOMENTS; i++)
    counts[i] = levels[i * (HEARTH_RAW_POINTS - 1) / (HEARTH_TALLY_MOMENTS - 1)] / runs;
  model_add(to, &(hearth_histogram){.counts = counts, .size = HEARTH_TALLY_MOMENTS});
}

/* Those of a trace whose records have tallies, or those of a profile's history. */
static hearth_status read_owners(hearth_page_model *model, hearth_profile *profile, const hearth_heap_history *history,
                                 hearth_error *err) {
  HEARTH_TRY(hearth_array_create(&model->owners, model->function_count, sizeof *model->owners, err));
  for (uint32_t i = 0; i < model->function_count; i++)
    model->owners[i].function = i;
  for (uint32_t i = 0, k = 0; i < model->context_count; i++) {
    const hearth_page_context *context = &model->contexts[i];
    hearth_histogram series;
    if (!history) {
      HEARTH_TRY(hearth_profile_get_histogram(profile, context->row, &series, err));
      model_add(series_of(model, context), &series);
      continue;
    }
    while (k < history->count && history->rows[k].context < context->row)
      k++;
    if (k < history->count && history->rows[k].context == context->row)
      add_levels(series_of(model, context), history->rows[k].levels, history->runs);
  }
  qsort(model->owners, model->function_count, sizeof *model->owners, model_compare);
  sum_others(model, model->function_count);
  while (model->owner_count > 0 && model->owners[model->owner_count - 1].sum <= 0)
    model->owner_count--;
  return HEARTH_OK;
}

/* What no row of the history has is the others'. */
static void add_rest(hearth_page_model *model, const hearth_heap_history *history) {
  hearth_page_owner_series all = {.function = HEARTH_NONE};
  bool has_others = model->owner_count > 0 && model->owners[model->owner_count - 1].function == HEARTH_NONE;
  add_levels(&all, history->levels, history->runs);
  for (uint32_t i = 0; i + has_others < model->owner_count; i++)
    for (size_t k = 0; k < HEARTH_TALLY_MOMENTS; k++)
      all.bytes[k] -= model->owners[i].bytes[k] < all.bytes[k] ? model->owners[i].bytes[k] : all.bytes[k];
  model->owner_count += !has_others;
  model->owners[model->owner_count - 1] = all;
}

static hearth_status read_history(hearth_page_model *model, hearth_profile *profile, hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(profile, &history, err));
  hearth_status status = history.runs > 0 ? read_owners(model, profile, &history, err) : HEARTH_OK;
  if (history.runs > 0 && status == HEARTH_OK) {
    add_rest(model, &history);
    model->peak_ns = hearth_history_peak_ns(&history, &model->summary);
    model->has_peak_time = true;
  }
  hearth_heap_history_free(&history);
  return status;
}

void hearth_page_model_destroy(hearth_page_model *model) {
  for (uint32_t i = 0; i < model->file_count; i++)
    free(model->files[i]);
  HEARTH_FREE(model->files, model->types, model->functions, model->contexts, model->owners);
  hearth_names_destroy(&model->names);
  hearth_pair_set_destroy(&model->lines);
  hearth_pair_set_destroy(&model->places);
  hearth_pair_set_destroy(&model->nodes);
  hearth_page_grid_destroy(&model->lifetime_size);
  hearth_page_timeline_destroy(&model->timeline);
}

const hearth_page_grid *hearth_page_model_lifetime_size(const hearth_page_model *model) {
  return model->timeline.lifetime_size.cells ? &model->timeline.lifetime_size : &model->lifetime_size;
}

hearth_page_place hearth_page_model_place(const hearth_page_model *model, uint32_t place) {
  hearth_pair at = model->places.pairs[place], line = model->lines.pairs[at.first];
  return (hearth_page_place){.function = line.first, .line = line.second, .column = at.second};
}

/* The page model of a profile, and of a trace. Only data that the wanted contexts use is taken over. */

/* Rows of the profile to numbers of the model. */
typedef struct hearth_page_maker {
  hearth_mib *base; /* by context; NULL: nothing is compared */
  double base_scale;
  bool counts_use; /* all accesses were counted, and nothing is compared */
  hearth_page_model *model;
  hearth_profile *profile;
  hearth_selection selection;
  uint32_t *places;          /* by frame row; HEARTH_NONE: not used yet */
  uint32_t *nodes;           /* by stack row */
  hearth_pair_set functions; /* (row, is only its symbol known?) */
  hearth_pair_set files;     /* (path row, 0) */
  hearth_pair_set types;     /* halves of a type's id */
} hearth_page_maker;

static hearth_status make_rows(uint32_t count, uint32_t **ret, hearth_error *err) {
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, err));
  memset(*ret, 0xff, count * sizeof **ret); /* HEARTH_NONE */
  return HEARTH_OK;
}

/* -------------------------------------------------- contexts -------------------------------------------------- */

static hearth_status number_type(hearth_page_maker *m, uint64_t id, uint32_t *ret, hearth_error *err) {
  const char *name;
  HEARTH_TRY(hearth_profile_type_name(m->profile, id, &name, err));
  if (!*name && id != HEARTH_MIB_MIXED)
    *ret = HEARTH_NONE;
  else
    HEARTH_TRY(hearth_pair_set_add(&m->types, (hearth_pair){(uint32_t)(id >> 32), (uint32_t)id}, ret, err));
  return HEARTH_OK;
}

static void add_to_grid(hearth_page_grid *grid, const hearth_page_context *context) {
  hearth_page_cell cell;
  for (int q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    cell.of[q] = (double)context->of[q];
  double blocks = cell.of[HEARTH_QUANTITY_ALLOCS];
  if (blocks > 0)
    hearth_page_grid_add(grid, cell.of[HEARTH_QUANTITY_BYTES] / blocks, (double)context->lifetime_ns / blocks, &cell);
}

static uint64_t without(uint64_t value, uint64_t less) { return value > less ? value - less : 0; }

/* The profile is the sum of both. */
static void take_base(const hearth_page_maker *m, uint32_t row, hearth_page_context *context) {
  const hearth_mib *base = &m->base[row];
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++) {
    uint64_t value = hearth_quantity_of(q, base);
    context->of[q] = without(context->of[q], value);
    context->base[q] = (uint64_t)((double)value * m->base_scale + 0.5);
  }
  context->lifetime_ns = without(context->lifetime_ns, base->TotalLifetime);
}

static hearth_status match_base(hearth_page_maker *m, hearth_error *err) {
  const hearth_page_options *options = m->model->options;
  hearth_profile *const profiles[] = {options->base, m->profile};
  hearth_profile_summary *summary = &m->model->summary, base;
  HEARTH_TRY(hearth_profile_get_summary(options->base, &base, err));
  summary->runs = without(summary->runs, base.runs);
  summary->duration_ns = without(summary->duration_ns, base.duration_ns);
  summary->dropped_blocks = without(summary->dropped_blocks, base.dropped_blocks);
  summary->dropped_frames = without(summary->dropped_frames, base.dropped_frames);
  m->base_scale = base.runs ? (double)summary->runs / (double)base.runs : 1;
  return hearth_diff_match_contexts(profiles, &m->base, err);
}

/* The node is a row of the profile until convert_nodes. */
static hearth_status model_add_context(hearth_page_maker *m, uint32_t row, hearth_error *err) {
  hearth_selected s;
  hearth_page_model *model = m->model;
  hearth_page_context *context = &model->contexts[model->context_count];
  HEARTH_TRY(hearth_selection_get(&m->selection, row, &s, err));
  if (!s.wanted)
    return HEARTH_OK;
  model->live_estimated |= s.live_estimated;
  uint64_t library_bytes = s.in_library ? s.mib.TotalSize : 0;
  model->library_bytes = hearth_merge_SUM(model->library_bytes, library_bytes);
  if (s.hotness == HEARTH_CLASS_COLD)
    model->cold_library_bytes = hearth_merge_SUM(model->cold_library_bytes, library_bytes);
  *context =
      (hearth_page_context){.node = s.node, .hotness = s.hotness, .row = row, .lifetime_ns = s.mib.TotalLifetime};
  context->untouched = s.in_library ? 0 : hearth_untouched_bytes(&s.mib);
  model->knows_untouched |= m->counts_use && s.mib.TotalPercentUtilized > 0;
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    context->of[q] = hearth_quantity_of(q, &s.mib);
  if (model->options->trace) {
    context->temporary = s.mib.HEARTH_TALLY_TEMPORARY;
    context->of[HEARTH_QUANTITY_PEAK] = s.mib.HEARTH_TALLY_PEAK;
  }
  if (m->base)
    take_base(m, row, context);
  if (!model->options->trace && s.short_lived)
    context->temporary = context->of[HEARTH_QUANTITY_ALLOCS];
  HEARTH_TRY(number_type(m, s.mib.DataTypeId, &context->type, err));
  add_to_grid(&model->lifetime_size, context);
  model->context_count++;
  return HEARTH_OK;
}

static hearth_status model_add_contexts(hearth_page_maker *m, hearth_error *err) {
  const hearth_page_axis size = {.label = "average size", .unit = HEARTH_PAGE_BYTES, .bins = HEARTH_PAGE_LOG_BINS};
  const hearth_page_axis lifetime = {.label = "average lifetime", .unit = HEARTH_PAGE_NS, .bins = HEARTH_PAGE_LOG_BINS};
  uint32_t count = hearth_profile_context_count(m->profile);
  HEARTH_TRY(hearth_array_create(&m->model->contexts, count, sizeof *m->model->contexts, err));
  HEARTH_TRY(hearth_page_grid_init(&m->model->lifetime_size, &size, &lifetime, err));
  for (uint32_t i = 0; i < count; i++)
    HEARTH_TRY(model_add_context(m, i, err));
  return HEARTH_OK;
}

/* -------------------------------------------------- stacks -------------------------------------------------- */

static hearth_status add_place(hearth_page_maker *m, uint32_t frame, hearth_error *err) {
  hearth_place place;
  uint32_t function, line;
  HEARTH_TRY(hearth_place_get(m->profile, &m->model->names, frame, &place, err));
  bool symbol = place.frame.line == HEARTH_LINE_UNKNOWN && place.function.info.start_line == 0;
  HEARTH_TRY(hearth_pair_set_add(&m->functions, (hearth_pair){place.frame.function, symbol}, &function, err));
  HEARTH_TRY(hearth_pair_set_add(&m->model->lines, (hearth_pair){function, place.line}, &line, err));
  return hearth_pair_set_add(&m->model->places, (hearth_pair){line, place.frame.column}, &m->places[frame], err);
}

static hearth_status add_node(hearth_page_maker *m, uint32_t row, hearth_error *err) {
  uint32_t frame, caller;
  HEARTH_TRY(hearth_profile_get_stack(m->profile, row, &frame, &caller, err));
  if (m->places[frame] == HEARTH_NONE)
    HEARTH_TRY(add_place(m, frame, err));
  hearth_pair node = {m->places[frame], caller == HEARTH_NONE ? HEARTH_NONE : m->nodes[caller]};
  return hearth_pair_set_add(&m->model->nodes, node, &m->nodes[row], err);
}

/* Mark a stack's rows, up to those that were marked with another one. */
static hearth_status model_mark_stack(hearth_page_maker *m, uint32_t row, hearth_error *err) {
  uint32_t frame;
  while (row != HEARTH_NONE && m->nodes[row] == HEARTH_NONE) {
    m->nodes[row] = 0;
    HEARTH_TRY(hearth_profile_get_stack(m->profile, row, &frame, &row, err));
  }
  return HEARTH_OK;
}

/* A caller is a lower row, so that one pass in order is enough however deep the stacks are. */
static hearth_status convert_nodes(hearth_page_maker *m, hearth_error *err) {
  hearth_page_model *model = m->model;
  uint32_t count = hearth_profile_stack_count(m->profile);
  HEARTH_TRY(make_rows(count, &m->nodes, err));
  HEARTH_TRY(make_rows(hearth_profile_frame_count(m->profile), &m->places, err));
  for (uint32_t i = 0; i < model->context_count; i++)
    HEARTH_TRY(model_mark_stack(m, model->contexts[i].node, err));
  for (uint32_t row = 0; row < count; row++)
    if (m->nodes[row] != HEARTH_NONE)
      HEARTH_TRY(add_node(m, row, err));
  for (uint32_t i = 0; i < model->context_count; i++) {
    hearth_page_context *context = &model->contexts[i];
    uint32_t frame;
    HEARTH_TRY(hearth_names_owner(&model->names, context->node, &frame, err));
    context->owner = hearth_page_model_place(model, m->places[frame]).function;
    context->node = m->nodes[context->node];
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- strings -------------------------------------------------- */

static hearth_status describe_function(hearth_page_maker *m, hearth_pair function, hearth_page_function *ret,
                                       hearth_error *err) {
  hearth_function_info info;
  HEARTH_TRY(hearth_profile_get_function(m->profile, function.first, &info, err));
  ret->file = HEARTH_NONE;
  ret->symbol = function.second;
  if (info.path != HEARTH_NONE)
    HEARTH_TRY(hearth_pair_set_add(&m->files, (hearth_pair){info.path, 0}, &ret->file, err));
  HEARTH_TRY(hearth_names_role(&m->model->names, function.first, &ret->role, err));
  return hearth_names_get(&m->model->names, function.first, &ret->name, err);
}

static hearth_status describe_functions(hearth_page_maker *m, hearth_error *err) {
  hearth_page_model *model = m->model;
  HEARTH_TRY(hearth_array_create(&model->functions, m->functions.count, sizeof *model->functions, err));
  for (; model->function_count < m->functions.count; model->function_count++)
    HEARTH_TRY(
        describe_function(m, m->functions.pairs[model->function_count], &model->functions[model->function_count], err));
  return HEARTH_OK;
}

static hearth_status copy_files(hearth_page_maker *m, hearth_error *err) {
  hearth_page_model *model = m->model;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(hearth_array_create(&model->files, m->files.count, sizeof *model->files, err));
  for (; model->file_count < m->files.count; model->file_count++) {
    HEARTH_TRY(hearth_path_get(m->profile, m->files.pairs[model->file_count].first, path, err));
    model->files[model->file_count] = strdup(path);
    HEARTH_TRY(hearth_check_memory(model->files[model->file_count], err));
  }
  return HEARTH_OK;
}

static hearth_status name_types(hearth_page_maker *m, hearth_error *err) {
  hearth_page_model *model = m->model;
  HEARTH_TRY(hearth_array_create(&model->types, m->types.count, sizeof *model->types, err));
  for (; model->type_count < m->types.count; model->type_count++) {
    hearth_pair id = m->types.pairs[model->type_count];
    const char **name = &model->types[model->type_count];
    HEARTH_TRY(hearth_profile_type_name(m->profile, (uint64_t)id.first << 32 | id.second, name, err));
    *name = **name ? *name : "(several types)"; /* HEARTH_MIB_MIXED */
  }
  return HEARTH_OK;
}

/* A trace has other numbers in the place of percentages; a comparison is the sum of two profiles. */
static bool counts_use(const hearth_page_model *model) {
  const hearth_page_options *options = model->options;
  return hearth_untouched_is_known(&model->summary) && !options->base && !options->trace;
}

static hearth_status make(hearth_page_maker *m, hearth_error *err) {
  const hearth_view_options *view = m->model->options->view;
  HEARTH_TRY(hearth_profile_get_summary(m->profile, &m->model->summary, err));
  HEARTH_TRY(hearth_names_init(&m->model->names, m->profile, view, err));
  HEARTH_TRY(hearth_selection_init(&m->selection, m->profile, view, err));
  m->model->classifier = m->selection.classifier;
  m->counts_use = counts_use(m->model);
  if (m->model->options->base)
    HEARTH_TRY(match_base(m, err));
  HEARTH_TRY(model_add_contexts(m, err));
  HEARTH_TRY(convert_nodes(m, err));
  HEARTH_TRY(describe_functions(m, err));
  HEARTH_TRY(copy_files(m, err));
  HEARTH_TRY(name_types(m, err));
  if (!m->model->options->trace && !m->model->options->base)
    HEARTH_TRY(read_history(m->model, m->profile, err));
  if (m->model->options->trace) {
    HEARTH_TRY(read_owners(m->model, m->profile, NULL, err));
    HEARTH_TRY(hearth_page_trace_read(m->model->options->trace, &m->model->timeline, err));
    m->model->peak_ns = m->model->timeline.peak_ns;
    m->model->has_peak_time = true;
  }
  return HEARTH_OK;
}

hearth_status hearth_page_model_from_profile(hearth_page_model *model, hearth_profile *profile,
                                             const hearth_page_options *options, hearth_error *err) {
  hearth_page_maker m = {.model = model, .profile = profile};
  *model = (hearth_page_model){.options = options};
  hearth_status status = make(&m, err);
  hearth_selection_destroy(&m.selection);
  HEARTH_FREE(m.base, m.places, m.nodes);
  hearth_pair_set_destroy(&m.functions);
  hearth_pair_set_destroy(&m.files);
  hearth_pair_set_destroy(&m.types);
  return status;
}
