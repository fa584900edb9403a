/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shapes are read in the order of the table, as far as the code that is asked for; sizes of neighbouring attributes of
 * fixed size are summed, so that they are passed over at once. */
#include "dwarf_reader.h"

#include <dwarf.h>
#include <stdlib.h>

#include "array.h"

#define NOT_FIXED UINT8_MAX

/* NOT_FIXED: it is told by the value. */
static uint8_t size_of_form(hearth_dwarf_format format, uint64_t form) {
  switch (form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const:
    return 0;
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1:
    return 1;
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2:
    return 2;
  case DW_FORM_strx3:
  case DW_FORM_addrx3:
    return 3;
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4:
    return 4;
  case DW_FORM_addr:
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sig8:
  case DW_FORM_ref_sup8:
    return 8;
  case DW_FORM_data16:
    return 16;
  case DW_FORM_ref_addr:
    return format.version < 3 ? 8 : format.offset_size;
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_sec_offset:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_GNU_strp_alt:
    return format.offset_size;
  default:
    return NOT_FIXED;
  }
}

static bool is_leb(uint64_t form) {
  switch (form) {
  case DW_FORM_udata:
  case DW_FORM_sdata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
    return true;
  default:
    return false;
  }
}

static void set_form(hearth_attribute_shape *attribute, hearth_dwarf_format format, uint16_t form) {
  uint8_t size = size_of_form(format, form);
  attribute->form = form;
  attribute->size = size == NOT_FIXED ? 0 : size;
  attribute->kind = size != NOT_FIXED ? HEARTH_FORM_FIXED : is_leb(form) ? HEARTH_FORM_LEB : HEARTH_FORM_VARIES;
}

/* ret  its name is 0 at the end of the list */
static bool read_attribute(hearth_abbreviations *t, hearth_dwarf_format format, hearth_attribute_shape *ret) {
  uint64_t name, form, value = 0;
  if (!hearth_bytes_uleb(t->section, &t->at, &name) || !hearth_bytes_uleb(t->section, &t->at, &form) ||
      name > UINT32_MAX || form > UINT16_MAX || (name == 0 && form != 0) ||
      (form == DW_FORM_implicit_const && !hearth_bytes_sleb(t->section, &t->at, &value)))
    return false;
  *ret = (hearth_attribute_shape){.value = (int64_t)value, .name = (uint32_t)name};
  set_form(ret, format, (uint16_t)form);
  return true;
}

static hearth_dwarf_status read_attributes(hearth_abbreviations *t, hearth_dwarf_format format,
                                           hearth_abbreviation *row) {
  hearth_attribute_shape attribute;
  for (;;) {
    if (t->attribute_count >= UINT32_MAX || !read_attribute(t, format, &attribute))
      return HEARTH_DWARF_DAMAGED;
    if (attribute.name == 0)
      return HEARTH_DWARF_OK;
    if (!hearth_array_grow(&t->attributes, &t->attribute_capacity, t->attribute_count, sizeof attribute))
      return HEARTH_DWARF_NO_MEMORY;
    t->attributes[t->attribute_count++] = attribute;
    row->has_sibling |= attribute.name == DW_AT_sibling;
    row->has_addresses |= attribute.name == DW_AT_low_pc || attribute.name == DW_AT_ranges;
    ++row->count;
  }
}

/* Backwards: how far the values of fixed size reach behind an attribute follows from the next one. */
static void measure_fixed(hearth_abbreviations *t, hearth_abbreviation *row) {
  for (uint32_t i = row->count; i-- > 0;) {
    hearth_attribute_shape *attribute = &t->attributes[row->first + i];
    attribute->fixed = row->fixed;
    attribute->fixed_size = row->fixed_size;
    bool fixed = attribute->kind == HEARTH_FORM_FIXED;
    row->passes += !fixed;
    row->fixed = fixed ? row->fixed + 1 : 0;
    row->fixed_size = fixed ? row->fixed_size + attribute->size : 0;
  }
}

