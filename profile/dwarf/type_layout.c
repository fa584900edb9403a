/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A walk over namespaces and classes, with the qualified name of the present one in a buffer, until the type is found. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "debug_info.h"
#include "dwarf_reader.h"

struct hearth_type_layouts {
  hearth_elf_file *binary, *debug_file; /* NULL: it is the binary itself */
  hearth_units *units;
  hearth_type_member *members; /* of the type that was found last */
  size_t count, room;
};

typedef struct search {
  hearth_type_layouts *layouts;
  const char *name;
  uint64_t size;
  char *scope; /* "ns::outer::": of the DIEs that the walk is in */
  size_t scope_size, scope_room;
  size_t *lengths; /* of the scope before each of them */
  size_t depth, depth_room;
} search;

hearth_status hearth_type_layouts_open(const char *path, hearth_type_layouts **ret, hearth_error *err) {
  const hearth_debug_directories directories = {.system = true};
  hearth_type_layouts *l = calloc(1, sizeof *l);
  *ret = NULL;
  HEARTH_TRY(hearth_check_memory(l, err));
  hearth_status status = hearth_elf_file_open(path, &l->binary, err);
  HEARTH_THEN(status, hearth_debug_file_find(l->binary, directories, &l->debug_file, err));
  hearth_elf_file *file = l->debug_file ? l->debug_file : l->binary;
  HEARTH_THEN(status, hearth_elf_file_unpack(file, err));
  HEARTH_THEN(status, hearth_units_create(l->binary, file, directories, &l->units, err));
  if (status == HEARTH_OK)
    *ret = l;
  else
    hearth_type_layouts_close(l);
  return status;
}

void hearth_type_layouts_close(hearth_type_layouts *l) {
  if (!l)
    return;
  hearth_units_destroy(l->units);
  hearth_elf_file_close(l->debug_file);
  hearth_elf_file_close(l->binary);
  free(l->members);
  free(l);
}

/* -------------------------------------------------- members -------------------------------------------------- */

static hearth_status add_member(hearth_type_layouts *l, const hearth_die *die, hearth_error *err) {
  const uint64_t unknown = UINT64_MAX;
  uint64_t offset = hearth_die_number(die, DW_AT_data_member_location, unknown);
  const char *name = hearth_die_string(die, DW_AT_name);
  hearth_attribute attribute;
  hearth_die type;
  bool is_base = die->shape.tag == DW_TAG_inheritance;
  if ((!is_base && die->shape.tag != DW_TAG_member) || offset == unknown ||
      (l->count > 0 && offset <= l->members[l->count - 1].offset))
    return HEARTH_OK;
  if (is_base && hearth_die_attribute(die, DW_AT_type, &attribute) && hearth_attribute_die(&attribute, &type))
    name = hearth_die_string(&type, DW_AT_name);
  HEARTH_TRY(hearth_check_memory(hearth_array_grow(&l->members, &l->room, l->count, sizeof *l->members), err));
  l->members[l->count++] = (hearth_type_member){.name = name ? name : "", .offset = offset};
  return HEARTH_OK;
}

static hearth_status read_members(search *s, const hearth_die *type, hearth_error *err) {
  hearth_type_layouts *l = s->layouts;
  hearth_die die;
  uint64_t at;
  bool end = false;
  HEARTH_TRY(hearth_units_status(l->units, hearth_die_pass(type, &at), err));
  for (;;) {
    HEARTH_TRY(hearth_units_status(l->units, hearth_die_next(type->unit, &at, &die, &end), err));
    if (end)
      return HEARTH_OK;
    HEARTH_TRY(add_member(l, &die, err));
    HEARTH_TRY(hearth_units_status(l->units, hearth_die_pass_tree(&die, &at), err));
  }
}

/* -------------------------------------------------- search -------------------------------------------------- */

static bool has_scope(const hearth_die *die) {
  switch (die->shape.tag) {
  case DW_TAG_namespace:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
  case DW_TAG_union_type:
    return true;
  default:
    return false;
  }
}

static bool type_layout_is_wanted(const search *s, const hearth_die *die, const char *name) {
  return (die->shape.tag == DW_TAG_class_type || die->shape.tag == DW_TAG_structure_type) && die->shape.has_children &&
         strlen(s->name) == s->scope_size + strlen(name) && memcmp(s->name, s->scope, s->scope_size) == 0 &&
         strcmp(s->name + s->scope_size, name) == 0 && hearth_die_number(die, DW_AT_byte_size, 0) == s->size;
}

static hearth_status type_layout_enter(search *s, const char *name, hearth_error *err) {
  size_t size = strlen(name);
  if (!hearth_array_grow(&s->lengths, &s->depth_room, s->depth, sizeof *s->lengths) ||
      !hearth_array_reserve(&s->scope, &s->scope_room, s->scope_size, size + 2, 1))
    return hearth_error_nomem(err);
  s->lengths[s->depth++] = s->scope_size;
  memcpy(s->scope + s->scope_size, name, size);
  memcpy(s->scope + s->scope_size + size, "::", 2);
  s->scope_size += size + 2;
  return HEARTH_OK;
}

static hearth_status type_layout_visit(search *s, const hearth_die *die, uint64_t *at, hearth_error *err) {
  hearth_units *units = s->layouts->units;
  if (!has_scope(die))
    return hearth_units_status(units, hearth_die_pass_tree(die, at), err);
  const char *name = hearth_die_string(die, DW_AT_name);
  if (name && type_layout_is_wanted(s, die, name))
    return read_members(s, die, err);
  if (!die->shape.has_children)
    return hearth_units_status(units, hearth_die_pass(die, at), err);
  HEARTH_TRY(hearth_units_status(units, hearth_die_pass(die, at), err));
  return type_layout_enter(s, name ? name : "(anonymous)", err);
}

static hearth_status search_unit(search *s, const hearth_die *root, hearth_error *err) {
  hearth_units *units = s->layouts->units;
  hearth_die die;
  uint64_t at;
  bool end;
  if (!root->shape.has_children)
    return HEARTH_OK;
  HEARTH_TRY(hearth_units_status(units, hearth_die_pass(root, &at), err));
  for (s->depth = s->scope_size = 0; s->layouts->count == 0;) {
    HEARTH_TRY(hearth_units_status(units, hearth_die_next(root->unit, &at, &die, &end), err));
    if (!end)
      HEARTH_TRY(type_layout_visit(s, &die, &at, err));
    else if (s->depth == 0)
      return HEARTH_OK;
    else
      s->scope_size = s->lengths[--s->depth];
  }
  return HEARTH_OK;
}

static hearth_status search_units(search *s, hearth_error *err) {
  hearth_units *units = s->layouts->units;
  for (uint32_t i = 0; i < hearth_units_count(units) && s->layouts->count == 0; i++) {
    hearth_unit *unit;
    HEARTH_TRY(hearth_units_open(units, i, &unit, err));
    HEARTH_TRY(search_unit(s, &unit->tree, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_type_layouts_find(hearth_type_layouts *l, const char *name, uint64_t size,
                                       const hearth_type_member **ret, size_t *ret_count, hearth_error *err) {
  search s = {.layouts = l, .name = name, .size = size};
  l->count = 0;
  hearth_status status = search_units(&s, err);
  free(s.scope);
  free(s.lengths);
  *ret = l->members;
  *ret_count = status == HEARTH_OK ? l->count : 0;
  return status;
}
