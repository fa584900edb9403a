/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that match are found first, then in one pass the nodes that have one: a caller has a lower number than
 * those it calls. A context is then one look at its node. */
#include "selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "numbers.h"

enum { MATCHES_FUNCTION = 1, MATCHES_FILE = 2 };

static hearth_status selection_match_function(hearth_profile *profile, uint32_t row, const hearth_view_options *options,
                                              unsigned char *ret, hearth_error *err) {
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
  for (hearth_name_style style = HEARTH_NAMES_SHORT; options->function && style <= HEARTH_NAMES_LINKED; style++) {
    char *name = hearth_name_make(function.name, style);
    HEARTH_TRY(hearth_check_memory(name, err));
    if (strstr(name, options->function))
      *ret |= MATCHES_FUNCTION;
    free(name);
  }
  if (options->file) {
    HEARTH_TRY(hearth_path_get(profile, function.path, path, err));
    if (strstr(path, options->file))
      *ret |= MATCHES_FILE;
  }
  return HEARTH_OK;
}

/* A parent is a lower row, so that one pass in order is enough however deep the stacks are. */
static hearth_status selection_match_nodes(hearth_selection *s, const unsigned char *functions, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_stack_count(s->profile); i++) {
    uint32_t row, parent;
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_stack(s->profile, i, &row, &parent, err));
    HEARTH_TRY(hearth_profile_get_frame(s->profile, row, &frame, err));
    s->nodes[i] = functions[frame.function] | (parent == HEARTH_NONE ? 0 : s->nodes[parent]);
  }
  return HEARTH_OK;
}

static hearth_status match_stacks(hearth_selection *s, const hearth_view_options *options, hearth_error *err) {
  uint32_t count = hearth_profile_function_count(s->profile);
  unsigned char *functions = calloc((size_t)count + 1, 1);
  hearth_status status = HEARTH_OK;
  s->nodes = calloc((size_t)hearth_profile_stack_count(s->profile) + 1, 1);
  if (!functions || !s->nodes)
    status = hearth_error_nomem(err);
  for (uint32_t i = 0; status == HEARTH_OK && i < count; i++)
    status = selection_match_function(s->profile, i, options, &functions[i], err);
  HEARTH_THEN(status, selection_match_nodes(s, functions, err));
  free(functions);
  return status;
}

/* -------------------------------------------------- weights -------------------------------------------------- */

static hearth_status leaf_frame(const hearth_selection *s, uint32_t node, uint32_t *ret, hearth_error *err) {
  uint32_t caller;
  return hearth_profile_get_stack(s->profile, node, ret, &caller, err);
}

/* Sum up the light contexts of each allocation call. */
static hearth_status sum_light(hearth_selection *s, hearth_mib *sums, hearth_error *err) {
  bool knows_lives = false;
  for (uint32_t i = 0; i < hearth_profile_context_count(s->profile); i++) {
    uint32_t node, frame;
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(s->profile, i, &node, &mib, err));
    knows_lives |= mib.TotalLifetime > 0;
    if (hearth_has_weight(&s->classifier, &mib))
      continue;
    HEARTH_TRY(leaf_frame(s, node, &frame, err));
    hearth_mib_merge(&sums[frame], &mib);
  }
  s->short_lived_ns = knows_lives ? s->short_lived_ns : -1;
  return HEARTH_OK;
}

static hearth_status weigh_calls(hearth_selection *s, hearth_error *err) {
  uint32_t count = hearth_profile_frame_count(s->profile);
  hearth_mib *sums = calloc((size_t)count + 1, sizeof *sums);
  s->light_counts = calloc((size_t)count + 1, sizeof *s->light_counts);
  hearth_status status = sums && s->light_counts ? sum_light(s, sums, err) : hearth_error_nomem(err);
  for (uint32_t i = 0; status == HEARTH_OK && i < count; i++)
    s->light_counts[i] = hearth_has_weight(&s->classifier, &sums[i]);
  free(sums);
  return status;
}

hearth_status hearth_selection_classify(const hearth_selection *s, uint32_t node, const hearth_mib *mib,
                                        hearth_class *ret, hearth_error *err) {
  uint32_t frame;
  *ret = hearth_classify(&s->classifier, mib);
  if (hearth_has_weight(&s->classifier, mib))
    return HEARTH_OK;
  HEARTH_TRY(leaf_frame(s, node, &frame, err));
  if (!s->light_counts[frame])
    *ret = HEARTH_CLASS_UNKNOWN;
  return HEARTH_OK;
}

