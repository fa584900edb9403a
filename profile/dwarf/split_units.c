/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A skeleton names its unit by an id and a path: the package is looked up by the id, else the .dwo file is opened. */
#include "dwarf_reader.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "object_file.h"

/*     version 2, padding 2 | sections 4 | units 4 | slots 4
 *     slots x id 8                                    hash table of unit ids
 *     slots x row 4                                   1 and up; 0: the slot is empty
 *     sections x number 4                             what the columns are
 *     units x sections x offset 4
 *     units x sections x size 4 */

/* The sections that symbolising needs. */
typedef enum hearth_unit_part {
  HEARTH_PART_INFO,
  HEARTH_PART_ABBREV,
  HEARTH_PART_LINE,
  HEARTH_PART_STR_OFFSETS,
  HEARTH_PART_RNGLISTS,
  HEARTH_PART_COUNT
} hearth_unit_part;

typedef struct hearth_unit_bounds {
  uint64_t offset, size; /* in the section; size 0: the unit has none */
} hearth_unit_bounds;

typedef enum hearth_unit_found { HEARTH_UNIT_FOUND, HEARTH_UNIT_ABSENT, HEARTH_UNIT_INDEX_DAMAGED } hearth_unit_found;

typedef struct layout {
  hearth_bytes index;
  uint64_t sections, units, slots;
  uint64_t ids, rows, columns, offsets, sizes; /* offsets in the index */
} layout;

static bool read_layout(hearth_bytes index, layout *l) {
  uint64_t at = 0, version;
  *l = (layout){.index = index};
  if (!hearth_bytes_number(index, &at, 4, &version) || !hearth_bytes_number(index, &at, 4, &l->sections) ||
      !hearth_bytes_number(index, &at, 4, &l->units) || !hearth_bytes_number(index, &at, 4, &l->slots))
    return false;
  /* Each fits in 32 bits, so that none of the sums below overflows; a product of two may be too large for the file. */
  if (version != 5 || l->sections > 64 || (l->slots & (l->slots - 1)) != 0)
    return false;
  l->ids = at;
  l->rows = l->ids + l->slots * 8;
  l->columns = l->rows + l->slots * 4;
  l->offsets = l->columns + l->sections * 4;
  l->sizes = l->offsets + l->units * l->sections * 4;
  return l->sizes + l->units * l->sections * 4 <= index.size;
}

static uint64_t split_unit_number(const layout *l, uint64_t at, size_t size) {
  uint64_t value = 0;
  hearth_bytes_number(l->index, &at, size, &value); /* inside: read_layout */
  return value;
}

/* The part that a column is of, HEARTH_PART_COUNT for others. */
static hearth_unit_part split_unit_part_of(uint64_t column) {
  switch (column) {
  case 1:
    return HEARTH_PART_INFO;
  case 3:
    return HEARTH_PART_ABBREV;
  case 4:
    return HEARTH_PART_LINE;
  case 6:
    return HEARTH_PART_STR_OFFSETS;
  case 8:
    return HEARTH_PART_RNGLISTS;
  default:
    return HEARTH_PART_COUNT;
  }
}

static void split_unit_read_row(const layout *l, uint64_t row, hearth_unit_bounds ret[HEARTH_PART_COUNT]) {
  memset(ret, 0, HEARTH_PART_COUNT * sizeof *ret);
  for (uint64_t i = 0; i < l->sections; ++i) {
    hearth_unit_part part = split_unit_part_of(split_unit_number(l, l->columns + i * 4, 4));
    uint64_t cell = (row * l->sections + i) * 4;
    if (part != HEARTH_PART_COUNT)
      ret[part] =
          (hearth_unit_bounds){split_unit_number(l, l->offsets + cell, 4), split_unit_number(l, l->sizes + cell, 4)};
  }
}

