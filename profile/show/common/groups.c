/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each frame has one group, found once. A context counts for the group of one of its frames, and in the cumulative
 * sum of each group of its stack once, however often the group is there. */
#define _GNU_SOURCE /* asprintf */
#include "groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/ids.h"
#include "print.h"

#define NOT_FOUND_YET (HEARTH_NONE - 1) /* in by_frame */

void hearth_listing_add_totals(hearth_listing_totals *to, const hearth_listing_totals *more) {
  to->contexts += more->contexts;
  to->allocs = hearth_merge_SUM(to->allocs, more->allocs);
  to->bytes = hearth_merge_SUM(to->bytes, more->bytes);
  to->live = hearth_merge_SUM(to->live, more->live);
  to->short_lived = hearth_merge_SUM(to->short_lived, more->short_lived);
  to->accesses = hearth_merge_SUM(to->accesses, more->accesses);
  to->library_bytes = hearth_merge_SUM(to->library_bytes, more->library_bytes);
  to->untouched = hearth_merge_SUM(to->untouched, more->untouched);
  to->lifetime_ns = hearth_merge_SUM(to->lifetime_ns, more->lifetime_ns);
  to->used_page_bytes = hearth_merge_SUM(to->used_page_bytes, more->used_page_bytes);
  to->idle_page_bytes = hearth_merge_SUM(to->idle_page_bytes, more->idle_page_bytes);
  to->byte_seconds = hearth_merge_SUM(to->byte_seconds, more->byte_seconds);
  to->sorted = hearth_merge_SUM(to->sorted, more->sorted);
}

/* If the profile is of one program, its own code is most of this. */
static hearth_status name_code_with_source(hearth_groups *g, hearth_error *err) {
  hearth_binary_text binary, program;
  uint32_t programs = 0;
  for (uint32_t i = 0; i < hearth_profile_binary_count(g->names->profile); i++) {
    HEARTH_TRY(hearth_binary_text_get(g->names->profile, i, &binary, err));
    if (!binary.is_library && programs++ == 0)
      program = binary;
  }
  int length = programs == 1 ? asprintf(&g->with_source, "(%s, and libraries with debug information)", program.name)
                             : asprintf(&g->with_source, "(code with debug information)");
  if (length < 0)
    g->with_source = NULL;
  return length < 0 ? hearth_error_nomem(err) : HEARTH_OK;
}

hearth_status hearth_groups_init(hearth_groups *g, hearth_names *names, hearth_group_kind kind, hearth_error *err) {
  uint32_t frames = hearth_profile_frame_count(names->profile);
  *g = (hearth_groups){.names = names, .kind = kind};
  HEARTH_TRY(hearth_array_create(&g->by_frame, frames, sizeof *g->by_frame, err));
  for (uint32_t i = 0; i < frames; i++)
    g->by_frame[i] = NOT_FOUND_YET;
  return name_code_with_source(g, err);
}

void hearth_groups_destroy(hearth_groups *g) {
  for (size_t i = 0; i < g->count; i++) {
    free(g->items[i].name);
    free(g->items[i].path);
  }
  HEARTH_FREE(g->items, g->with_source, g->table.slots, g->by_frame);
}

/* -------------------------------------------------- names -------------------------------------------------- */

static bool equal(const void *owner, uint32_t item, const void *key) {
  const hearth_group *x = &((const hearth_groups *)owner)->items[item], *y = key;
  return strcmp(x->name, y->name) == 0 && strcmp(x->path, y->path) == 0;
}

static uint64_t group_hash_text(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); /* FNV-1a */
  return id_table_mix(hash);
}

static hearth_status add_group(hearth_groups *g, const hearth_group *key, uint64_t hash, hearth_error *err) {
  HEARTH_TRY(hearth_check_memory(
      id_table_reserve(&g->table) && hearth_array_grow(&g->items, &g->room, g->count, sizeof *g->items), err));
  hearth_group made = {.name = strdup(key->name), .path = strdup(key->path), .linkage_name = key->linkage_name};
  g->items[g->count] = made;
  id_table_insert(&g->table, hash, (uint32_t)g->count++);
  return made.name && made.path ? HEARTH_OK : hearth_error_nomem(err);
}

