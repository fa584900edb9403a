#include "symbolise/scope_functions.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolise/array.h"
#include "symbolise/line_source.h"

typedef struct hearth_scope_origin {
  const void *die; /* NULL: the slot is empty */
  uint32_t function;
} hearth_scope_origin;

/* --- Table of origins --------------------------------------------------------------------------------------------- */

static hearth_scope_origin *slot_of(hearth_scope_origin *origins, size_t slots, const void *die) {
  size_t i = (size_t)(((uintptr_t)die * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (slots - 1);
  while (origins[i].die && origins[i].die != die)
    i = (i + 1) & (slots - 1);
  return &origins[i];
}

static bool make_room(hearth_scope_functions *f) {
  if (f->used * 2 < f->slots)
    return true;
  size_t more = f->slots ? f->slots * 2 : 256;
  hearth_scope_origin *moved = calloc(more, sizeof *moved);
  if (!moved)
    return false;
  for (size_t i = 0; i < f->slots; ++i)
    if (f->origins[i].die)
      *slot_of(moved, more, f->origins[i].die) = f->origins[i];
  free(f->origins);
  f->origins = moved;
  f->slots = more;
  return true;
}

/* --- What debug information says ---------------------------------------------------------------------------------- */

static const char *linkage_name(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
    return dwarf_formstring(&attribute);
  return NULL;
}

/* The header of the line table of a unit; NULL: it has none that can be read. The last one is kept: functions of one unit
 * come together. */
static const hearth_line_header *line_header(hearth_scope_functions *f, Dwarf_Die *unit) {
  hearth_line_source source;
  if (f->files_of != unit->addr) {
    f->files_of = unit->addr;
    f->has_files = hearth_line_source_find(unit, &source) && hearth_line_header_read(&source, &f->files);
  }
  return f->has_files ? &f->files : NULL;
}

/* A file of a line table, kept as long as the functions; "" if it has no such. False: out of memory. */
static bool keep_path(hearth_scope_functions *f, const hearth_line_header *header, uint64_t number, const char **ret) {
  char *path;
  *ret = "";
  if (!hearth_array_grow(&f->paths, &f->path_capacity, f->path_count, sizeof *f->paths) ||
      !hearth_line_header_path(header, number, &path))
    return false;
  if (path)
    *ret = f->paths[f->path_count++] = path;
  return true;
}

/* The declaring file; "" if it is unknown. Not dwarf_decl_file: up to elfutils 0.188 it takes number 0 for "none", which
 * in DWARF 5 is the unit's primary source file; it does not know where a split unit's files are; and it reads all lines.
 * False: out of memory. */
static bool declaring_file(hearth_scope_functions *f, Dwarf_Die *die, Dwarf_Die *files_of_tree, const char **ret) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  *ret = "";
  if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
      dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) != 0 || (number == 0 && version < 5))
    return true;
  bool elsewhere = attribute.cu != die->cu; /* a function of another unit, after link-time optimisation */
  const hearth_line_header *header = line_header(f, elsewhere ? &unit : files_of_tree);
  return !header || keep_path(f, header, number, ret);
}

/* What the compiler leaves out as it says nothing new in C. */
static bool has_linkage_names(Dwarf_Die *die) {
  Dwarf_Die unit;
  if (!dwarf_diecu(die, &unit, NULL, NULL))
    return false;
  switch (dwarf_srclang(&unit)) {
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
    return true;
  default:
    return false;
  }
}

static const char *name_of(hearth_scope_functions *f, Dwarf_Die *die, bool inlined, bool *ret_memory) {
  Dwarf_Addr address;
  const char *name = linkage_name(die);
  if (!name && !inlined && has_linkage_names(die) && dwarf_entrypc(die, &address) == 0)
    name = hearth_symbols_name(&f->symbols, f->file, address, ret_memory);
  return name ? name : dwarf_diename(die);
}

/* The DIE that all scopes of a function refer to. One with code of its own may be named by its symbol: it is not shared
 * with inlined copies, whose symbol is unknown. */
static const void *origin_of(Dwarf_Die *die, bool inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Die origin;
  if (inlined && dwarf_attr(die, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
    return origin.addr;
  return die->addr;
}

bool hearth_scope_functions_get(hearth_scope_functions *f, Dwarf_Die *die, Dwarf_Die *files, bool inlined,
                                uint32_t *ret) {
  int start_line = 0;
  bool memory = true;
  if (!make_room(f))
    return false;
  hearth_scope_origin *slot = slot_of(f->origins, f->slots, origin_of(die, inlined));
  if (slot->die) {
    *ret = slot->function;
    return true;
  }
  uint32_t row = HEARTH_SCOPE_NO_FUNCTION;
  const char *name = name_of(f, die, inlined, &memory);
  if (!memory)
    return false;
  if (name && dwarf_decl_line(die, &start_line) == 0 && start_line > 0) {
    if (!hearth_array_grow(&f->rows, &f->capacity, f->count, sizeof *f->rows))
      return false;
    const char *path;
    if (!declaring_file(f, die, files, &path))
      return false;
    row = (uint32_t)f->count++;
    f->rows[row] = (hearth_scope_function){name, path, (uint32_t)start_line};
  }
  *slot = (hearth_scope_origin){origin_of(die, inlined), row};
  ++f->used;
  *ret = row;
  return true;
}

void hearth_scope_functions_free(hearth_scope_functions *f) {
  for (size_t i = 0; i < f->path_count; ++i)
    free(f->paths[i]);
  free(f->paths);
  free(f->rows);
  free(f->origins);
  hearth_symbols_free(&f->symbols);
}
