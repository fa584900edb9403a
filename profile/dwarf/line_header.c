/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lists of directories and files are passed over, and read again up to one file when its path is asked for. */
#include "dwarf_reader.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Header ------------------------------------------------------------------------------------------------------- */

static bool line_header_number(hearth_bytes from, uint64_t *at, size_t size, uint64_t *ret) {
  return hearth_bytes_number(from, at, size, ret);
}

static bool byte(hearth_bytes from, uint64_t *at, uint8_t *ret) {
  uint64_t value;
  if (!line_header_number(from, at, 1, &value))
    return false;
  *ret = (uint8_t)value;
  return true;
}

/* Cut the table out of its section; *at is then behind its length. */
static bool line_header_find_table(hearth_line_header *h, uint64_t *at) {
  hearth_bytes rest;
  uint64_t length;
  const hearth_bytes *all = &h->source.lines;
  *at = 0;
  h->offset_size = 4;
  if (h->source.offset > all->size ||
      !hearth_bytes_slice(*all, h->source.offset, all->size - h->source.offset, &rest) ||
      !line_header_number(rest, at, 4, &length))
    return false;
  if (length == UINT32_MAX) {
    h->offset_size = 8;
    if (!line_header_number(rest, at, 8, &length))
      return false;
  }
  return length <= rest.size - *at && hearth_bytes_slice(rest, 0, *at + length, &h->table);
}

/* The standard opcodes must have the operands that they are known to have; more opcodes may follow. */
static bool known_operands(const uint8_t *counts, uint8_t first_special) {
  static const uint8_t expected[] = {
      [DW_LNS_copy] = 0,
      [DW_LNS_advance_pc] = 1,
      [DW_LNS_advance_line] = 1,
      [DW_LNS_set_file] = 1,
      [DW_LNS_set_column] = 1,
      [DW_LNS_negate_stmt] = 0,
      [DW_LNS_set_basic_block] = 0,
      [DW_LNS_const_add_pc] = 0,
      [DW_LNS_fixed_advance_pc] = 1,
      [DW_LNS_set_prologue_end] = 0,
      [DW_LNS_set_epilogue_begin] = 0,
      [DW_LNS_set_isa] = 1,
  };
  for (size_t i = 1; i < sizeof expected && i < first_special; ++i)
    if (counts[i - 1] != expected[i])
      return false;
  return true;
}

bool hearth_line_header_read(const hearth_line_source *source, hearth_line_header *ret) {
  hearth_line_header h = {.source = *source};
  uint64_t at, value, length;
  uint8_t base, operations = 1; /* that share an instruction: on no processor that programs are read of */
  if (!line_header_find_table(&h, &at) || !line_header_number(h.table, &at, 2, &value) || value < 2 || value > 5)
    return false;
  h.version = (unsigned)value;
  if (h.version == 5 && !line_header_number(h.table, &at, 2, &value)) /* sizes of addresses and of segment selectors */
    return false;
  if (!line_header_number(h.table, &at, h.offset_size, &length) || length > h.table.size - at)
    return false;
  h.program = at + length;
  if (!byte(h.table, &at, &h.instruction_bytes) || (h.version >= 4 && !byte(h.table, &at, &operations)) ||
      !line_header_number(h.table, &at, 1, &value) || /* is a row a statement by default? */
      !byte(h.table, &at, &base) || !byte(h.table, &at, &h.line_range) || !byte(h.table, &at, &h.first_special))
    return false;
  hearth_bytes counts;
  if (operations != 1 || h.line_range == 0 || h.first_special == 0 ||
      !hearth_bytes_slice(h.table, at, h.first_special - 1u, &counts) || !known_operands(counts.data, h.first_special))
    return false;
  h.line_base = (int8_t)base;
  h.operand_counts = counts.data;
  h.files = at + counts.size;
  *ret = h;
  return h.files <= h.program;
}

/* --- Lists of directories and files ------------------------------------------------------------------------------- */

typedef struct file_entry {
  const char *name;
  uint64_t directory;
} file_entry;

/* A string where the list is; *at moves behind it. */
static const char *string_here(const hearth_line_header *h, uint64_t *at) {
  const char *text = hearth_bytes_string(h->table, *at);
  if (text)
    *at += strlen(text) + 1;
  return text;
}

/* Up to DWARF 4: names of directories, then files, both ended by an empty name. Number 0 is the compilation's
 * directory; there is no file 0. */
static bool find_old(const hearth_line_header *h, uint64_t wanted, bool is_file, file_entry *ret) {
  uint64_t at = h->files, ignored;
  file_entry now = {0};
  if (wanted == 0) {
    *ret = (file_entry){is_file ? NULL : h->source.directory, 0};
    return !is_file;
  }
  for (uint64_t i = 1; (now.name = string_here(h, &at)) && *now.name; ++i)
    if (!is_file && i == wanted) {
      *ret = now;
      return true;
    }
  if (!is_file || !now.name)
    return false;
  for (uint64_t i = 1; (now.name = string_here(h, &at)) && *now.name; ++i) {
    if (!hearth_bytes_uleb(h->table, &at, &now.directory) || !hearth_bytes_uleb(h->table, &at, &ignored) ||
        !hearth_bytes_uleb(h->table, &at, &ignored))
      return false;
    if (i == wanted) {
      *ret = now;
      return true;
    }
  }
  return false;
}