static hearth_status find_group(hearth_groups *g, const hearth_group *key, uint32_t *ret, hearth_error *err) {
  uint64_t hash = group_hash_text(group_hash_text(UINT64_C(0xcbf29ce484222325), key->name), key->path);
  *ret = id_table_find(&g->table, hash, equal, g, key);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  *ret = (uint32_t)g->count;
  return add_group(g, key, hash, err);
}

static hearth_status find_site(hearth_groups *g, const hearth_place *place, uint32_t *ret, hearth_error *err) {
  char *name, line[32] = "";
  if (place->line)
    snprintf(line, sizeof line, place->frame.column ? ":%u:%u" : ":%u", place->line, place->frame.column);
  if (asprintf(&name, "%s  %s%s", place->function.name, hearth_base_name(place->function.path), line) < 0)
    return hearth_error_nomem(err);
  hearth_status status = find_group(g, &(hearth_group){.name = name, .path = ""}, ret, err);
  free(name);
  return status;
}

/* Only code that symbols name knows its library: of other code, the profile knows the source. */
static char *group_library_of(const hearth_groups *g, hearth_place *place) {
  bool named = place->frame.line == HEARTH_LINE_UNKNOWN && place->function.info.start_line == 0;
  return named && *place->function.path && !hearth_is_name_file(place->function.path) ? place->function.path
                                                                                      : g->with_source;
}

hearth_status hearth_groups_name_frame(hearth_groups *g, uint32_t frame, uint32_t *ret, hearth_error *err) {
  static char unknown_file[] = "(unknown file)", nothing[] = "";
  hearth_place place;
  HEARTH_TRY(hearth_place_get(g->names->profile, g->names, frame, &place, err));
  hearth_group key = {.path = nothing};
  if (g->kind == HEARTH_BY_SITE)
    return find_site(g, &place, ret, err);
  if (g->kind == HEARTH_BY_LIBRARY)
    key.name = group_library_of(g, &place);
  else if (g->kind == HEARTH_BY_FILE)
    key.name = *place.function.path ? place.function.path : unknown_file;
  else
    key = (hearth_group){
        .name = (char *)place.function.name, .path = place.function.path, .linkage_name = place.function.info.name};
  return find_group(g, &key, ret, err);
}

hearth_status hearth_groups_of_frame(hearth_groups *g, uint32_t frame, uint32_t *ret, hearth_error *err) {
  if (g->by_frame[frame] == NOT_FOUND_YET) {
    hearth_frame_info info;
    hearth_role role = HEARTH_ROLE_OWNER;
    HEARTH_TRY(hearth_profile_get_frame(g->names->profile, frame, &info, err));
    if (g->kind != HEARTH_BY_LIBRARY)
      HEARTH_TRY(hearth_names_role(g->names, info.function, &role, err));
    if (role != HEARTH_ROLE_OWNER)
      g->by_frame[frame] = HEARTH_NONE;
    else
      HEARTH_TRY(hearth_groups_name_frame(g, frame, &g->by_frame[frame], err));
  }
  *ret = g->by_frame[frame];
  return HEARTH_OK;
}

/* -------------------------------------------------- sums -------------------------------------------------- */

static hearth_status group_of_type(hearth_groups *g, uint64_t id, uint32_t *ret, hearth_error *err) {
  static char unknown[] = "(type not known)", several[] = "(several types)", nothing[] = "";
  const char *name;
  HEARTH_TRY(hearth_profile_type_name(g->names->profile, id, &name, err));
  hearth_group key = {.name = *name ? (char *)name : id == HEARTH_MIB_MIXED ? several : unknown, .path = nothing};
  return find_group(g, &key, ret, err);
}

