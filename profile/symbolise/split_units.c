#include "symbolise/split_units.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"
#include "symbolise/elf_image.h"
#include "symbolise/unit_index.h"

/* Sections of an image, and what each is made of. */
enum { INFO, ABBREV, LINE, STR_OFFSETS, RNGLISTS, STR, ADDR, RANGES, SECTION_COUNT };

static const char *const image_names[SECTION_COUNT] = {
    [INFO] = ".debug_info", [ABBREV] = ".debug_abbrev",           [LINE] = ".debug_line",
    [STR] = ".debug_str",   [STR_OFFSETS] = ".debug_str_offsets", [RNGLISTS] = ".debug_rnglists",
    [ADDR] = ".debug_addr", [RANGES] = ".debug_ranges",
};

/* A unit that was opened. */
typedef struct opened {
  struct opened *next;
  hearth_elf_image image;
  Elf *elf;
  Dwarf *dwarf;
} opened;

struct hearth_split_units {
  hearth_elf_file *binary, *debug_file;
  Dwarf *dwarf;
  hearth_debug_directories directories;
  hearth_elf_file *package; /* NULL: none was found */
  opened *units;
  /* Where the skeletons' parts of the program's .debug_addr and .debug_ranges begin: each ends where another begins. */
  uint64_t *address_bases, *range_bases;
  size_t base_count;
  bool prepared; /* package and bases are known */
};

/* What the skeleton says. */
typedef struct skeleton {
  uint64_t id;
  unsigned version;
  const char *name, *directory; /* of the .dwo; the directory may be NULL */
  uint64_t address_base, range_base;
} skeleton;

hearth_split_units *hearth_split_units_create(hearth_elf_file *binary, hearth_elf_file *debug_file, Dwarf *dwarf,
                                              hearth_debug_directories directories) {
  hearth_split_units *u = calloc(1, sizeof *u);
  if (u)
    *u = (hearth_split_units){.binary = binary, .debug_file = debug_file, .dwarf = dwarf, .directories = directories};
  return u;
}

static void close_unit(opened *unit) {
  if (unit->dwarf)
    dwarf_end(unit->dwarf);
  if (unit->elf)
    elf_end(unit->elf);
  free(unit->image.data);
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
  free(u->address_bases);
  free(u->range_bases);
  free(u);
}

static const char *binary_path(const hearth_split_units *u) { return hearth_elf_file_path(u->binary); }

static hearth_status no_memory(const hearth_split_units *u, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory while reading split debug information",
                          binary_path(u));
}

/* --- Skeletons ---------------------------------------------------------------------------------------------------- */

static const char *string_attribute(Dwarf_Die *die, unsigned name, unsigned gnu_name) {
  Dwarf_Attribute attribute;
  return dwarf_attr(die, name, &attribute) || dwarf_attr(die, gnu_name, &attribute) ? dwarf_formstring(&attribute)
                                                                                    : NULL;
}

/* An offset in a section; `none` if there is no such attribute. */
static uint64_t offset_attribute(Dwarf_Die *die, unsigned name, unsigned gnu_name, uint64_t none) {
  Dwarf_Attribute attribute;
  Dwarf_Word value;
  bool known = (dwarf_attr(die, name, &attribute) || dwarf_attr(die, gnu_name, &attribute)) &&
               dwarf_formudata(&attribute, &value) == 0;
  return known ? value : none;
}

static uint64_t address_base(Dwarf_Die *die) {
  return offset_attribute(die, DW_AT_addr_base, DW_AT_GNU_addr_base, UINT64_MAX);
}

static uint64_t range_base(Dwarf_Die *die) {
  return offset_attribute(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base, UINT64_MAX);
}

static skeleton read_skeleton(Dwarf_Die *die) {
  Dwarf_Half version = 0;
  uint64_t id = 0;
  dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, &id, NULL, NULL);
  return (skeleton){.id = id,
                    .version = version,
                    .name = string_attribute(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name),
                    .directory = string_attribute(die, DW_AT_comp_dir, DW_AT_comp_dir),
                    .address_base = address_base(die),
                    .range_base = range_base(die)};
}

