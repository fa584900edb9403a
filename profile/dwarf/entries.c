/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units are listed by their headers. Attributes are read where they lie; values that are not wanted are passed over by
 * sizes that their abbreviation knows. */
#include "dwarf_reader.h"

#include <dwarf.h>
#include <stdlib.h>

#include "array.h"

/* --- Units -------------------------------------------------------------------------------------------------------- */

static bool has_id(uint8_t type) { return type == DW_UT_skeleton || type == DW_UT_split_compile; }

/* The rest of a header, behind length and version. *at moves behind it, to the root. */
static bool entry_read_header(hearth_dwarf_unit *unit, uint64_t *at) {
  uint64_t type = DW_UT_compile, address_size, abbreviations;
  bool new = unit->format.version >= 5;
  hearth_bytes from = unit->contents;
  bool ok = new ? hearth_bytes_number(from, at, 1, &type) && hearth_bytes_number(from, at, 1, &address_size) &&
                      hearth_bytes_number(from, at, unit->format.offset_size, &abbreviations)
                : hearth_bytes_number(from, at, unit->format.offset_size, &abbreviations) &&
                      hearth_bytes_number(from, at, 1, &address_size);
  if (!ok || address_size != 8)
    return false;
  unit->type = (uint8_t)type;
  unit->abbreviations = (hearth_abbreviations){.section = unit->of->sections.abbreviations, .at = abbreviations};
  unit->root = *at + (type == DW_UT_type || type == DW_UT_split_type ? 8u + unit->format.offset_size : 0);
  if (!has_id(unit->type))
    return true;
  bool read = hearth_bytes_number(from, at, 8, &unit->id);
  unit->root = *at;
  return read;
}

/* Start of the unit's part of .debug_str_offsets: split units do not name it. */
static uint64_t default_string_base(const hearth_dwarf_unit *unit) {
  return !unit->of->sections.split ? 0 : unit->format.offset_size == 8 ? 16 : 8;
}

/* The root's facts about the unit. */
static hearth_dwarf_status read_root(hearth_dwarf_unit *unit) {
  hearth_die root;
  hearth_dwarf_status status = hearth_die_root(unit, &root);
  if (status != HEARTH_DWARF_OK)
    return status;
  unit->string_base = hearth_die_number(&root, DW_AT_str_offsets_base, default_string_base(unit));
  unit->address_base = hearth_die_number(&root, DW_AT_addr_base, 0);
  if (unit->format.version < 5 && root.shape.tag != DW_TAG_compile_unit)
    unit->type = DW_UT_partial;
  return HEARTH_DWARF_OK;
}

/* The unit at *at, which moves behind it. */
static hearth_dwarf_status read_unit(hearth_entries *info, uint64_t *at, hearth_dwarf_unit *ret) {
  hearth_bytes section = info->sections.info;
  uint64_t length, version;
  *ret = (hearth_dwarf_unit){.of = info, .begin = *at, .format.offset_size = 4};
  if (!hearth_bytes_number(section, at, 4, &length))
    return HEARTH_DWARF_DAMAGED;
  if (length == UINT32_MAX) {
    ret->format.offset_size = 8;
    if (!hearth_bytes_number(section, at, 8, &length))
      return HEARTH_DWARF_DAMAGED;
  }
  if (length > section.size - *at)
    return HEARTH_DWARF_DAMAGED;
  uint64_t end = *at + length;
  ret->contents = (hearth_bytes){section.data, end};
  if (!hearth_bytes_number(ret->contents, at, 2, &version) || version < 2 || version > 5)
    return HEARTH_DWARF_DAMAGED;
  ret->format.version = (uint8_t)version;
  if (!entry_read_header(ret, at))
    return HEARTH_DWARF_DAMAGED;
  *at = end;
  return HEARTH_DWARF_OK;
}

