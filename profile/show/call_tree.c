/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tree of a function's callers, or of what it calls. Of a context in which the function is several times,
 * callers are those of the outermost call, and callees those of the innermost: each context counts once, and no
 * function is its own caller. Wrappers are looked through. A branch is a pair of a group and its parent branch. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "groups.h"
#include "hearth/status.h"
#include "names.h"
#include "print.h"

enum { LEAST_SHARE_PER_CENT = 1, DEFAULT_DEPTH = 3 };

typedef struct branch {
  uint32_t group, parent; /* group: HEARTH_NONE: allocates itself */
  hearth_listing_totals sum;
} branch;

typedef struct call_tree {
  hearth_profile *profile;
  hearth_listing_options options;
  hearth_view_options view;
  hearth_names names;
  hearth_selection selection;
  hearth_groups groups;
  unsigned char *matches; /* by function row */
  bool *is_wanted;        /* by frame row */
  unsigned char wanted;   /* value in `matches` of functions with the name or, if there are none, with the text */
  bool callees;
  hearth_frames stack;
  uint32_t *path; /* groups of the stack at hand, the wanted one first */
  size_t path_room;
  hearth_pair_set pairs;
  branch *branches;
  size_t room;
  hearth_listing_totals all;
  FILE *stream;
} call_tree;

/* -------------------------------------------------- functions -------------------------------------------------- */

enum { HAS_TEXT = 1, HAS_NAME = 2 };

/* All forms of a name count. */
static hearth_status call_tree_match_function(call_tree *t, uint32_t row, const char *text, hearth_error *err) {
  hearth_function_info info;
  HEARTH_TRY(hearth_profile_get_function(t->profile, row, &info, err));
  char *name = hearth_name_make(info.name, HEARTH_NAMES_FULL);
  HEARTH_TRY(hearth_check_memory(name, err));
  bool has_text = strstr(name, text), has_name = strcmp(name, text) == 0;
  hearth_shorten_name(name);
  has_text |= strstr(name, text) || strstr(info.name, text);
  has_name |= strcmp(name, text) == 0 || strcmp(info.name, text) == 0;
  t->matches[row] = has_name ? HAS_NAME : has_text ? HAS_TEXT : 0;
  t->wanted = t->matches[row] > t->wanted ? t->matches[row] : t->wanted;
  free(name);
  return HEARTH_OK;
}

static hearth_status match_functions(call_tree *t, const char *text, hearth_error *err) {
  uint32_t count = hearth_profile_function_count(t->profile);
  HEARTH_TRY(hearth_array_create(&t->matches, count, sizeof *t->matches, err));
  for (uint32_t row = 0; row < count; row++)
    HEARTH_TRY(call_tree_match_function(t, row, text, err));
  return t->wanted ? HEARTH_OK
                   : hearth_error_set(err, HEARTH_E_NOT_FOUND, "no function of the profile has '%s' in its name", text);
}

