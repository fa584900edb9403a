/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units and their addresses, which are cut into pieces as those of bodies are. */

#include <dwarf.h>
#include <stdlib.h>

#include "array.h"
#include "dwarf_reader.h"

struct hearth_units {
  hearth_elf_file *binary, *debug_file, *alternate_file;
  hearth_entries info, alternate;
  hearth_split_units *split;
  const hearth_elf_segment *code; /* the binary's */
  hearth_unit *units;
  hearth_body_pieces extents;    /* of the units' addresses */
  hearth_bytes ranges, rnglists; /* sections of the debug file */
  size_t code_count, unit_count, unit_capacity;
};

hearth_status hearth_units_damaged(const hearth_units *u, const char *what, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: its debug information cannot be read: %s (compile and link again)",
                          hearth_elf_file_path(u->debug_file), what);
}

hearth_status hearth_units_status(const hearth_units *u, hearth_dwarf_status status, hearth_error *err) {
  switch (status) {
  case HEARTH_DWARF_OK:
    return HEARTH_OK;
  case HEARTH_DWARF_NO_MEMORY:
    return hearth_error_nomem(err);
  default:
    return hearth_units_damaged(u, "its tree of entries", err);
  }
}

/* --- Ranges of a DIE ---------------------------------------------------------------------------------------------- */

typedef struct address_attributes {
  uint64_t low, high, list;
  bool has_low, has_high, has_list, list_is_number, high_is_size, damaged;
} address_attributes;

static void note_attribute(const hearth_attribute *attribute, address_attributes *a) {
  switch (attribute->name) {
  case DW_AT_low_pc:
    a->has_low = true;
    a->damaged |= !hearth_attribute_address(attribute, &a->low);
    break;
  case DW_AT_high_pc:
    a->has_high = true;
    a->high_is_size = !hearth_attribute_address(attribute, &a->high);
    a->damaged |= a->high_is_size && !hearth_attribute_number(attribute, &a->high);
    break;
  case DW_AT_ranges:
    a->has_list = true;
    a->list_is_number = attribute->form == DW_FORM_rnglistx;
    a->damaged |= !hearth_attribute_number(attribute, &a->list);
    break;
  default:
    break;
  }
}

/* Nothing that is said behind these matters. */
static bool is_complete(const address_attributes *a) { return a->has_list || (a->has_low && a->has_high); }

static bool read_addresses(const hearth_die *die, address_attributes *ret) {
  hearth_attribute attribute;
  uint32_t number = 0;
  uint64_t at = die->values;
  *ret = (address_attributes){0};
  if (!die->shape.has_addresses)
    return true;
  while (!is_complete(ret) && hearth_die_next_address(die, &number, &at, &attribute))
    note_attribute(&attribute, ret);
  return (is_complete(ret) || number == die->shape.count) && !ret->damaged;
}

static bool has_code(const hearth_units *u, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < u->code_count; ++i)
    if (start >= u->code[i].address && end <= u->code[i].address + u->code[i].memory_size && start < end && start != 0)
      return true;
  return false;
}

hearth_status hearth_units_visit_ranges(const hearth_units *u, const hearth_unit *unit, const hearth_die *die,
                                        hearth_range_visitor *visitor, void *context, bool *ret_dropped,
                                        hearth_error *err) {
  address_attributes a;
  uint64_t start, end;
  *ret_dropped = false;
  if (!read_addresses(die, &a))
    return hearth_units_damaged(u, "a DIE's addresses", err);
  if (!a.has_list) {
    end = a.high_is_size ? a.low + a.high : a.high;
    if (!a.has_low || !a.has_high)
      return HEARTH_OK;
    if (!has_code(u, a.low, end)) {
      *ret_dropped = true;
      return HEARTH_OK;
    }
    return visitor(context, a.low, end) ? HEARTH_OK : hearth_error_nomem(err);
  }
  if (a.list_is_number && !hearth_range_list_offset(&unit->ranges, a.list, &a.list))
    return hearth_units_damaged(u, "the offset of a list of address ranges", err);
  hearth_range_cursor cursor = hearth_range_begin(&unit->ranges, a.list);
  for (;;) {
    switch (hearth_range_next(&cursor, &start, &end)) {
    case HEARTH_RANGE_END:
      return HEARTH_OK;
    case HEARTH_RANGE_DAMAGED:
      return hearth_units_damaged(u, "a list of address ranges", err);
    case HEARTH_RANGE_NEXT:
      if (!has_code(u, start, end))
        *ret_dropped = true;
      else if (!visitor(context, start, end))
        return hearth_error_nomem(err);
    }
  }
}