static hearth_status list_bases(hearth_split_units *u, hearth_error *err) {
  Dwarf_CU *unit = NULL;
  Dwarf_Die die;
  uint8_t type;
  size_t count = 0;
  while (dwarf_get_units(u->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0)
    count += type == DW_UT_skeleton;
  u->address_bases = calloc(count + 1, sizeof *u->address_bases);
  u->range_bases = calloc(count + 1, sizeof *u->range_bases);
  if (!u->address_bases || !u->range_bases)
    return no_memory(u, err);
  for (unit = NULL; dwarf_get_units(u->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0;)
    if (type == DW_UT_skeleton && u->base_count < count) {
      u->address_bases[u->base_count] = address_base(&die);
      u->range_bases[u->base_count++] = range_base(&die);
    }
  return HEARTH_OK;
}

/* A skeleton's part of one of the program's sections. */
static hearth_bytes part_from(hearth_bytes section, const uint64_t *bases, size_t count, uint64_t base) {
  uint64_t end = section.size;
  hearth_bytes part = {0};
  for (size_t i = 0; i < count; ++i)
    if (bases[i] > base && bases[i] < end)
      end = bases[i];
  if (base < end)
    hearth_bytes_slice(section, base, end - base, &part);
  return part;
}

/* --- Images ------------------------------------------------------------------------------------------------------- */

/* Where the sections of an image come from. */
typedef struct unit_parts {
  const char *path; /* of the .dwo or .dwp, for messages */
  unsigned version;
  hearth_bytes part[SECTION_COUNT];
  size_t strings_size; /* of the strings that STR_OFFSETS refers to */
} unit_parts;

static hearth_status damaged(const hearth_split_units *u, const char *path, const char *what, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: its split debug information %s is damaged: %s (compile and link again)", binary_path(u),
                          path, what);
}

/* The array of string offsets: where its entries begin and end, and how large each is. From DWARF 5 on there is a header
 * with its length. */
typedef struct string_table {
  uint64_t begin, end;
  size_t entry;
} string_table;

static bool find_strings(const unit_parts *p, string_table *ret) {
  hearth_bytes table = p->part[STR_OFFSETS];
  uint64_t at = 0, length;
  *ret = (string_table){0, table.size, 4};
  if (p->version >= 5 && table.size > 0) {
    if (!hearth_bytes_number(table, &at, 4, &length))
      return false;
    if (length == UINT32_MAX) {
      ret->entry = 8;
      if (!hearth_bytes_number(table, &at, 8, &length))
        return false;
    }
    if (length < 4 || length > table.size - at)
      return false;
    ret->end = at + length;
    ret->begin = at + 4;
  }
  return (ret->end - ret->begin) % ret->entry == 0;
}

/* The string at the table's next entry, with its NUL; false: it is not there. */
static bool next_string(const unit_parts *p, const string_table *table, uint64_t *at, hearth_bytes *ret) {
  uint64_t offset;
  hearth_bytes all = p->part[STR];
  if (!hearth_bytes_number(p->part[STR_OFFSETS], at, table->entry, &offset) || offset >= all.size)
    return false;
  size_t length = strnlen((const char *)all.data + offset, all.size - offset);
  return hearth_bytes_slice(all, offset, length + 1, ret);
}

static bool measure_strings(unit_parts *p) {
  string_table table;
  hearth_bytes string;
  if (!find_strings(p, &table))
    return false;
  for (uint64_t at = table.begin; at < table.end;) {
    if (!next_string(p, &table, &at, &string))
      return false;
    p->strings_size += string.size;
  }
  return p->strings_size <= UINT32_MAX;
}

/* A package has one string section for all units; the image gets the unit's own strings, and offsets into them. */
static void copy_strings(const unit_parts *p, uint8_t *offsets, uint8_t *strings) {
  string_table table;
  hearth_bytes string;
  uint64_t to = 0;
  find_strings(p, &table);
  for (uint64_t at = table.begin; at < table.end;) {
    uint8_t *entry = offsets + at;
    next_string(p, &table, &at, &string);
    for (size_t i = 0; i < table.entry; ++i)
      entry[i] = (uint8_t)(to >> (8 * i));
    memcpy(strings + to, string.data, string.size);
    to += string.size;
  }
}

/* From here on the parts are those of the image. */
static bool fill_image(opened *unit, unit_parts *p) {
  hearth_image_section sections[SECTION_COUNT];
  for (size_t i = 0; i < SECTION_COUNT; ++i)
    sections[i] = (hearth_image_section){image_names[i], i == STR ? p->strings_size : p->part[i].size, NULL};
  if (!hearth_elf_image_create(sections, SECTION_COUNT, &unit->image))
    return false;
  for (size_t i = 0; i < SECTION_COUNT; ++i)
    if (i != STR && p->part[i].size > 0)
      memcpy(sections[i].content, p->part[i].data, p->part[i].size);
  copy_strings(p, sections[STR_OFFSETS].content, sections[STR].content);
  for (size_t i = 0; i < SECTION_COUNT; ++i)
    p->part[i] = (hearth_bytes){sections[i].content, sections[i].size};
  unit->elf = elf_memory((char *)unit->image.data, unit->image.size);
  return unit->elf != NULL;
}

static bool find_die(opened *unit, uint64_t id, Dwarf_Die *ret) {
  Dwarf_CU *cu = NULL;
  uint8_t type;
  uint64_t its_id;
  while (dwarf_get_units(unit->dwarf, cu, &cu, NULL, &type, ret, NULL) == 0)
    if (type == DW_UT_split_compile && dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &its_id, NULL, NULL) == 0 &&
        its_id == id)
      return true;
  return false;
}