/* One field of an entry of DWARF 5. False: it is damaged, or its form is not one for such a field. */
static bool line_header_read_field(const hearth_line_header *h, uint64_t content, uint64_t form, uint64_t *at,
                                   file_entry *to) {
  uint64_t value = 0;
  const char *text = NULL;
  bool ok;
  switch (form) {
  case DW_FORM_string:
    ok = (text = string_here(h, at)) != NULL;
    break;
  case DW_FORM_line_strp:
  case DW_FORM_strp:
    ok = line_header_number(h->table, at, h->offset_size, &value) &&
         (text = hearth_bytes_string(form == DW_FORM_strp ? h->source.strings : h->source.line_strings, value));
    break;
  case DW_FORM_udata:
    ok = hearth_bytes_uleb(h->table, at, &value);
    break;
  case DW_FORM_data1:
  case DW_FORM_data2:
  case DW_FORM_data4:
  case DW_FORM_data8:
    ok = line_header_number(h->table, at,
                            form == DW_FORM_data1   ? 1
                            : form == DW_FORM_data2 ? 2
                            : form == DW_FORM_data4 ? 4
                                                    : 8,
                            &value);
    break;
  case DW_FORM_data16:
    ok = line_header_number(h->table, at, 8, &value) && line_header_number(h->table, at, 8, &value);
    break;
  case DW_FORM_block:
    ok = hearth_bytes_uleb(h->table, at, &value) && value <= h->table.size - *at;
    *at += ok ? value : 0;
    break;
  default:
    ok = false;
  }
  if (content == DW_LNCT_path)
    to->name = text;
  else if (content == DW_LNCT_directory_index)
    to->directory = value;
  return ok;
}

/* One list of DWARF 5: the fields that each entry has, as pairs of content and form, then the entries. Goes on to the
 * entry `wanted`, or to behind the list if there is none. */
static bool line_header_read_list(const hearth_line_header *h, uint64_t wanted, uint64_t *at, bool *ret_found,
                                  file_entry *ret) {
  uint64_t fields, count, content, form;
  if (!line_header_number(h->table, at, 1, &fields))
    return false;
  uint64_t format = *at;
  for (uint64_t i = 0; i < 2 * fields; ++i)
    if (!hearth_bytes_uleb(h->table, at, &content))
      return false;
  *ret_found = false;
  if (!hearth_bytes_uleb(h->table, at, &count) || (fields == 0 && count > 0))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t pair = format;
    file_entry now = {0};
    for (uint64_t field = 0; field < fields; ++field)
      if (!hearth_bytes_uleb(h->table, &pair, &content) || !hearth_bytes_uleb(h->table, &pair, &form) ||
          !line_header_read_field(h, content, form, at, &now))
        return false;
    if (i == wanted) {
      *ret = now;
      *ret_found = true;
      return true;
    }
  }
  return true;
}

static bool line_header_find_entry(const hearth_line_header *h, uint64_t wanted, bool is_file, file_entry *ret) {
  uint64_t at = h->files;
  bool found;
  if (h->version < 5)
    return find_old(h, wanted, is_file, ret);
  if (is_file && !line_header_read_list(h, UINT64_MAX, &at, &found, ret)) /* over the directories */
    return false;
  return line_header_read_list(h, wanted, &at, &found, ret) && found && ret->name;
}

/* Directories may be relative to the compilation's, as those of -Ilib are. */
static const char *directory_above(const hearth_line_header *h, const file_entry *file, const file_entry *directory) {
  file_entry compilation;
  if (*directory->name == '/' || file->directory == 0 || !line_header_find_entry(h, 0, false, &compilation))
    return NULL;
  return compilation.name;
}

bool hearth_line_header_path(const hearth_line_header *h, uint64_t wanted, char **ret) {
  file_entry file, directory;
  *ret = NULL;
  if (!line_header_find_entry(h, wanted, true, &file))
    return true;
  if (*file.name == '/' || !line_header_find_entry(h, file.directory, false, &directory) || !directory.name)
    return (*ret = strdup(file.name)) != NULL;
  const char *above = directory_above(h, &file, &directory);
  size_t size = (above ? strlen(above) + 1 : 0) + strlen(directory.name) + 1 + strlen(file.name) + 1;
  if (!(*ret = malloc(size)))
    return false;
  snprintf(*ret, size, "%s%s%s/%s", above ? above : "", above ? "/" : "", directory.name, file.name);
  return true;
}

/* Sections are those of the unit's file; the offset is the root's DW_AT_stmt_list. */

bool hearth_line_source_find(const hearth_die *root, hearth_line_source *ret) {
  hearth_attribute attribute;
  const hearth_dwarf_sections *sections = &root->unit->of->sections;
  uint64_t offset = 0; /* a split unit need not say it: it has no other table */
  if (!hearth_die_attribute(root, DW_AT_stmt_list, &attribute)) {
    if (root->unit->type != DW_UT_split_compile)
      return false;
  } else if (!hearth_attribute_number(&attribute, &offset)) {
    offset = UINT64_MAX; /* there is none */
  }
  *ret = (hearth_line_source){.lines = sections->lines,
                              .line_strings = sections->line_strings,
                              .strings = sections->strings,
                              .offset = offset,
                              .directory = hearth_die_string(root, DW_AT_comp_dir)};
  return true;
}