/* Look up a unit id in a .debug_cu_index section. The extents are not checked against their sections. */
static hearth_unit_found hearth_unit_index_find(hearth_bytes index, uint64_t id,
                                                hearth_unit_bounds ret[HEARTH_PART_COUNT]) {
  layout l;
  if (!read_layout(index, &l))
    return HEARTH_UNIT_INDEX_DAMAGED;
  uint64_t mask = l.slots - 1, slot = id & mask, step = ((id >> 32) & mask) | 1;
  for (uint64_t tries = 0; tries < l.slots; ++tries, slot = (slot + step) & mask) {
    uint64_t row = split_unit_number(&l, l.rows + slot * 4, 4);
    if (row == 0)
      return HEARTH_UNIT_ABSENT;
    if (split_unit_number(&l, l.ids + slot * 8, 8) != id)
      continue;
    if (row > l.units)
      return HEARTH_UNIT_INDEX_DAMAGED;
    split_unit_read_row(&l, row - 1, ret);
    return HEARTH_UNIT_FOUND;
  }
  return HEARTH_UNIT_ABSENT;
}

/* A unit that was opened. */
typedef struct opened {
  struct opened *next;
  hearth_entries info;
  hearth_elf_file *file; /* NULL: it is in the package */
} opened;

struct hearth_split_units {
  hearth_elf_file *binary, *debug_file;
  hearth_debug_directories directories;
  hearth_elf_file *package; /* NULL: none was found */
  opened *units;
  bool prepared; /* the package was looked for */
};

/* The skeleton's attributes. */
typedef struct skeleton {
  uint64_t id, address_base;
  const char *name, *directory; /* of the .dwo; the directory may be NULL */
} skeleton;

hearth_split_units *hearth_split_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                              hearth_debug_directories directories) {
  hearth_split_units *u = calloc(1, sizeof *u);
  if (u)
    *u = (hearth_split_units){.binary = binary, .debug_file = debug_file, .directories = directories};
  return u;
}

static void close_unit(opened *unit) {
  hearth_entries_free(&unit->info);
  hearth_elf_file_close(unit->file);
  free(unit);
}

void hearth_split_units_destroy(hearth_split_units *u) {
  if (!u)
    return;
  while (u->units) {
    opened *next = u->units->next;
    close_unit(u->units);
    u->units = next;
  }
  hearth_elf_file_close(u->package);
  free(u);
}

static const char *binary_path(const hearth_split_units *u) { return hearth_elf_file_path(u->binary); }

static hearth_status split_unit_damaged(const hearth_split_units *u, const char *path, const char *what,
                                        hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: its split debug information %s is damaged: %s (compile and link again)", binary_path(u),
                          path, what);
}

static skeleton read_skeleton(const hearth_die *root) {
  return (skeleton){.id = root->unit->id,
                    .name = hearth_die_string(root, DW_AT_dwo_name),
                    .directory = hearth_die_string(root, DW_AT_comp_dir),
                    .address_base = root->unit->address_base};
}

/* --- Units -------------------------------------------------------------------------------------------------------- */

/* Where a unit's DIEs are. */
typedef struct unit_parts {
  const char *path; /* of the .dwo or .dwp, for messages */
  hearth_dwarf_sections sections;
  hearth_bytes range_lists;
} unit_parts;

static hearth_dwarf_unit *unit_with_id(const hearth_entries *info, uint64_t id) {
  for (size_t i = 0; i < info->count; ++i)
    if (info->units[i].type == DW_UT_split_compile && info->units[i].id == id)
      return &info->units[i];
  return NULL;
}

/* Find the unit. Its addresses are in the program, where the skeleton's are. */
static bool read_parts(hearth_split_units *u, const skeleton *of, unit_parts *p, opened *unit, hearth_split_unit *ret,
                       hearth_dwarf_status *ret_status) {
  p->sections.split = true;
  p->sections.addresses = hearth_elf_file_section(u->debug_file, ".debug_addr");
  *ret_status = hearth_entries_read(&p->sections, NULL, &unit->info);
  hearth_dwarf_unit *found = *ret_status == HEARTH_DWARF_OK ? unit_with_id(&unit->info, of->id) : NULL;
  if (!found)
    return false;
  found->address_base = of->address_base;
  *ret_status = hearth_die_root(found, &ret->root);
  ret->range_lists = p->range_lists;
  ret->has_files = p->sections.lines.size > 0;
  return *ret_status == HEARTH_DWARF_OK;
}

