#include "symbolise/scope_functions.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolise/array.h"

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

/* The declaring file. Not dwarf_decl_file: up to elfutils 0.188 it takes number 0 for "none", which in DWARF 5 is the
 * unit's primary source file; and it does not know where a split unit's files are. */
static const char *declaring_file(Dwarf_Die *die, Dwarf_Die *files_of_tree) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  Dwarf_Files *files;
  size_t count = 0;
  if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
      dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) != 0 || (number == 0 && version < 5))
    return "";
  bool elsewhere = attribute.cu != die->cu; /* a function of another unit, after link-time optimisation */
  if (dwarf_getsrcfiles(elsewhere ? &unit : files_of_tree, &files, &count) != 0 || number >= count)
    return "";
  const char *path = dwarf_filesrc(files, number, NULL, NULL);
  return path ? path : "";
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
    row = (uint32_t)f->count++;
    f->rows[row] = (hearth_scope_function){name, declaring_file(die, files), (uint32_t)start_line};
  }
  *slot = (hearth_scope_origin){origin_of(die, inlined), row};
  ++f->used;
  *ret = row;
  return true;
}

void hearth_scope_functions_free(hearth_scope_functions *f) {
  free(f->rows);
  free(f->origins);
  hearth_symbols_free(&f->symbols);
}