static hearth_dwarf_status read_units(hearth_entries *info) {
  for (uint64_t at = 0; at < info->sections.info.size;) {
    if (!hearth_array_grow(&info->units, &info->capacity, info->count, sizeof *info->units))
      return HEARTH_DWARF_NO_MEMORY;
    hearth_dwarf_unit *unit = &info->units[info->count];
    hearth_dwarf_status status = read_unit(info, &at, unit);
    if (status != HEARTH_DWARF_OK)
      return status;
    ++info->count;
    status = unit->root < unit->contents.size ? read_root(unit) : HEARTH_DWARF_OK;
    if (status != HEARTH_DWARF_OK)
      return status;
  }
  return HEARTH_DWARF_OK;
}

hearth_dwarf_status hearth_entries_read(const hearth_dwarf_sections *sections, const hearth_entries *alternate,
                                        hearth_entries *ret) {
  *ret = (hearth_entries){.sections = *sections, .alternate = alternate};
  hearth_dwarf_status status = read_units(ret);
  if (status != HEARTH_DWARF_OK)
    hearth_entries_free(ret);
  return status;
}

void hearth_entries_free(hearth_entries *info) {
  for (size_t i = 0; i < info->count; ++i)
    hearth_abbreviations_free(&info->units[i].abbreviations);
  free(info->units);
  *info = (hearth_entries){0};
}

/* The unit with an offset of .debug_info; NULL: there is none. */
static hearth_dwarf_unit *unit_with(const hearth_entries *info, uint64_t offset) {
  size_t up_to = hearth_count_up_to(offset, info->units, info->count, sizeof *info->units);
  return up_to > 0 && offset < info->units[up_to - 1].contents.size ? &info->units[up_to - 1] : NULL;
}

/* --- Attributes --------------------------------------------------------------------------------------------------- */

/* The size of a block's length, or of a block whose length is a ULEB128 number: 0. */
static size_t block_prefix(uint16_t form) {
  return form == DW_FORM_block1 ? 1 : form == DW_FORM_block2 ? 2 : form == DW_FORM_block4 ? 4 : 0;
}

static bool pass_block(hearth_bytes from, uint16_t form, uint64_t *at) {
  uint64_t length;
  size_t prefix = block_prefix(form);
  if (!(prefix ? hearth_bytes_number(from, at, prefix, &length) : hearth_bytes_uleb(from, at, &length)) ||
      length > from.size - *at)
    return false;
  *at += length;
  return true;
}

/* A value that is neither of fixed size nor a number; *at moves behind it. */
static bool pass_varying(hearth_bytes from, uint16_t form, uint64_t *at) {
  const char *string;
  switch (form) {
  case DW_FORM_string:
    string = hearth_bytes_string(from, *at);
    *at += string ? strlen(string) + 1 : 0;
    return string != NULL;
  case DW_FORM_block:
  case DW_FORM_exprloc:
  case DW_FORM_block1:
  case DW_FORM_block2:
  case DW_FORM_block4:
    return pass_block(from, form, at);
  default: /* DW_FORM_indirect, which no compiler uses, and unknown forms */
    return false;
  }
}

static bool read_fixed(hearth_bytes from, const hearth_attribute_shape *shape, uint64_t *at, uint64_t *ret) {
  if (shape->size == 0)
    *ret = shape->form == DW_FORM_flag_present ? 1 : (uint64_t)shape->value;
  else if (shape->size <= 8)
    return hearth_bytes_number(from, at, shape->size, ret);
  *at += shape->size;
  return *at <= from.size;
}

/* The value of an attribute; *at moves behind it. */
static bool read_value(hearth_dwarf_unit *unit, const hearth_attribute_shape *shape, uint64_t *at,
                       hearth_attribute *ret) {
  *ret = (hearth_attribute){.unit = unit, .name = shape->name, .form = shape->form, .at = *at};
  if (shape->kind == HEARTH_FORM_FIXED)
    return read_fixed(unit->contents, shape, at, &ret->number);
  if (shape->kind == HEARTH_FORM_VARIES)
    return pass_varying(unit->contents, shape->form, at);
  return shape->form == DW_FORM_sdata ? hearth_bytes_sleb(unit->contents, at, &ret->number)
                                      : hearth_bytes_uleb(unit->contents, at, &ret->number);
}

