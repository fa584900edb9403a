/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sections are those of the unit's file; the offset is the root's DW_AT_stmt_list. */
#include "line_source.h"

#include <dwarf.h>

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