/* --- Units -------------------------------------------------------------------------------------------------------- */

static uint64_t low_pc(const hearth_die *die) {
  hearth_attribute attribute;
  uint64_t address;
  return hearth_die_attribute(die, DW_AT_low_pc, &attribute) && hearth_attribute_address(&attribute, &address) ? address
                                                                                                               : 0;
}

/* .debug_addr from the unit's first entry on. */
static hearth_bytes addresses_of(const hearth_dwarf_unit *unit) {
  hearth_bytes all = unit->of->sections.addresses, rest = {0};
  if (unit->address_base <= all.size)
    hearth_bytes_slice(all, unit->address_base, all.size - unit->address_base, &rest);
  return rest;
}

/* Size of the header before the offsets of a .debug_rnglists contribution; split units do not say where they begin. */
static uint64_t list_header_size(uint8_t offset_size) { return offset_size == 8 ? 20 : 12; }

static bool add_extent(void *context, uint64_t start, uint64_t end) {
  hearth_units *u = context;
  return hearth_body_pieces_add(&u->extents, start, end, (uint32_t)u->unit_count - 1);
}

static hearth_status add_unit(hearth_units *u, hearth_dwarf_unit *from, hearth_error *err) {
  bool dropped;
  hearth_die root;
  HEARTH_TRY(hearth_units_status(u, hearth_die_root(from, &root), err));
  HEARTH_TRY(
      hearth_check_memory(hearth_array_grow(&u->units, &u->unit_capacity, u->unit_count, sizeof *u->units), err));
  hearth_unit *unit = &u->units[u->unit_count++];
  *unit = (hearth_unit){.lines = root, .tree = root, .files = root, .skeleton = from->type == DW_UT_skeleton};
  unit->ranges = (hearth_range_source){.lists = from->format.version < 5 ? u->ranges : u->rnglists,
                                       .addresses = addresses_of(from),
                                       .low_pc = low_pc(&root),
                                       .index_base = hearth_die_number(&root, DW_AT_rnglists_base, 0),
                                       .offset_size = from->format.offset_size,
                                       .version = from->format.version};
  return hearth_units_visit_ranges(u, unit, &root, add_extent, u, &dropped, err);
}

static hearth_status list_units(hearth_units *u, hearth_error *err) {
  for (size_t i = 0; i < u->info.count; ++i) {
    hearth_dwarf_unit *unit = &u->info.units[i];
    if ((unit->type == DW_UT_compile || unit->type == DW_UT_skeleton) && unit->root < unit->contents.size)
      HEARTH_TRY(add_unit(u, unit, err));
  }
  return HEARTH_OK;
}

hearth_status hearth_units_open(hearth_units *u, uint32_t number, hearth_unit **ret, hearth_error *err) {
  hearth_unit *unit = *ret = &u->units[number];
  if (unit->skeleton && !unit->opened) {
    hearth_split_unit split;
    HEARTH_TRY(hearth_split_units_find(u->split, &unit->lines, &split, err));
    unit->tree = split.root;
    unit->ranges.lists = split.range_lists;
    unit->ranges.index_base = list_header_size(unit->ranges.offset_size);
    if (split.has_files)
      unit->files = split.root;
  }
  unit->opened = true;
  return HEARTH_OK;
}