/* -------------------------------------------------- contexts ------------------------------------------------- */

hearth_status hearth_selection_init(hearth_selection *s, hearth_profile *profile, const hearth_view_options *options,
                                    hearth_error *err) {
  hearth_profile_summary summary;
  *s = (hearth_selection){.profile = profile, .only = options->only, .type = options->type};
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  s->short_lived_ns = fmin(1e6, (double)summary.duration_ns / (double)(summary.runs ? summary.runs : 1) / 1000);
  s->wanted = (options->function ? MATCHES_FUNCTION : 0) | (options->file ? MATCHES_FILE : 0);
  HEARTH_TRY(hearth_classifier_init(&s->classifier, profile, options->classify, err));
  HEARTH_TRY(weigh_calls(s, err));
  return s->wanted ? match_stacks(s, options, err) : HEARTH_OK;
}

void hearth_selection_destroy(hearth_selection *s) {
  free(s->nodes);
  free(s->light_counts);
  s->nodes = NULL;
  s->light_counts = NULL;
}

/* At the call of a library, or, where the library's functions have names, in one of them. */
static hearth_status is_in_library(const hearth_selection *s, uint32_t node, bool *ret, hearth_error *err) {
  uint32_t row;
  hearth_frame_info frame;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  HEARTH_TRY(leaf_frame(s, node, &row, err));
  HEARTH_TRY(hearth_profile_get_frame(s->profile, row, &frame, err));
  *ret = frame.library;
  if (frame.library || frame.line != HEARTH_LINE_UNKNOWN)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_function(s->profile, frame.function, &function, err));
  HEARTH_TRY(hearth_profile_get_path(s->profile, function.path, path, sizeof path, err));
  *ret = function.start_line == 0 && !hearth_is_name_file(path);
  return HEARTH_OK;
}

hearth_status hearth_selection_get(const hearth_selection *s, uint32_t context, hearth_selected *ret,
                                   hearth_error *err) {
  hearth_variance variance;
  ret->context = context;
  HEARTH_TRY(hearth_profile_get_context(s->profile, context, &ret->node, &ret->mib, err));
  ret->live_estimated = hearth_live_bytes_estimated(&ret->mib);
  ret->short_lived = (double)ret->mib.TotalLifetime <= s->short_lived_ns * (double)ret->mib.AllocCount;
  HEARTH_TRY(hearth_selection_classify(s, ret->node, &ret->mib, &ret->hotness, err));
  HEARTH_TRY(hearth_profile_get_variance(s->profile, context, &variance, err));
  ret->is_uncertain = ret->hotness != HEARTH_CLASS_UNKNOWN && /* light contexts have no class to be sure of */
                      hearth_may_be_cold_or_not(&s->classifier, &ret->mib, &variance);
  HEARTH_TRY(is_in_library(s, ret->node, &ret->in_library, err));
  ret->wanted =
      (!s->nodes || s->nodes[ret->node] == s->wanted) && (s->only == HEARTH_CLASS_UNKNOWN || s->only == ret->hotness);
  if (s->type) {
    const char *name;
    HEARTH_TRY(hearth_profile_type_name(s->profile, ret->mib.DataTypeId, &name, err));
    ret->wanted &= strstr(name, s->type) != NULL;
  }
  return HEARTH_OK;
}

hearth_status hearth_frames_read(hearth_frames *f, hearth_profile *profile, uint32_t node, hearth_error *err) {
  for (f->count = 0; node != HEARTH_NONE; f->count++) {
    HEARTH_TRY(hearth_check_memory(hearth_array_grow(&f->frames, &f->room, f->count, sizeof *f->frames), err));
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &f->frames[f->count], &node, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_place_get(hearth_profile *profile, hearth_names *names, uint32_t frame, hearth_place *ret,
                               hearth_error *err) {
  HEARTH_TRY(hearth_profile_get_frame(profile, frame, &ret->frame, err));
  HEARTH_TRY(hearth_function_text_get(names, ret->frame.function, &ret->function, err));
  /* Lines of included files may precede the function's first one: offsets wrap. */
  uint32_t start_line = ret->function.info.start_line;
  bool known = start_line && ret->frame.line != HEARTH_LINE_UNKNOWN;
  ret->line = known ? start_line + ret->frame.line : 0;
  return HEARTH_OK;
}

const char *hearth_classify_mode_name(hearth_classify_mode mode) {
  return mode == HEARTH_CLASSIFY_LLVM ? "llvm" : "auto";
}