/* Pass over a value whose size is not fixed. */
static inline bool pass_unfixed(hearth_bytes from, const hearth_attribute_shape *shape, uint64_t *at) {
  return shape->kind == HEARTH_FORM_LEB ? hearth_bytes_pass_leb(from, at) : pass_varying(from, shape->form, at);
}

/* Pass over a value. A value of fixed size may be cut off: *at is then behind the end, where nothing can be read. */
static bool pass_value(hearth_bytes from, const hearth_attribute_shape *shape, uint64_t *at) {
  if (shape->kind != HEARTH_FORM_FIXED)
    return pass_unfixed(from, shape, at);
  *at += shape->size;
  return true;
}

static const hearth_attribute_shape *shapes_of(const hearth_die *die) {
  return die->unit->abbreviations.attributes + die->shape.first;
}

static bool is_address(uint32_t name) { return name == DW_AT_low_pc || name == DW_AT_high_pc || name == DW_AT_ranges; }

bool hearth_die_next_address(const hearth_die *die, uint32_t *number, uint64_t *at, hearth_attribute *ret) {
  for (const hearth_attribute_shape *shapes = shapes_of(die); *number < die->shape.count; ++*number) {
    const hearth_attribute_shape *shape = &shapes[*number];
    if (!is_address(shape->name)) {
      if (!pass_value(die->unit->contents, shape, at))
        return false;
      continue;
    }
    bool read = read_value(die->unit, shape, at, ret);
    *number += read;
    return read;
  }
  return false;
}

bool hearth_die_attribute(const hearth_die *die, uint32_t name, hearth_attribute *ret) {
  const hearth_attribute_shape *shape = shapes_of(die);
  uint64_t at = die->values;
  for (uint32_t left = die->shape.count; left > 0; --left, ++shape) {
    if (shape->name == name)
      return read_value(die->unit, shape, &at, ret);
    if (!pass_value(die->unit->contents, shape, &at))
      return false;
  }
  return false;
}

bool hearth_die_integrated(const hearth_die *die, uint32_t name, hearth_attribute *ret) {
  hearth_die now = *die, origin;
  for (int steps = 0; steps < 16; ++steps) { /* real chains are short; damaged ones may be circles */
    if (hearth_die_attribute(&now, name, ret))
      return true;
    if ((!hearth_die_attribute(&now, DW_AT_abstract_origin, ret) &&
         !hearth_die_attribute(&now, DW_AT_specification, ret)) ||
        !hearth_attribute_die(ret, &origin))
      return false;
    now = origin;
  }
  return false;
}

bool hearth_attribute_number(const hearth_attribute *a, uint64_t *ret) {
  *ret = a->number;
  switch (a->form) {
  case DW_FORM_data1:
  case DW_FORM_data2:
  case DW_FORM_data4:
  case DW_FORM_data8:
  case DW_FORM_udata:
  case DW_FORM_sec_offset:
  case DW_FORM_rnglistx:
    return true;
  case DW_FORM_sdata:
  case DW_FORM_implicit_const:
    return a->number <= INT64_MAX;
  default:
    return false;
  }
}

/* Entry `number` of a table whose entries begin at `base`. */
static bool entry(hearth_bytes table, uint64_t base, uint64_t number, size_t size, uint64_t *ret) {
  if (base > table.size || number > table.size)
    return false;
  uint64_t at = base + number * size;
  return hearth_bytes_number(table, &at, size, ret);
}

