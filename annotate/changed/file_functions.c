/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Spacing: functions of the module that the profile has, sorted by file and first line: the next one shows by how
 * many lines the end of a function moved. Namesakes: the functions of the module's file, unless the profile knows
 * one of them; one walk over the profile's functions finds those of the same name. */
#include "salvage.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "file.h"
#include "hearth/ids.h"
#include "hearth/ir_facts.h"

static int spacing_compare(const void *a, const void *b) {
  const hearth_spaced_function *x = a, *y = b;
  return x->path != y->path ? (x->path > y->path) - (x->path < y->path) : (x->then > y->then) - (x->then < y->then);
}

/* Equal ones are before the key. */
static int compare_or_before(const void *key, const void *item) { return spacing_compare(key, item) < 0 ? -1 : 1; }

static hearth_status spacing_add(hearth_spacing *spacing, LLVMValueRef f, hearth_profile *profile,
                                 hearth_locator *locator, hearth_error *err) {
  uint64_t id;
  uint32_t row;
  hearth_function_info function;
  if (LLVMIsDeclaration(f) || !hearth_locate_function(locator, f, &id))
    return HEARTH_OK;
  hearth_status status = hearth_profile_find_function(profile, id, &row, err);
  if (status != HEARTH_OK)
    return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
  HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
  if (!function.start_line || function.path == HEARTH_NONE)
    return HEARTH_OK;
  if (!hearth_array_grow(&spacing->items, &spacing->room, spacing->count, sizeof *spacing->items))
    return hearth_error_nomem(err);
  spacing->items[spacing->count++] =
      (hearth_spaced_function){function.path, function.start_line, hearth_ir_subprogram_line(LLVMGetSubprogram(f))};
  return HEARTH_OK;
}

hearth_status hearth_spacing_find(hearth_spacing *spacing, LLVMModuleRef module, hearth_profile *profile,
                                  hearth_locator *locator, hearth_error *err) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    HEARTH_TRY(spacing_add(spacing, f, profile, locator, err));
  if (spacing->count)
    qsort(spacing->items, spacing->count, sizeof *spacing->items, spacing_compare);
  return HEARTH_OK;
}

void hearth_spacing_free(hearth_spacing *spacing) {
  free(spacing->items);
  memset(spacing, 0, sizeof *spacing);
}

bool hearth_spacing_behind(const hearth_spacing *spacing, const hearth_function_info *function, uint32_t now,
                           uint32_t *ret) {
  const hearth_spaced_function key = {function->path, function->start_line, now};
  size_t next = hearth_lower_bound(&key, spacing->items, spacing->count, sizeof key, compare_or_before);
  if (!function->start_line || next == spacing->count || spacing->items[next].path != function->path ||
      spacing->items[next].now <= now)
    return false;
  *ret = (spacing->items[next].now - now) - (spacing->items[next].then - function->start_line);
  return true;
}

/* -------------------------------------------------- namesakes ----------------------------------------------------- */

bool hearth_is_of_source_file(LLVMValueRef function) {
  size_t source_length, length;
  const char *base = hearth_base_name(LLVMGetSourceFileName(LLVMGetGlobalParent(function), &source_length));
  const char *path = hearth_ir_subprogram_file(LLVMGetSubprogram(function), &length);
  size_t skip = path && length >= strlen(base) ? length - strlen(base) : 0;
  return path && skip + strlen(base) == length && memcmp(path + skip, base, length - skip) == 0 &&
         (skip == 0 || path[skip - 1] == '/' || path[skip - 1] == '\\');
}

static int renamed_compare_names(const char *a, size_t a_length, const char *b, size_t b_length) {
  int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order ? order : (a_length > b_length) - (a_length < b_length);
}

static int renamed_by_name(const void *a, const void *b) {
  const hearth_namesake *x = a, *y = b;
  return renamed_compare_names(x->name, x->name_length, y->name, y->name_length);
}

static hearth_status renamed_add(hearth_namesakes *namesakes, LLVMValueRef function, uint64_t id, hearth_error *err) {
  size_t length;
  if (!hearth_array_grow(&namesakes->items, &namesakes->room, namesakes->count, sizeof *namesakes->items))
    return hearth_error_nomem(err);
  const char *name = hearth_ir_subprogram_name(LLVMGetSubprogram(function), &length);
  namesakes->items[namesakes->count++] =
      (hearth_namesake){.function = function,
                        .name = name,
                        .name_length = hearth_function_name_length(name ? name : "", length),
                        .id = id};
  return HEARTH_OK;
}

/* The functions of the module's file, unless the profile knows one of them. */
static hearth_status list_functions(hearth_namesakes *namesakes, LLVMModuleRef module, hearth_profile *profile,
                                    hearth_locator *locator, hearth_error *err) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    uint64_t id;
    uint32_t row;
    if (LLVMIsDeclaration(f) || !hearth_locate_function(locator, f, &id) || !hearth_is_of_source_file(f))
      continue;
    hearth_status status = hearth_profile_find_function(profile, id, &row, err);
    if (status == HEARTH_OK)
      namesakes->count = 0;
    if (status != HEARTH_E_NOT_FOUND)
      return status;
    HEARTH_TRY(renamed_add(namesakes, f, id, err));
  }
  if (namesakes->count)
    qsort(namesakes->items, namesakes->count, sizeof *namesakes->items, renamed_by_name);
  return HEARTH_OK;
}

/* Functions of unknown place are not those of a file. */
static hearth_status look_up(hearth_namesakes *namesakes, hearth_profile *profile, hearth_error *err) {
  for (uint32_t row = 0, end = hearth_profile_function_count(profile); row < end; row++) {
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_function(profile, row, &function, err));
    hearth_namesake key = {.name = function.name, .name_length = strlen(function.name)};
    hearth_namesake *found = function.start_line && *function.name
                                 ? bsearch(&key, namesakes->items, namesakes->count, sizeof key, renamed_by_name)
                                 : NULL;
    if (!found)
      continue;
    found->row = row;
    found->count++;
  }
  return HEARTH_OK;
}

hearth_status hearth_namesakes_find(hearth_namesakes *namesakes, LLVMModuleRef module, hearth_profile *profile,
                                    hearth_locator *locator, hearth_error *err) {
  bool any_external = false, any_found = false;
  HEARTH_TRY(list_functions(namesakes, module, profile, locator, err));
  for (size_t i = 0; i < namesakes->count; i++)
    any_external |= !hearth_is_local(namesakes->items[i].function);
  if (any_external)
    HEARTH_TRY(look_up(namesakes, profile, err));
  for (size_t i = 0; i < namesakes->count; i++)
    any_found |= namesakes->items[i].count && !hearth_is_local(namesakes->items[i].function);
  if (!any_found)
    namesakes->count = 0;
  return HEARTH_OK;
}

void hearth_namesakes_free(hearth_namesakes *namesakes) {
  free(namesakes->items);
  memset(namesakes, 0, sizeof *namesakes);
}
