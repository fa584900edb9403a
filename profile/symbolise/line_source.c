#include "symbolise/line_source.h"

#include <dwarf.h>

#include "symbolise/elf_file.h"

bool hearth_line_source_find(Dwarf_Die *unit, hearth_line_source *ret) {
  Dwarf_Attribute attribute;
  uint8_t type = 0;
  Dwarf_Word offset = 0; /* a split unit need not say it: its image has no other table */
  Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit->cu));
  dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, NULL, NULL, NULL);
  if (!dwarf_attr(unit, DW_AT_stmt_list, &attribute)) {
    if (type != DW_UT_split_compile)
      return false;
  } else if (dwarf_formudata(&attribute, &offset) != 0) {
    offset = UINT64_MAX; /* there is none */
  }
  *ret = (hearth_line_source){.lines = hearth_elf_section(elf, ".debug_line"),
                              .line_strings = hearth_elf_section(elf, ".debug_line_str"),
                              .strings = hearth_elf_section(elf, ".debug_str"),
                              .offset = offset};
  if (dwarf_attr(unit, DW_AT_comp_dir, &attribute))
    ret->directory = dwarf_formstring(&attribute);
  return true;
}