bool hearth_attribute_address(const hearth_attribute *a, uint64_t *ret) {
  switch (a->form) {
  case DW_FORM_addr:
    *ret = a->number;
    return true;
  case DW_FORM_addrx:
  case DW_FORM_addrx1:
  case DW_FORM_addrx2:
  case DW_FORM_addrx3:
  case DW_FORM_addrx4:
    return entry(a->unit->of->sections.addresses, a->unit->address_base, a->number, 8, ret);
  default:
    return false;
  }
}

static bool die_of(const hearth_entries *info, uint64_t offset, hearth_die *ret) {
  hearth_dwarf_unit *unit = info ? unit_with(info, offset) : NULL;
  return unit && hearth_die_at(unit, offset, ret) == HEARTH_DWARF_OK;
}

/* Types, which other units may refer to by a hash, are of no use here. */
bool hearth_attribute_die(const hearth_attribute *a, hearth_die *ret) {
  switch (a->form) {
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
  case DW_FORM_ref_udata:
    return a->number < a->unit->contents.size && die_of(a->unit->of, a->unit->begin + a->number, ret) &&
           ret->unit == a->unit;
  case DW_FORM_ref_addr:
    return die_of(a->unit->of, a->number, ret);
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_ref_sup4:
  case DW_FORM_ref_sup8:
    return die_of(a->unit->of->alternate, a->number, ret);
  default:
    return false;
  }
}

const char *hearth_attribute_string(const hearth_attribute *a) {
  const hearth_entries *info = a->unit->of;
  uint64_t offset;
  switch (a->form) {
  case DW_FORM_string:
    return hearth_bytes_string(a->unit->contents, a->at);
  case DW_FORM_strp:
    return hearth_bytes_string(info->sections.strings, a->number);
  case DW_FORM_line_strp:
    return hearth_bytes_string(info->sections.line_strings, a->number);
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_strp_sup:
    return info->alternate ? hearth_bytes_string(info->alternate->sections.strings, a->number) : NULL;
  case DW_FORM_strx:
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4:
    return entry(info->sections.string_offsets, a->unit->string_base, a->number, a->unit->format.offset_size, &offset)
               ? hearth_bytes_string(info->sections.strings, offset)
               : NULL;
  default:
    return NULL;
  }
}

uint64_t hearth_die_number(const hearth_die *die, uint32_t name, uint64_t none) {
  hearth_attribute attribute;
  uint64_t value;
  return hearth_die_attribute(die, name, &attribute) && hearth_attribute_number(&attribute, &value) ? value : none;
}

const char *hearth_die_string(const hearth_die *die, uint32_t name) {
  hearth_attribute attribute;
  return hearth_die_attribute(die, name, &attribute) ? hearth_attribute_string(&attribute) : NULL;
}

/* --- Tree --------------------------------------------------------------------------------------------------------- */

/* The shape of the DIE at *at, which moves behind its code; NULL in *ret where a list of siblings ends, as all do at
 * the end of the unit. */
static hearth_dwarf_status next_shape(hearth_dwarf_unit *unit, uint64_t *at, const hearth_abbreviation **ret) {
  uint64_t code = 0;
  *ret = NULL;
  if (*at < unit->contents.size && !hearth_bytes_uleb(unit->contents, at, &code))
    return HEARTH_DWARF_DAMAGED;
  return code == 0 ? HEARTH_DWARF_OK : hearth_abbreviations_find(&unit->abbreviations, unit->format, code, ret);
}

hearth_dwarf_status hearth_die_next(hearth_dwarf_unit *unit, uint64_t *at, hearth_die *ret, bool *ret_end) {
  const hearth_abbreviation *shape;
  uint64_t offset = *at;
  hearth_dwarf_status status = next_shape(unit, at, &shape);
  *ret_end = !shape;
  if (status == HEARTH_DWARF_OK && shape)
    *ret = (hearth_die){.unit = unit, .offset = offset, .values = *at, .shape = *shape};
  return status;
}

