/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks a whole profile: rules that a reader relies on without looking (order, agreement between tables), and rules
 * that it checks on its way (bounds). Each table is read once. */
#include "profile_verifier.h"

#include <string.h>

#include "hearth/classify.h"
#include "hearth/global.h"
#include "hearth/ids.h"
#include "hearth/plan.h"
#include "reader_internal.h"

static hearth_status verify_strings(hearth_profile *profile, hearth_error *err) {
  const char *previous = NULL;
  for (uint64_t offset = 0; offset < hearth_profile_section(profile, HEARTH_SECTION_STRINGS)->size;) {
    const char *string;
    HEARTH_TRY(hearth_profile_get_string(profile, (uint32_t)offset, &string, err));
    if (previous ? strcmp(previous, string) >= 0 : *string != '\0')
      return hearth_profile_corrupt(profile, err, "its strings are not sorted at %llu", (unsigned long long)offset);
    previous = string;
    offset += strlen(string) + 1;
  }
  return HEARTH_OK;
}

static hearth_status verify_paths(hearth_profile *profile, hearth_error *err) {
  const char *previous = NULL;
  uint32_t previous_parent = HEARTH_NONE;
  for (uint32_t i = 0; i < hearth_profile_path_count(profile); i++) {
    const char *name;
    uint32_t parent;
    HEARTH_TRY(hearth_profile_get_path_row(profile, i, &name, &parent, err));
    /* Roots first: their parent counts as -1. */
    bool ascends =
        parent == previous_parent ? !previous || strcmp(previous, name) < 0 : parent + 1 > previous_parent + 1;
    if (!ascends)
      return hearth_profile_corrupt(profile, err, "its paths are not sorted at %u", i);
    previous = name;
    previous_parent = parent;
  }
  return HEARTH_OK;
}

/* The id follows from the names; a function may also be known by its id alone, or by that and LLVM's: its name is stripped. */
static hearth_status verify_function_id(hearth_profile *profile, enum hearth_id_scheme scheme, uint32_t row,
                                        const hearth_function_info *f, hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  size_t name_length = strlen(f->name);
  HEARTH_TRY(hearth_profile_get_path(profile, f->path, path, sizeof path, err));
  bool is_stripped = hearth_is_stripped_name(f->name);
  uint64_t id = scheme == HEARTH_IDS_LLVM ? hearth_llvm_id_of_name(f->name)
                : is_stripped             ? f->id
                                          : hearth_function_id(f->name, name_length, path);
  if (name_length == 0)
    return HEARTH_OK;
  if (id != f->id || hearth_declared_name_length(f->name, name_length, path) != name_length)
    return hearth_profile_corrupt(profile, err, "the id of function %u is not that of its name", row);
  return HEARTH_OK;
}

static hearth_status verify_functions(hearth_profile *profile, hearth_error *err) {
  hearth_profile_summary summary;
  uint64_t previous = 0;
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  for (uint32_t i = 0; i < hearth_profile_function_count(profile); i++) {
    hearth_function_info f;
    HEARTH_TRY(hearth_profile_get_function(profile, i, &f, err));
    if (i == 0 ? f.first_frame != 0 : f.id <= previous)
      return hearth_profile_corrupt(profile, err, "its functions are not sorted at %u", i);
    HEARTH_TRY(verify_function_id(profile, summary.id_scheme, i, &f, err));
    previous = f.id;
  }
  return HEARTH_OK;
}

/* The flags that frames differ by, in the order of their bits (indexed.h). */
static uint32_t identity_flags(const hearth_frame_info *f) {
  return (f->inlined ? HEARTH_FRAME_INLINED : 0) | (f->library ? HEARTH_FRAME_LIBRARY : 0);
}