static hearth_status mark_frames(call_tree *t, hearth_error *err) {
  uint32_t count = hearth_profile_frame_count(t->profile);
  HEARTH_TRY(hearth_array_create(&t->is_wanted, count, sizeof *t->is_wanted, err));
  for (uint32_t row = 0; row < count; row++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(t->profile, row, &frame, err));
    t->is_wanted[row] = t->matches[frame.function] == t->wanted;
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- branches -------------------------------------------------- */

static hearth_status add_branch(call_tree *t, uint32_t group, uint32_t parent, const hearth_listing_totals *sum,
                                uint32_t *ret, hearth_error *err) {
  uint32_t before = t->pairs.count;
  HEARTH_TRY(hearth_pair_set_add(&t->pairs, (hearth_pair){group, parent}, ret, err));
  if (t->pairs.count > before) {
    HEARTH_TRY(hearth_check_memory(hearth_array_grow(&t->branches, &t->room, before, sizeof *t->branches), err));
    t->branches[*ret] = (branch){.group = group, .parent = parent};
  }
  hearth_listing_add_totals(&t->branches[*ret].sum, sum);
  return HEARTH_OK;
}

static hearth_status call_tree_add_path(call_tree *t, size_t count, const hearth_listing_totals *sum,
                                        hearth_error *err) {
  uint32_t at = HEARTH_NONE;
  size_t most = (t->view.depth ? t->view.depth : DEFAULT_DEPTH) + 1;
  for (size_t i = 0; i < count && i < most; i++)
    HEARTH_TRY(add_branch(t, t->path[i], at, sum, &at, err));
  return count < most && t->callees ? add_branch(t, HEARTH_NONE, at, sum, &at, err) : HEARTH_OK;
}

/* Where in the stack the wanted function is: nearest to the root for its callers, else to the leaf. */
static size_t find_wanted(const call_tree *t) {
  size_t found = t->stack.count;
  for (size_t i = 0; i < t->stack.count; i++)
    if (t->is_wanted[t->stack.frames[i]]) {
      found = i;
      if (t->callees)
        break;
    }
  return found;
}

/* Frames of one function that call each other are one step. */
static hearth_status call_tree_read_path(call_tree *t, size_t wanted, size_t *ret_count, hearth_error *err) {
  size_t steps = t->callees ? wanted + 1 : t->stack.count - wanted;
  HEARTH_TRY(hearth_check_memory(hearth_array_reserve(&t->path, &t->path_room, 0, steps, sizeof *t->path), err));
  *ret_count = 0;
  for (size_t i = 0; i < steps; i++) {
    uint32_t group, frame = t->stack.frames[t->callees ? wanted - i : wanted + i];
    HEARTH_TRY(hearth_groups_of_frame(&t->groups, frame, &group, err));
    if (i == 0 && group == HEARTH_NONE) /* a wrapper that was asked for */
      HEARTH_TRY(hearth_groups_name_frame(&t->groups, frame, &group, err));
    if (group != HEARTH_NONE && (*ret_count == 0 || t->path[*ret_count - 1] != group))
      t->path[(*ret_count)++] = group;
  }
  return HEARTH_OK;
}

static hearth_status call_tree_add_context(call_tree *t, uint32_t context, hearth_error *err) {
  hearth_selected s;
  size_t count = 0;
  HEARTH_TRY(hearth_selection_get(&t->selection, context, &s, err));
  if (!s.wanted)
    return HEARTH_OK;
  HEARTH_TRY(hearth_frames_read(&t->stack, t->profile, s.node, err));
  size_t wanted = find_wanted(t);
  if (wanted == t->stack.count)
    return HEARTH_OK;
  hearth_listing_totals sum = {.contexts = 1,
                               .bytes = s.mib.TotalSize,
                               .allocs = s.mib.AllocCount,
                               .sorted = hearth_listing_value(&t->options, &s)};
  hearth_listing_add_totals(&t->all, &sum);
  HEARTH_TRY(call_tree_read_path(t, wanted, &count, err));
  return call_tree_add_path(t, count, &sum, err);
}

/* -------------------------------------------------- printing -------------------------------------------------- */

/* A branch in the order of printing: by parent, heaviest first. */
typedef struct ordered {
  uint32_t parent, branch;
  uint64_t value;
} ordered;

static int call_tree_compare(const void *a, const void *b) {
  const ordered *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  if (x->value != y->value)
    return x->value > y->value ? -1 : 1;
  return (x->branch > y->branch) - (x->branch < y->branch);
}

static void call_tree_print_branch(const call_tree *t, const branch *b, unsigned level) {
  fprintf(t->stream, " %12s", hearth_amount_of(hearth_listing_quantity(&t->options), b->sum.sorted).c);
  fprintf(t->stream, " %5.1f%% %13" PRIu64 "  %*s", hearth_percent(b->sum.sorted, t->all.sorted), b->sum.allocs,
          (int)(2 * level), "");
  if (b->group == HEARTH_NONE) {
    fputs("(allocates itself)\n", t->stream);
    return;
  }
  const hearth_group *group = &t->groups.items[b->group];
  hearth_print_name(group->name, 0, t->stream);
  fputs("  ", t->stream);
  hearth_print_name(hearth_base_name(group->path), 0, t->stream);
  fputc('\n', t->stream);
}

/* The branches below one, which stand together. */
static void print_level(const call_tree *t, const ordered *order, uint32_t parent, unsigned level) {
  const ordered key = {.parent = parent, .value = UINT64_MAX};
  size_t count = t->pairs.count, hidden = 0, printed = 0;
  uint64_t hidden_value = 0;
  for (size_t i = hearth_lower_bound(&key, order, count, sizeof key, call_tree_compare);
       i < count && order[i].parent == parent; i++) {
    if (printed < t->options.groups && order[i].value >= t->all.sorted / 100 * LEAST_SHARE_PER_CENT) {
      printed++;
      call_tree_print_branch(t, &t->branches[order[i].branch], level);
      print_level(t, order, order[i].branch, level + 1);
    } else {
      hidden++;
      hidden_value += order[i].value;
    }
  }
  if (hidden > 0)
    fprintf(t->stream, " %12s %5.1f%% %13s  %*s... and %zu more\n", "", hearth_percent(hidden_value, t->all.sorted), "",
            (int)(2 * level), "", hidden);
}

static hearth_status print_tree(const call_tree *t, hearth_error *err) {
  ordered *order;
  HEARTH_TRY(hearth_array_create(&order, t->pairs.count, sizeof *order, err));
  for (uint32_t i = 0; i < t->pairs.count; i++)
    order[i] = (ordered){.parent = t->branches[i].parent, .branch = i, .value = t->branches[i].sum.sorted};
  qsort(order, t->pairs.count, sizeof *order, call_tree_compare);
  fprintf(t->stream, " %12s        %13s  %s\n", hearth_listing_quantity_name(&t->options), "allocations",
          t->callees ? "function, and what it calls" : "function, and its callers");
  print_level(t, order, HEARTH_NONE, 0);
  free(order);
  return hearth_stream_flush(t->stream, err);
}

static hearth_status make_and_print(call_tree *t, const char *function, hearth_error *err) {
  HEARTH_TRY(hearth_names_init(&t->names, t->profile, &t->view, err));
  HEARTH_TRY(hearth_selection_init(&t->selection, t->profile, &t->view, err));
  HEARTH_TRY(hearth_groups_init(&t->groups, &t->names, HEARTH_BY_FUNCTION, err));
  HEARTH_TRY(match_functions(t, function, err));
  HEARTH_TRY(mark_frames(t, err));
  for (uint32_t i = 0; i < hearth_profile_context_count(t->profile); i++)
    HEARTH_TRY(call_tree_add_context(t, i, err));
  return print_tree(t, err);
}

hearth_status hearth_call_tree_print(hearth_profile *profile, const hearth_listing_options *options,
                                     const char *function, bool callees, FILE *stream, hearth_error *err) {
  call_tree t = {.profile = profile, .callees = callees, .stream = stream};
  HEARTH_TRY(hearth_options_take(&t.options, sizeof t.options, options, err));
  HEARTH_TRY(hearth_options_take(&t.view, sizeof t.view, t.options.view, err));
  hearth_status status = make_and_print(&t, function, err);
  hearth_groups_destroy(&t.groups);
  hearth_selection_destroy(&t.selection);
  hearth_names_destroy(&t.names);
  hearth_pair_set_destroy(&t.pairs);
  HEARTH_FREE(t.matches, t.is_wanted, t.stack.frames, t.path, t.branches);
  return status;
}