hearth_dwarf_status hearth_die_at(hearth_dwarf_unit *unit, uint64_t offset, hearth_die *ret) {
  bool end;
  if (offset < unit->root || offset >= unit->contents.size)
    return HEARTH_DWARF_DAMAGED;
  hearth_dwarf_status status = hearth_die_next(unit, &offset, ret, &end);
  return status == HEARTH_DWARF_OK && end ? HEARTH_DWARF_DAMAGED : status;
}

static hearth_dwarf_status read_root_shape(hearth_dwarf_unit *unit) {
  uint64_t code, at = unit->root;
  if (at >= unit->contents.size || !hearth_bytes_uleb(unit->contents, &at, &code) || code == 0)
    return HEARTH_DWARF_DAMAGED;
  hearth_dwarf_status status = hearth_abbreviations_root(&unit->abbreviations, unit->format, code, &unit->root_shape);
  unit->root_values = status == HEARTH_DWARF_OK ? at : 0;
  return status;
}

hearth_dwarf_status hearth_die_root(hearth_dwarf_unit *unit, hearth_die *ret) {
  if (unit->root_values == 0) {
    hearth_dwarf_status status = read_root_shape(unit);
    if (status != HEARTH_DWARF_OK)
      return status;
  }
  *ret = (hearth_die){.unit = unit, .offset = unit->root, .values = unit->root_values, .shape = unit->root_shape};
  return HEARTH_DWARF_OK;
}

/* Pass over the values at *at. */
static inline hearth_dwarf_status pass_values(const hearth_dwarf_unit *unit, const hearth_abbreviation *shape,
                                              uint64_t *at) {
  const hearth_bytes contents = unit->contents;
  const hearth_attribute_shape *attribute = unit->abbreviations.attributes + shape->first;
  uint64_t to = *at + shape->fixed_size;
  attribute += shape->fixed;
  for (uint32_t left = shape->passes; left > 0; --left) {
    if (!pass_unfixed(contents, attribute, &to))
      return HEARTH_DWARF_DAMAGED;
    to += attribute->fixed_size;
    attribute += 1 + attribute->fixed;
  }
  *at = to;
  return to <= contents.size ? HEARTH_DWARF_OK : HEARTH_DWARF_DAMAGED;
}

hearth_dwarf_status hearth_die_pass(const hearth_die *die, uint64_t *ret) {
  *ret = die->values;
  return pass_values(die->unit, &die->shape, ret);
}

/* Move *at from a DIE's values to where DW_AT_sibling points; false: it is not there, or points back. */
static bool pass_to_sibling(hearth_dwarf_unit *unit, const hearth_abbreviation *shape, uint64_t *at) {
  hearth_attribute sibling;
  hearth_die die = {.unit = unit, .values = *at, .shape = *shape};
  if (!hearth_die_attribute(&die, DW_AT_sibling, &sibling) || sibling.number >= unit->contents.size)
    return false;
  uint64_t to = sibling.number + (sibling.form == DW_FORM_ref_addr ? 0 : unit->begin);
  if (to <= *at || to > unit->contents.size)
    return false;
  *at = to;
  return true;
}

hearth_dwarf_status hearth_die_pass_tree(const hearth_die *die, uint64_t *ret) {
  hearth_dwarf_unit *unit = die->unit;
  const hearth_abbreviation *shape = &die->shape;
  hearth_dwarf_status status = HEARTH_DWARF_OK;
  uint64_t depth = 0, at = die->values;
  do {
    if (!shape) {
      --depth;
    } else if (!shape->has_children || !shape->has_sibling || !pass_to_sibling(unit, shape, &at)) {
      depth += shape->has_children;
      status = pass_values(unit, shape, &at);
    }
  } while (status == HEARTH_DWARF_OK && depth > 0 && (status = next_shape(unit, &at, &shape)) == HEARTH_DWARF_OK);
  *ret = at;
  return status;
}
