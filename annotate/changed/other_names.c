/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two lists of candidates get keys, first the whole name without parameters and result, then the function's own name. Both
 * are sorted by key: what stands alone in both is a pair, and is in neither list for the second key. */
#include "other_names.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "hearth/ids.h"
#include "hearth/ir_facts.h"
#include "renamed.h"
#include "shim.h"

/* A function of the module, or of the profile. */
typedef struct candidate {
  char *key;             /* NULL: it has no name in C++ */
  LLVMValueRef function; /* NULL: of the profile */
  uint64_t id;
  uint32_t row;
  bool paired;
} candidate;

typedef struct candidates {
  candidate *items;
  size_t count, room;
} candidates;

typedef struct finding {
  hearth_profile *profile;
  candidates unknown, gone;
  bool *seen;    /* by row of functions: the module has it */
  uint32_t path; /* of the module's file in the profile; HEARTH_NONE: not known */
  hearth_error *err;
} finding;

static hearth_status add(candidates *list, candidate item, hearth_error *err) {
  if (!hearth_array_grow(&list->items, &list->room, list->count, sizeof *list->items))
    return hearth_error_nomem(err);
  list->items[list->count++] = item;
  return HEARTH_OK;
}

/* Functions of the module: which the profile has, and which of the module's file it has not. */
static hearth_status look_at(finding *f, LLVMValueRef function, hearth_locator *locator) {
  uint64_t id;
  uint32_t row;
  if (LLVMIsDeclaration(function) || !hearth_locate_function(locator, function, &id))
    return HEARTH_OK;
  bool is_own = hearth_is_of_source_file(function);
  hearth_status status = hearth_profile_find_function(f->profile, id, &row, f->err);
  if (status == HEARTH_E_NOT_FOUND)
    return is_own ? add(&f->unknown, (candidate){.function = function, .id = id}, f->err) : HEARTH_OK;
  HEARTH_TRY(status);
  f->seen[row] = true;
  if (is_own && f->path == HEARTH_NONE) {
    hearth_function_info info;
    HEARTH_TRY(hearth_profile_get_function(f->profile, row, &info, f->err));
    f->path = info.start_line ? info.path : HEARTH_NONE;
  }
  return HEARTH_OK;
}

static hearth_status list_gone(finding *f) {
  for (uint32_t row = 0, end = hearth_profile_function_count(f->profile); row < end; row++) {
    hearth_function_info info;
    if (f->seen[row])
      continue;
    HEARTH_TRY(hearth_profile_get_function(f->profile, row, &info, f->err));
    if (info.path == f->path && info.start_line && info.frame_count && *info.name)
      HEARTH_TRY(add(&f->gone, (candidate){.row = row}, f->err));
  }
  return HEARTH_OK;
}

static hearth_status give_key(const finding *f, candidate *item, bool whole) {
  size_t length;
  hearth_function_info info;
  const char *name;
  if (item->function) {
    name = hearth_ir_subprogram_name(LLVMGetSubprogram(item->function), &length);
    length = name ? hearth_function_name_length(name, length) : 0;
  } else {
    HEARTH_TRY(hearth_profile_get_function(f->profile, item->row, &info, f->err));
    name = info.name;
    length = strlen(name);
  }
  item->key = name ? hearth_shim_readable_name(name, length, whole) : NULL;
  return HEARTH_OK;
}

static int by_key(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (!x->key || !y->key)
    return !x->key - !y->key;
  return strcmp(x->key, y->key);
}

/* Functions without a key come last. */
static hearth_status give_keys(const finding *f, candidates *list, bool whole) {
  for (size_t i = 0; i < list->count; i++)
    HEARTH_TRY(give_key(f, &list->items[i], whole));
  if (list->count)
    qsort(list->items, list->count, sizeof *list->items, by_key);
  return HEARTH_OK;
}

/* The end of the items with the key of the item at `i`. */
static size_t end_of_key(const candidates *list, size_t i) {
  size_t end = i + 1;
  while (end < list->count && by_key(&list->items[i], &list->items[end]) == 0)
    end++;
  return end;
}

/* Frees the keys, and drops functions that are paired. */
static void forget_keys(candidates *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    free(list->items[i].key);
    list->items[i].key = NULL;
    if (!list->items[i].paired)
      list->items[kept++] = list->items[i];
  }
  list->count = kept;
}

static hearth_status pair(finding *f, hearth_other_names *ret) {
  size_t i = 0, k = 0, i_end, k_end;
  for (; i < f->unknown.count && k < f->gone.count && f->unknown.items[i].key && f->gone.items[k].key;
       i = i_end, k = k_end) {
    int order = by_key(&f->unknown.items[i], &f->gone.items[k]);
    i_end = order <= 0 ? end_of_key(&f->unknown, i) : i;
    k_end = order >= 0 ? end_of_key(&f->gone, k) : k;
    if (order || i_end > i + 1 || k_end > k + 1)
      continue;
    if (!hearth_array_grow(&ret->items, &ret->room, ret->count, sizeof *ret->items))
      return hearth_error_nomem(f->err);
    ret->items[ret->count++] =
        (hearth_other_name){f->unknown.items[i].function, f->unknown.items[i].id, f->gone.items[k].row};
    f->unknown.items[i].paired = f->gone.items[k].paired = true;
  }
  return HEARTH_OK;
}

static hearth_status find(finding *f, hearth_other_names *ret, LLVMModuleRef module, hearth_locator *locator) {
  hearth_status status = HEARTH_OK;
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function))
    HEARTH_TRY(look_at(f, function, locator));
  if (f->unknown.count == 0 || f->path == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(list_gone(f));
  for (int whole = 1; whole >= 0 && f->gone.count && status == HEARTH_OK; whole--) {
    status = give_keys(f, &f->unknown, whole);
    if (status == HEARTH_OK)
      status = give_keys(f, &f->gone, whole);
    if (status == HEARTH_OK)
      status = pair(f, ret);
    forget_keys(&f->unknown);
    forget_keys(&f->gone);
  }
  return status;
}

hearth_status hearth_other_names_find(hearth_other_names *names, LLVMModuleRef module, hearth_profile *profile,
                                      hearth_locator *locator, hearth_error *err) {
  finding f = {.profile = profile, .path = HEARTH_NONE, .err = err};
  f.seen = calloc((size_t)hearth_profile_function_count(profile) + 1, sizeof *f.seen);
  hearth_status status = f.seen ? find(&f, names, module, locator) : hearth_error_nomem(err);
  free(f.unknown.items);
  free(f.gone.items);
  free(f.seen);
  return status;
}

void hearth_other_names_free(hearth_other_names *names) {
  free(names->items);
  memset(names, 0, sizeof *names);
}