/* Open the unit that these parts make up. Nothing of *ret refers to the file that they are from. */
static hearth_status open_parts(hearth_split_units *u, const skeleton *of, unit_parts *p, bool *ret_found,
                                hearth_split_unit *ret, hearth_error *err) {
  hearth_bytes addresses = hearth_elf_file_section(u->debug_file, ".debug_addr");
  hearth_bytes ranges = hearth_elf_file_section(u->debug_file, ".debug_ranges");
  p->part[ADDR] = part_from(addresses, u->address_bases, u->base_count, of->address_base);
  p->part[RANGES] = part_from(ranges, u->range_bases, u->base_count, of->range_base);
  if (!measure_strings(p))
    return damaged(u, p->path, "its string offsets", err);
  opened *unit = calloc(1, sizeof *unit);
  if (!unit || !fill_image(unit, p)) {
    if (unit)
      close_unit(unit);
    return no_memory(u, err);
  }
  unit->dwarf = dwarf_begin_elf(unit->elf, DWARF_C_READ, NULL);
  *ret_found = unit->dwarf && find_die(unit, of->id, &ret->die);
  if (!*ret_found) {
    close_unit(unit);
    return HEARTH_OK;
  }
  unit->next = u->units;
  u->units = unit;
  ret->range_lists = p->part[of->version < 5 ? RANGES : RNGLISTS];
  ret->addresses = p->part[ADDR];
  ret->has_files = p->part[LINE].size > 0;
  return HEARTH_OK;
}

/* --- Packages ----------------------------------------------------------------------------------------------------- */

static hearth_status open_package(hearth_split_units *u, const char *path, hearth_error *err) {
  size_t size = strlen(path) + sizeof ".dwp";
  char *name = malloc(size);
  if (!name)
    return no_memory(u, err);
  snprintf(name, size, "%s.dwp", path);
  hearth_status status = HEARTH_OK;
  if (hearth_elf_file_open(name, &u->package, NULL) == HEARTH_OK)
    status = hearth_elf_file_unpack(u->package, err);
  free(name);
  return status;
}

static hearth_status prepare(hearth_split_units *u, hearth_error *err) {
  if (u->prepared)
    return HEARTH_OK;
  HEARTH_TRY(list_bases(u, err));
  HEARTH_TRY(open_package(u, binary_path(u), err));
  if (!u->package && u->debug_file != u->binary)
    HEARTH_TRY(open_package(u, hearth_elf_file_path(u->debug_file), err));
  for (size_t i = 0; !u->package && i < u->directories.count; ++i) {
    char *path = hearth_path_join(u->directories.paths[i], hearth_base_name(binary_path(u)));
    hearth_status status = path ? open_package(u, path, err) : no_memory(u, err);
    free(path);
    HEARTH_TRY(status);
  }
  u->prepared = true;
  return HEARTH_OK;
}