/* As the page's: a power of two is the least of the sizes that are summed. */
static hearth_status group_of_size(hearth_groups *g, const hearth_mib *mib, uint32_t *ret, hearth_error *err) {
  char name[2 * sizeof(hearth_amount_text) + 4], path[] = "";
  uint64_t average = mib->AllocCount ? mib->TotalSize / mib->AllocCount : 0, least = 1;
  while (average / least >= 2)
    least *= 2;
  snprintf(name, sizeof name, "%s to %s", hearth_amount_bytes(least).c, hearth_amount_bytes(2 * least).c);
  return find_group(g, &(hearth_group){.name = name, .path = path}, ret, err);
}

static void add_cumulative(hearth_group *group, const hearth_selected *context, const hearth_listing_totals *sum) {
  if (group->seen == context->context + 1)
    return;
  group->seen = context->context + 1;
  hearth_listing_add_totals(&group->cumulative, sum);
}

/* *ret is the group of the first frame, or by caller, of the first frame of another group than that. */
static hearth_status group_add_stack(hearth_groups *g, const hearth_selected *context, const hearth_listing_totals *sum,
                                     uint32_t *ret, hearth_error *err) {
  uint32_t first = HEARTH_NONE, caller = HEARTH_NONE, frame, group;
  for (uint32_t node = context->node; node != HEARTH_NONE;) {
    HEARTH_TRY(hearth_profile_get_stack(g->names->profile, node, &frame, &node, err));
    HEARTH_TRY(hearth_groups_of_frame(g, frame, &group, err));
    if (group == HEARTH_NONE)
      continue;
    if (first == HEARTH_NONE)
      first = group;
    else if (caller == HEARTH_NONE && group != first)
      caller = group;
    add_cumulative(&g->items[group], context, sum);
  }
  *ret = g->kind == HEARTH_BY_CALLER && caller != HEARTH_NONE ? caller : first;
  if (first != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_names_owner(g->names, context->node, &frame, err)); /* all are wrappers */
  HEARTH_TRY(hearth_groups_name_frame(g, frame, ret, err));
  add_cumulative(&g->items[*ret], context, sum);
  return HEARTH_OK;
}

hearth_status hearth_groups_add(hearth_groups *g, const hearth_selected *context, const hearth_listing_totals *sum,
                                uint32_t *ret, hearth_error *err) {
  if (hearth_groups_lack_callees(g->kind)) {
    HEARTH_TRY(g->kind == HEARTH_BY_SIZE ? group_of_size(g, &context->mib, ret, err)
                                         : group_of_type(g, context->mib.DataTypeId, ret, err));
    add_cumulative(&g->items[*ret], context, sum);
  } else {
    HEARTH_TRY(group_add_stack(g, context, sum, ret, err));
  }
  hearth_listing_add_totals(&g->items[*ret].flat, sum);
  return HEARTH_OK;
}

/* ------------------------------------------------ pair set ------------------------------------------------ */

/* A hash table over one growing array of pairs. */

void hearth_pair_set_destroy(hearth_pair_set *set) {
  free(set->pairs);
  free(set->table.slots);
  *set = (hearth_pair_set){0};
}

static bool pair_set_equal(const void *owner, uint32_t item, const void *key) {
  const hearth_pair *x = &((const hearth_pair_set *)owner)->pairs[item], *y = key;
  return x->first == y->first && x->second == y->second;
}

static hearth_status group_reserve(hearth_pair_set *set, hearth_error *err) {
  if (set->count == UINT32_C(1) << 31)
    return hearth_error_set(err, HEARTH_E_FULL, "more than 2^31 different call chains");
  return id_table_reserve_row(&set->table, &set->pairs, &set->room, set->count, sizeof *set->pairs, err);
}

hearth_status hearth_pair_set_add(hearth_pair_set *set, hearth_pair pair, uint32_t *ret, hearth_error *err) {
  uint64_t hash = id_table_mix((uint64_t)pair.first << 32 | pair.second);
  *ret = id_table_find(&set->table, hash, pair_set_equal, set, &pair);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(group_reserve(set, err));
  *ret = set->count++;
  set->pairs[*ret] = pair;
  id_table_insert(&set->table, hash, *ret);
  return HEARTH_OK;
}