/* Open the unit that is in these parts.
 *   file  with the parts, taken over if it was found; NULL: the package */
static hearth_status split_unit_open_parts(hearth_split_units *u, const skeleton *of, unit_parts *p,
                                           hearth_elf_file *file, bool *ret_found, hearth_split_unit *ret,
                                           hearth_error *err) {
  hearth_dwarf_status status;
  opened *unit = calloc(1, sizeof *unit);
  HEARTH_TRY(hearth_check_memory(unit, err));
  *ret_found = read_parts(u, of, p, unit, ret, &status);
  if (*ret_found) {
    unit->file = file;
    unit->next = u->units;
    u->units = unit;
    return HEARTH_OK;
  }
  close_unit(unit);
  return status == HEARTH_DWARF_OK          ? HEARTH_OK
         : status == HEARTH_DWARF_NO_MEMORY ? hearth_error_nomem(err)
                                            : split_unit_damaged(u, p->path, "its tree of entries", err);
}

/* --- Packages ----------------------------------------------------------------------------------------------------- */

static hearth_status open_package(hearth_split_units *u, const char *path, hearth_error *err) {
  size_t size = strlen(path) + sizeof ".dwp";
  char *name = malloc(size);
  HEARTH_TRY(hearth_check_memory(name, err));
  snprintf(name, size, "%s.dwp", path);
  hearth_status status = HEARTH_OK;
  if (hearth_elf_file_open(name, &u->package, NULL) == HEARTH_OK)
    status = hearth_elf_file_unpack(u->package, err);
  free(name);
  return status;
}

static hearth_status split_unit_prepare(hearth_split_units *u, hearth_error *err) {
  if (u->prepared)
    return HEARTH_OK;
  HEARTH_TRY(open_package(u, binary_path(u), err));
  if (!u->package && u->debug_file != u->binary)
    HEARTH_TRY(open_package(u, hearth_elf_file_path(u->debug_file), err));
  for (size_t i = 0; !u->package && i < u->directories.count; ++i) {
    char *path = hearth_path_join(u->directories.paths[i], hearth_base_name(binary_path(u)));
    hearth_status status = path ? open_package(u, path, err) : hearth_error_nomem(err);
    free(path);
    HEARTH_TRY(status);
  }
  u->prepared = true;
  return HEARTH_OK;
}

static hearth_status find_in_package(hearth_split_units *u, const skeleton *of, bool *ret_found, hearth_split_unit *ret,
                                     hearth_error *err) {
  hearth_unit_bounds extents[HEARTH_PART_COUNT];
  unit_parts p = {.path = hearth_elf_file_path(u->package),
                  .sections.strings = hearth_elf_file_section(u->package, ".debug_str.dwo")};
  const struct {
    const char *name;
    hearth_bytes *part;
  } parts[HEARTH_PART_COUNT] = {
      [HEARTH_PART_INFO] = {".debug_info.dwo", &p.sections.info},
      [HEARTH_PART_ABBREV] = {".debug_abbrev.dwo", &p.sections.abbreviations},
      [HEARTH_PART_LINE] = {".debug_line.dwo", &p.sections.lines},
      [HEARTH_PART_STR_OFFSETS] = {".debug_str_offsets.dwo", &p.sections.string_offsets},
      [HEARTH_PART_RNGLISTS] = {".debug_rnglists.dwo", &p.range_lists},
  };
  hearth_bytes index = hearth_elf_file_section(u->package, ".debug_cu_index");
  switch (hearth_unit_index_find(index, of->id, extents)) {
  case HEARTH_UNIT_ABSENT:
    return HEARTH_OK;
  case HEARTH_UNIT_INDEX_DAMAGED:
    return split_unit_damaged(u, p.path, "its index of units", err);
  case HEARTH_UNIT_FOUND:
    break;
  }
  for (size_t i = 0; i < HEARTH_PART_COUNT; ++i)
    if (!hearth_bytes_slice(hearth_elf_file_section(u->package, parts[i].name), extents[i].offset, extents[i].size,
                            parts[i].part))
      return split_unit_damaged(u, p.path, parts[i].name, err);
  HEARTH_TRY(split_unit_open_parts(u, of, &p, NULL, ret_found, ret, err));
  return *ret_found ? HEARTH_OK : split_unit_damaged(u, p.path, "a unit that its index lists", err);
}