/* A row behind its code. */
static hearth_dwarf_status read_shape(hearth_abbreviations *t, hearth_dwarf_format format, uint64_t code,
                                      hearth_abbreviation *ret) {
  uint64_t tag, children;
  if (!hearth_bytes_uleb(t->section, &t->at, &tag) || tag > UINT16_MAX ||
      !hearth_bytes_number(t->section, &t->at, 1, &children))
    return HEARTH_DWARF_DAMAGED;
  *ret = (hearth_abbreviation){
      .code = code, .first = (uint32_t)t->attribute_count, .tag = (uint16_t)tag, .has_children = children != 0};
  hearth_dwarf_status status = read_attributes(t, format, ret);
  if (status == HEARTH_DWARF_OK)
    measure_fixed(t, ret);
  return status;
}

/* Up to the end of the table, if it has no more rows. */
static hearth_dwarf_status abbreviation_read_row(hearth_abbreviations *t, hearth_dwarf_format format) {
  uint64_t code;
  hearth_abbreviation row;
  if (!hearth_bytes_uleb(t->section, &t->at, &code))
    return HEARTH_DWARF_DAMAGED;
  if (code == 0) {
    t->ended = true;
    return HEARTH_DWARF_OK;
  }
  hearth_dwarf_status status = read_shape(t, format, code, &row);
  if (status != HEARTH_DWARF_OK)
    return status;
  if (!hearth_array_grow(&t->rows, &t->capacity, t->count, sizeof *t->rows))
    return HEARTH_DWARF_NO_MEMORY;
  t->rows[t->count++] = row;
  t->unordered |= code != t->count;
  return HEARTH_DWARF_OK;
}

/* Pass over a row behind its code. */
static bool pass_shape(const hearth_abbreviations *t, uint64_t *at) {
  uint64_t tag, children, name, form;
  if (!hearth_bytes_uleb(t->section, at, &tag) || !hearth_bytes_number(t->section, at, 1, &children))
    return false;
  while (hearth_bytes_uleb(t->section, at, &name) && hearth_bytes_uleb(t->section, at, &form)) {
    if (name == 0)
      return form == 0;
    if (form == DW_FORM_implicit_const && !hearth_bytes_pass_leb(t->section, at))
      return false;
  }
  return false;
}

hearth_dwarf_status hearth_abbreviations_root(hearth_abbreviations *t, hearth_dwarf_format format, uint64_t code,
                                              hearth_abbreviation *ret) {
  uint64_t begin = t->at, at = begin, found;
  while (hearth_bytes_uleb(t->section, &at, &found) && found != 0) {
    if (found == code) {
      t->at = at;
      hearth_dwarf_status status = read_shape(t, format, code, ret);
      t->at = begin;
      return status;
    }
    if (!pass_shape(t, &at))
      break;
  }
  return HEARTH_DWARF_DAMAGED;
}

static const hearth_abbreviation *abbreviation_find_known(const hearth_abbreviations *t, uint64_t code) {
  for (size_t i = 0; i < t->count; ++i)
    if (t->rows[i].code == code)
      return &t->rows[i];
  return NULL;
}

/* Read on up to the row with a code. Behind damage nothing is read. */
static hearth_dwarf_status read_up_to(hearth_abbreviations *t, hearth_dwarf_format format, uint64_t code,
                                      const hearth_abbreviation **ret) {
  while (!t->ended) {
    size_t known = t->count;
    hearth_dwarf_status status = abbreviation_read_row(t, format);
    if (status != HEARTH_DWARF_OK) {
      t->ended = true;
      return status;
    }
    if (t->count > known && t->rows[known].code == code) {
      *ret = &t->rows[known];
      return HEARTH_DWARF_OK;
    }
  }
  return HEARTH_DWARF_DAMAGED;
}

hearth_dwarf_status hearth_abbreviations_search(hearth_abbreviations *t, hearth_dwarf_format format, uint64_t code,
                                                const hearth_abbreviation **ret) {
  *ret = t->unordered ? abbreviation_find_known(t, code) : NULL;
  return *ret ? HEARTH_DWARF_OK : read_up_to(t, format, code, ret);
}

void hearth_abbreviations_free(hearth_abbreviations *t) {
  free(t->rows);
  free(t->attributes);
}