static int integrity_compare_frames(const hearth_frame_info *a, const hearth_frame_info *b) {
  const uint32_t x[] = {a->function, a->line, a->column, a->discriminator, identity_flags(a)};
  const uint32_t y[] = {b->function, b->line, b->column, b->discriminator, identity_flags(b)};
  for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

static hearth_status verify_frames(hearth_profile *profile, hearth_error *err) {
  hearth_frame_info previous = {0};
  for (uint32_t i = 0; i < hearth_profile_frame_count(profile); i++) {
    hearth_frame_info f;
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_frame(profile, i, &f, err));
    if (i == 0 ? f.first_context != 0 : integrity_compare_frames(&previous, &f) >= 0)
      return hearth_profile_corrupt(profile, err, "its frames are not sorted at %u", i);
    HEARTH_TRY(hearth_profile_get_function(profile, f.function, &function, err));
    if (i - function.first_frame >= function.frame_count)
      return hearth_profile_corrupt(profile, err, "frame %u is not among the frames of its function", i);
    previous = f;
  }
  return HEARTH_OK;
}

/* The nodes of one module, or the shared ones: the nodes above them are shared. */
typedef struct node_range {
  uint32_t first, end, shared_end;
} node_range;

/* Depth-first order: the parent of a node is the node before it or one of that one's ancestors; the ancestor below this
 * parent is the sibling before, and must have a lower frame. Each step up leaves a subtree for good, so that the whole
 * check is linear. */
static hearth_status verify_sibling(hearth_profile *profile, const node_range *range, uint32_t node, uint32_t frame,
                                    uint32_t parent, hearth_error *err) {
  uint32_t sibling_frame, up, sibling = node - 1;
  if (parent == node - 1)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_stack(profile, sibling, &sibling_frame, &up, err));
  while (up != parent) {
    if (up == HEARTH_NONE || up < range->first)
      return hearth_profile_corrupt(profile, err, "stack node %u is not in depth-first order", node);
    sibling = up;
    HEARTH_TRY(hearth_profile_get_stack(profile, sibling, &sibling_frame, &up, err));
  }
  return sibling_frame < frame ? HEARTH_OK
                               : hearth_profile_corrupt(profile, err, "its stacks are not sorted at %u", node);
}

/* The tops of a range, nodes with a parent outside, are sorted by (parent, frame), roots first. */
static hearth_status verify_range(hearth_profile *profile, const node_range *range, hearth_error *err) {
  uint32_t frame, parent;
  uint64_t previous = 0;
  for (uint32_t i = range->first; i < range->end; i++) {
    HEARTH_TRY(hearth_profile_get_stack(profile, i, &frame, &parent, err));
    if (parent != HEARTH_NONE && parent >= range->first) {
      HEARTH_TRY(verify_sibling(profile, range, i, frame, parent, err));
      continue;
    }
    uint64_t top = ((uint64_t)(parent + 1) << 32) + frame + 1;
    if (parent != HEARTH_NONE && parent >= range->shared_end)
      return hearth_profile_corrupt(profile, err, "stack node %u has a parent of another module", i);
    if (top <= previous)
      return hearth_profile_corrupt(profile, err, "its stacks are not sorted at %u", i);
    previous = top;
  }
  return HEARTH_OK;
}

hearth_status hearth_profile_first_node(hearth_profile *profile, uint32_t path, uint32_t *ret_node, hearth_error *err) {
  hearth_indexed_path row;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_PATHS, path, &row, sizeof row, "path", err));
  *ret_node = row.first_node;
  return HEARTH_OK;
}

static hearth_status verify_stacks(hearth_profile *profile, hearth_error *err) {
  uint32_t paths = hearth_profile_path_count(profile);
  node_range range = {0};
  for (uint32_t path = 0; path <= paths; path++) { /* the shared ones are before those of path 0 */
    range.end = hearth_profile_stack_count(profile);
    if (path < paths)
      HEARTH_TRY(hearth_profile_first_node(profile, path, &range.end, err));
    if (range.end < range.first || range.end > hearth_profile_stack_count(profile))
      return hearth_profile_corrupt(profile, err, "path %u has impossible stack nodes", path);
    HEARTH_TRY(verify_range(profile, &range, err));
    range.first = range.end;
    if (path == 0)
      range.shared_end = range.end;
  }
  return HEARTH_OK;
}