/* --- Single files ------------------------------------------------------------------------------------------------- */

static unit_parts parts_of(const char *path, hearth_elf_file *file) {
  return (unit_parts){.path = path,
                      .sections = {.info = hearth_elf_file_section(file, ".debug_info.dwo"),
                                   .abbreviations = hearth_elf_file_section(file, ".debug_abbrev.dwo"),
                                   .strings = hearth_elf_file_section(file, ".debug_str.dwo"),
                                   .string_offsets = hearth_elf_file_section(file, ".debug_str_offsets.dwo"),
                                   .lines = hearth_elf_file_section(file, ".debug_line.dwo")},
                      .range_lists = hearth_elf_file_section(file, ".debug_rnglists.dwo")};
}

/* Takes the path; NULL: out of memory.
 *   ret_stale  set if there is a file, but of another compilation */
static hearth_status try_file(hearth_split_units *u, const skeleton *of, char *path, bool *ret_found, bool *ret_stale,
                              hearth_split_unit *ret, hearth_error *err) {
  hearth_elf_file *file = NULL;
  HEARTH_TRY(hearth_check_memory(path, err));
  hearth_status status = HEARTH_OK;
  if (hearth_elf_file_open(path, &file, NULL) == HEARTH_OK &&
      (status = hearth_elf_file_unpack(file, err)) == HEARTH_OK) {
    unit_parts p = parts_of(path, file);
    status = split_unit_open_parts(u, of, &p, file, ret_found, ret, err);
    *ret_stale |= status == HEARTH_OK && !*ret_found;
  }
  if (!*ret_found)
    hearth_elf_file_close(file);
  free(path);
  return status;
}

static hearth_status split_unit_find_file(hearth_split_units *u, const skeleton *of, bool *ret_found, bool *ret_stale,
                                          hearth_split_unit *ret, hearth_error *err) {
  const char *base = hearth_base_name(of->name);
  char *home = hearth_path_directory(binary_path(u));
  HEARTH_TRY(hearth_check_memory(home, err));
  hearth_status status = try_file(u, of, hearth_path_join(of->directory, of->name), ret_found, ret_stale, ret, err);
  if (status == HEARTH_OK && !*ret_found)
    status = try_file(u, of, hearth_path_join(home, of->name), ret_found, ret_stale, ret, err);
  if (status == HEARTH_OK && !*ret_found)
    status = try_file(u, of, hearth_path_join(home, base), ret_found, ret_stale, ret, err);
  for (size_t i = 0; status == HEARTH_OK && !*ret_found && i < u->directories.count; ++i)
    status = try_file(u, of, hearth_path_join(u->directories.paths[i], base), ret_found, ret_stale, ret, err);
  free(home);
  return status;
}

hearth_status hearth_split_units_find(hearth_split_units *u, const hearth_die *root, hearth_split_unit *ret,
                                      hearth_error *err) {
  bool found = false, stale = false;
  HEARTH_TRY(split_unit_prepare(u, err));
  skeleton of = read_skeleton(root);
  if (u->package)
    HEARTH_TRY(find_in_package(u, &of, &found, ret, err));
  if (!found && of.name)
    HEARTH_TRY(split_unit_find_file(u, &of, &found, &stale, ret, err));
  if (found)
    return HEARTH_OK;
  return hearth_error_set(
      err, HEARTH_E_NO_DEBUG_INFO,
      "%s: its debug information is split and %s was %s (keep the .dwo files where the compiler put "
      "them or beside the binary, or pack them: llvm-dwp -e %s)",
      binary_path(u), of.name ? of.name : "a .dwo file", stale ? "compiled again since" : "not found", binary_path(u));
}