static hearth_status read_lines(const hearth_units *u, hearth_unit *unit, hearth_error *err) {
  hearth_line_source source;
  if (unit->program_read)
    return HEARTH_OK;
  if (hearth_line_source_find(&unit->lines, &source))
    switch (hearth_line_program_create(&source, &unit->program)) {
    case HEARTH_LINE_OK:
      break;
    case HEARTH_LINE_DAMAGED:
      return hearth_units_damaged(u, "a line table", err);
    case HEARTH_LINE_NO_MEMORY:
      return hearth_error_nomem(err);
    }
  unit->program_read = true;
  return HEARTH_OK;
}

hearth_status hearth_units_line(const hearth_units *u, hearth_unit *unit, uint64_t address, hearth_line_row *ret,
                                hearth_error *err) {
  *ret = (hearth_line_row){0};
  HEARTH_TRY(read_lines(u, unit, err));
  if (unit->program && !hearth_line_program_find(unit->program, address, ret))
    *ret = (hearth_line_row){0};
  return HEARTH_OK;
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

uint32_t hearth_units_count(const hearth_units *u) { return (uint32_t)u->unit_count; }

uint32_t hearth_units_at(const hearth_units *u, uint64_t address) {
  return hearth_body_pieces_find(&u->extents, address);
}

/* --- Create ------------------------------------------------------------------------------------------------------- */

static hearth_dwarf_sections sections_of(hearth_elf_file *file) {
  return (hearth_dwarf_sections){.info = hearth_elf_file_section(file, ".debug_info"),
                                 .abbreviations = hearth_elf_file_section(file, ".debug_abbrev"),
                                 .strings = hearth_elf_file_section(file, ".debug_str"),
                                 .line_strings = hearth_elf_file_section(file, ".debug_line_str"),
                                 .string_offsets = hearth_elf_file_section(file, ".debug_str_offsets"),
                                 .addresses = hearth_elf_file_section(file, ".debug_addr"),
                                 .lines = hearth_elf_file_section(file, ".debug_line")};
}

/* The file that dwz moved a part of the debug information to, if there is one. */
static hearth_status open_alternate(hearth_units *u, hearth_debug_directories directories, hearth_error *err) {
  HEARTH_TRY(hearth_debug_alternate_find(u->debug_file, directories, &u->alternate_file, err));
  if (!u->alternate_file)
    return HEARTH_OK;
  HEARTH_TRY(hearth_elf_file_unpack(u->alternate_file, err));
  hearth_dwarf_sections sections = sections_of(u->alternate_file);
  return hearth_units_status(u, hearth_entries_read(&sections, NULL, &u->alternate), err);
}

static hearth_status open_info(hearth_units *u, hearth_debug_directories directories, hearth_error *err) {
  HEARTH_TRY(open_alternate(u, directories, err));
  hearth_dwarf_sections sections = sections_of(u->debug_file);
  HEARTH_TRY(
      hearth_units_status(u, hearth_entries_read(&sections, u->alternate_file ? &u->alternate : NULL, &u->info), err));
  u->ranges = hearth_elf_file_section(u->debug_file, ".debug_ranges");
  u->rnglists = hearth_elf_file_section(u->debug_file, ".debug_rnglists");
  u->split = hearth_split_units_create(u->binary, u->debug_file, directories);
  return u->split ? HEARTH_OK : hearth_error_nomem(err);
}

hearth_status hearth_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                  hearth_debug_directories directories, hearth_units **ret, hearth_error *err) {
  *ret = NULL;
  hearth_units *u = calloc(1, sizeof *u);
  HEARTH_TRY(hearth_check_memory(u, err));
  u->binary = binary;
  u->debug_file = debug_file;
  hearth_status status = hearth_elf_file_segments(binary, &u->code, &u->code_count, err);
  HEARTH_THEN(status, open_info(u, directories, err));
  HEARTH_THEN(status, list_units(u, err));
  HEARTH_THEN(status, hearth_check_memory(hearth_body_pieces_order(&u->extents), err));
  if (status != HEARTH_OK) {
    hearth_units_destroy(u);
    return status;
  }
  *ret = u;
  return HEARTH_OK;
}