static hearth_status verify_contexts(hearth_profile *profile, hearth_error *err) {
  uint32_t leaf, frame, parent, previous_leaf = 0, previous_frame = 0;
  hearth_mib mib;
  hearth_frame_info info;
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    HEARTH_TRY(hearth_profile_get_context(profile, i, &leaf, &mib, err));
    HEARTH_TRY(hearth_profile_get_stack(profile, leaf, &frame, &parent, err));
    if (i > 0 && (frame < previous_frame || (frame == previous_frame && leaf <= previous_leaf)))
      return hearth_profile_corrupt(profile, err, "its contexts are not sorted at %u", i);
    HEARTH_TRY(hearth_profile_get_frame(profile, frame, &info, err));
    if (i - info.first_context >= info.context_count)
      return hearth_profile_corrupt(profile, err, "context %u is not among the contexts of its frame", i);
    previous_leaf = leaf;
    previous_frame = frame;
  }
  return HEARTH_OK;
}

static hearth_status verify_binaries(hearth_profile *profile, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    HEARTH_TRY(hearth_profile_get_binary(profile, i, &name, &build_id, &size, err));
  }
  return HEARTH_OK;
}

static hearth_status verify_histograms(hearth_profile *profile, hearth_error *err) {
  const uint32_t count = hearth_profile_section(profile, HEARTH_SECTION_HISTOGRAMS)->count;
  uint32_t contexts = 0; /* one more than the context before */
  for (uint32_t i = 0; i < count; i++) {
    hearth_indexed_histogram row;
    hearth_histogram histogram;
    HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_HISTOGRAMS, i, &row, sizeof row, "histogram", err));
    if (row.context < contexts || row.context >= hearth_profile_context_count(profile) || (i == 0 && row.offset != 0))
      return hearth_profile_corrupt(profile, err, "its histograms are not sorted at %u", i);
    HEARTH_TRY(hearth_profile_get_histogram(profile, row.context, &histogram, err));
    contexts = row.context + 1;
  }
  return HEARTH_OK;
}

static hearth_status verify_types(hearth_profile *profile, hearth_error *err) {
  uint64_t previous = 0; /* no type's */
  for (uint32_t i = 0; i < hearth_profile_type_count(profile); i++) {
    const char *name;
    uint64_t id;
    HEARTH_TRY(hearth_profile_get_type(profile, i, &id, &name, err));
    if (id <= previous)
      return hearth_profile_corrupt(profile, err, "its types are not sorted at %u", i);
    if (id != hearth_type_id(name, strlen(name)))
      return hearth_profile_corrupt(profile, err, "the id of type %u is not that of its name", i);
    previous = id;
  }
  return HEARTH_OK;
}

static hearth_status verify_globals(hearth_profile *profile, hearth_error *err) {
  uint64_t previous = 0;
  for (uint32_t i = 0; i < hearth_profile_global_count(profile); i++) {
    hearth_indexed_global row;
    hearth_global g;
    HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_GLOBALS, i, &row, sizeof row, "global", err));
    HEARTH_TRY(hearth_profile_get_global(profile, i, &g, err));
    if (i > 0 && row.id <= previous)
      return hearth_profile_corrupt(profile, err, "its globals are not sorted at %u", i);
    if (row.id != hearth_global_id(g.name, g.file, g.flags))
      return hearth_profile_corrupt(profile, err, "the id of global %u is not that of its name", i);
    previous = row.id;
  }
  return HEARTH_OK;
}

hearth_status hearth_profile_verify(hearth_profile *profile, hearth_error *err) {
  hearth_plan plan;
  hearth_variance variance;
  hearth_run_facts facts;
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_check(profile, err));
  HEARTH_TRY(verify_strings(profile, err));
  HEARTH_TRY(verify_paths(profile, err));
  HEARTH_TRY(verify_functions(profile, err));
  HEARTH_TRY(verify_frames(profile, err));
  HEARTH_TRY(verify_stacks(profile, err));
  HEARTH_TRY(verify_contexts(profile, err));
  HEARTH_TRY(verify_histograms(profile, err));
  HEARTH_TRY(verify_types(profile, err));
  HEARTH_TRY(verify_globals(profile, err));
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  HEARTH_TRY(hearth_profile_get_variance(profile, 0, &variance, err));
  HEARTH_TRY(hearth_profile_get_run_facts(profile, &facts, err));
  HEARTH_TRY(hearth_profile_get_history(profile, &history, err));
  hearth_heap_history_free(&history);
  return verify_binaries(profile, err);
}