static hearth_status find_in_package(hearth_split_units *u, const skeleton *of, bool *ret_found, hearth_split_unit *ret,
                                     hearth_error *err) {
  static const char *const names[] = {
      [HEARTH_PART_INFO] = ".debug_info.dwo",         [HEARTH_PART_ABBREV] = ".debug_abbrev.dwo",
      [HEARTH_PART_LINE] = ".debug_line.dwo",         [HEARTH_PART_STR_OFFSETS] = ".debug_str_offsets.dwo",
      [HEARTH_PART_RNGLISTS] = ".debug_rnglists.dwo",
  };
  static const int sections[] = {
      [HEARTH_PART_INFO] = INFO,         [HEARTH_PART_ABBREV] = ABBREV,
      [HEARTH_PART_LINE] = LINE,         [HEARTH_PART_STR_OFFSETS] = STR_OFFSETS,
      [HEARTH_PART_RNGLISTS] = RNGLISTS,
  };
  hearth_unit_extent extents[HEARTH_PART_COUNT];
  unit_parts p = {.path = hearth_elf_file_path(u->package), .version = of->version};
  hearth_bytes index = hearth_elf_file_section(u->package, ".debug_cu_index");
  switch (hearth_unit_index_find(index, of->id, extents)) {
  case HEARTH_UNIT_ABSENT:
    return HEARTH_OK;
  case HEARTH_UNIT_INDEX_DAMAGED:
    return damaged(u, p.path, "its index of units", err);
  case HEARTH_UNIT_FOUND:
    break;
  }
  for (size_t i = 0; i < HEARTH_PART_COUNT; ++i)
    if (!hearth_bytes_slice(hearth_elf_file_section(u->package, names[i]), extents[i].offset, extents[i].size,
                            &p.part[sections[i]]))
      return damaged(u, p.path, names[i], err);
  p.part[STR] = hearth_elf_file_section(u->package, ".debug_str.dwo");
  HEARTH_TRY(open_parts(u, of, &p, ret_found, ret, err));
  return *ret_found ? HEARTH_OK : damaged(u, p.path, "a unit that its index lists", err);
}

/* --- Single files ------------------------------------------------------------------------------------------------- */

/* Takes the path; NULL: out of memory.
 *   ret_stale  set if there is a file, but of another compilation */
static hearth_status try_file(hearth_split_units *u, const skeleton *of, char *path, bool *ret_found, bool *ret_stale,
                              hearth_split_unit *ret, hearth_error *err) {
  hearth_elf_file *file = NULL;
  if (!path)
    return no_memory(u, err);
  hearth_status status = HEARTH_OK;
  if (hearth_elf_file_open(path, &file, NULL) == HEARTH_OK &&
      (status = hearth_elf_file_unpack(file, err)) == HEARTH_OK) {
    unit_parts p = {.path = path, .version = of->version};
    for (size_t i = 0; i < SECTION_COUNT; ++i) {
      char name[32];
      snprintf(name, sizeof name, "%s.dwo", image_names[i]);
      p.part[i] = hearth_elf_file_section(file, name);
    }
    status = open_parts(u, of, &p, ret_found, ret, err);
    *ret_stale |= status == HEARTH_OK && !*ret_found;
  }
  hearth_elf_file_close(file);
  free(path);
  return status;
}

static hearth_status find_file(hearth_split_units *u, const skeleton *of, bool *ret_found, bool *ret_stale,
                               hearth_split_unit *ret, hearth_error *err) {
  const char *base = hearth_base_name(of->name);
  char *home = hearth_path_directory(binary_path(u));
  if (!home)
    return no_memory(u, err);
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

hearth_status hearth_split_units_find(hearth_split_units *u, Dwarf_Die *die, hearth_split_unit *ret,
                                      hearth_error *err) {
  bool found = false, stale = false;
  HEARTH_TRY(prepare(u, err));
  skeleton of = read_skeleton(die);
  if (u->package)
    HEARTH_TRY(find_in_package(u, &of, &found, ret, err));
  if (!found && of.name)
    HEARTH_TRY(find_file(u, &of, &found, &stale, ret, err));
  if (found)
    return HEARTH_OK;
  return hearth_error_set(
      err, HEARTH_E_NO_DEBUG_INFO,
      "%s: its debug information is split and %s was %s (keep the .dwo files where the compiler put "
      "them or beside the binary, or pack them: llvm-dwp -e %s)",
      binary_path(u), of.name ? of.name : "a .dwo file", stale ? "compiled again since" : "not found", binary_path(u));
}