void hearth_units_destroy(hearth_units *u) {
  if (!u)
    return;
  hearth_split_units_destroy(u->split);
  hearth_entries_free(&u->info);
  hearth_entries_free(&u->alternate);
  hearth_elf_file_close(u->alternate_file);
  for (size_t i = 0; i < u->unit_count; ++i)
    hearth_line_program_destroy(u->units[i].program);
  hearth_body_pieces_free(&u->extents);
  HEARTH_FREE(u->units, u);
}

/* A cursor over the entries of a list, one switch for each of the two encodings. */

bool hearth_range_list_offset(const hearth_range_source *source, uint64_t number, uint64_t *ret) {
  uint64_t at = source->index_base;
  if (number > source->lists.size || at > source->lists.size)
    return false;
  at += number * source->offset_size;
  if (!hearth_bytes_number(source->lists, &at, source->offset_size, ret) || *ret > source->lists.size)
    return false;
  *ret += source->index_base;
  return true;
}

hearth_range_cursor hearth_range_begin(const hearth_range_source *source, uint64_t offset) {
  return (hearth_range_cursor){source, offset, source->low_pc};
}

/* Pairs of addresses relative to the base; a pair of zeros ends the list, a first number of all ones sets the base. */
static hearth_range_step next_pair(hearth_range_cursor *c, uint64_t *ret_start, uint64_t *ret_end) {
  uint64_t first, second;
  for (;;) {
    if (!hearth_bytes_number(c->source->lists, &c->offset, 8, &first) ||
        !hearth_bytes_number(c->source->lists, &c->offset, 8, &second))
      return HEARTH_RANGE_DAMAGED;
    if (first == 0 && second == 0)
      return HEARTH_RANGE_END;
    if (first == UINT64_MAX) {
      c->base = second;
      continue;
    }
    *ret_start = c->base + first;
    *ret_end = c->base + second;
    return HEARTH_RANGE_NEXT;
  }
}

static bool uleb(hearth_range_cursor *c, uint64_t *ret) { return hearth_bytes_uleb(c->source->lists, &c->offset, ret); }

static bool address(hearth_range_cursor *c, uint64_t *ret) {
  return hearth_bytes_number(c->source->lists, &c->offset, 8, ret);
}

/* An address by its number in .debug_addr. */
static bool indexed_address(hearth_range_cursor *c, uint64_t *ret) {
  uint64_t at;
  if (!uleb(c, &at) || at > UINT64_MAX / 8)
    return false;
  at *= 8;
  return hearth_bytes_number(c->source->addresses, &at, 8, ret);
}

static hearth_range_step next_entry(hearth_range_cursor *c, uint64_t *start, uint64_t *end) {
  uint64_t kind;
  bool ok;
  while (hearth_bytes_number(c->source->lists, &c->offset, 1, &kind)) {
    switch (kind) {
    case DW_RLE_end_of_list:
      return HEARTH_RANGE_END;
    case DW_RLE_base_addressx:
    case DW_RLE_base_address:
      if (!(kind == DW_RLE_base_address ? address(c, &c->base) : indexed_address(c, &c->base)))
        return HEARTH_RANGE_DAMAGED;
      continue;
    case DW_RLE_startx_endx:
      ok = indexed_address(c, start) && indexed_address(c, end);
      break;
    case DW_RLE_startx_length:
      ok = indexed_address(c, start) && uleb(c, end);
      *end += *start;
      break;
    case DW_RLE_offset_pair:
      ok = uleb(c, start) && uleb(c, end);
      *start += c->base;
      *end += c->base;
      break;
    case DW_RLE_start_end:
      ok = address(c, start) && address(c, end);
      break;
    case DW_RLE_start_length:
      ok = address(c, start) && uleb(c, end);
      *end += *start;
      break;
    default:
      ok = false;
    }
    return ok ? HEARTH_RANGE_NEXT : HEARTH_RANGE_DAMAGED;
  }
  return HEARTH_RANGE_DAMAGED;
}

hearth_range_step hearth_range_next(hearth_range_cursor *cursor, uint64_t *ret_start, uint64_t *ret_end) {
  *ret_start = *ret_end = 0;
  return cursor->source->version < 5 ? next_pair(cursor, ret_start, ret_end) : next_entry(cursor, ret_start, ret_end);
}
