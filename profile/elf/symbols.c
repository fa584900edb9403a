/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two sorted lists, symbols and the begins of functions in .eh_frame_hdr; each look-up is a binary search in one,
 * then in the other. */
#include "object_file.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"

enum { HEADER = 4, TABLE_ENCODING = 0x3b /* 4 bytes with sign, from the section's begin (LSB, .eh_frame_hdr) */ };

typedef struct symbol {
  uint64_t start, end;
  const char *name; /* in the file's string table */
} symbol;

struct hearth_code_names {
  hearth_elf_file *file, *debug_file;
  symbol *symbols;  /* by start */
  uint64_t *starts; /* of functions, ascending */
  size_t symbol_count, start_count;
  char name[256];
};

hearth_code_names *hearth_code_names_create(hearth_elf_file *file, hearth_elf_file *debug_file) {
  hearth_code_names *n = calloc(1, sizeof *n);
  if (n)
    *n = (hearth_code_names){.file = file, .debug_file = debug_file};
  return n;
}

void hearth_code_names_destroy(hearth_code_names *n) {
  if (!n)
    return;
  HEARTH_FREE(n->symbols, n->starts, n);
}

/* By address, then the last name first: of a constructor whose symbols C1 and C2 are one function, C2, as in Clang's
 * debug information. */
static int compare_symbols(const void *a, const void *b) {
  const symbol *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return strcmp(y->name, x->name);
}

static bool is_mangled(const char *name) { return strncmp(name, "_Z", 2) == 0; }

static bool read_symbols(hearth_code_names *n) {
  hearth_elf_file *file = n->debug_file && hearth_elf_file_has(n->debug_file, ".symtab") ? n->debug_file : n->file;
  bool whole = hearth_elf_file_has(file, ".symtab");
  hearth_symbol_table table =
      hearth_symbol_table_open(file, whole ? ".symtab" : ".dynsym", whole ? ".strtab" : ".dynstr");
  Elf64_Sym row;
  const char *name;
  if (n->symbols)
    return true;
  n->symbols = calloc(hearth_symbol_table_count(&table) + 1, sizeof *n->symbols);
  if (!n->symbols)
    return false;
  while (hearth_symbol_table_next(&table, &row, &name)) {
    unsigned type = ELF64_ST_TYPE(row.st_info);
    bool is_function = name && *name && (type == STT_FUNC || type == STT_GNU_IFUNC) && row.st_shndx != SHN_UNDEF;
    if (is_function && (row.st_size > 0 || is_mangled(name)))
      n->symbols[n->symbol_count++] = (symbol){row.st_value, row.st_value + row.st_size, name};
  }
  qsort(n->symbols, n->symbol_count, sizeof *n->symbols, compare_symbols);
  return true;
}

const char *hearth_code_names_mangled(hearth_code_names *n, uint64_t address, bool *ret_memory) {
  const char *name = NULL;
  *ret_memory = read_symbols(n);
  for (size_t at = hearth_count_up_to(address, n->symbols, n->symbol_count, sizeof *n->symbols);
       at-- > 0 && n->symbols[at].start == address;)
    name = is_mangled(n->symbols[at].name) ? n->symbols[at].name : name;
  return name;
}

/* The address of a section in memory; 0: there is none. */
static uint64_t section_address(hearth_elf_file *file, const char *name) {
  Elf *elf = hearth_elf_file_elf(file);
  size_t names;
  GElf_Shdr header;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return 0;
  for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
    const char *found = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
    if (found && strcmp(found, name) == 0)
      return header.sh_addr;
  }
  return 0;
}

/* Version, three encodings, the address of .eh_frame, the number of rows, and the rows: function and its
 * description. The linker has sorted them. */
static bool read_starts(hearth_code_names *n) {
  hearth_bytes section = hearth_elf_file_section(n->file, ".eh_frame_hdr");
  uint64_t at = HEADER + 4, count = 0, base = section_address(n->file, ".eh_frame_hdr");
  bool usable = section.size > HEADER && section.data[0] == 1 && section.data[3] == TABLE_ENCODING && base &&
                hearth_bytes_number(section, &at, 4, &count);
  n->starts = calloc(section.size / 8 + 1, sizeof *n->starts);
  if (!n->starts)
    return false;
  for (uint64_t start, description; usable && count > 0 && hearth_bytes_number(section, &at, 4, &start) &&
                                    hearth_bytes_number(section, &at, 4, &description);
       --count)
    n->starts[n->start_count++] = base + (uint64_t)(int64_t)(int32_t)start;
  return true;
}

hearth_status hearth_code_names_load(hearth_code_names *n, hearth_error *err) {
  HEARTH_TRY(hearth_check_memory(read_symbols(n) && read_starts(n), err));
  return n->symbol_count + n->start_count > 0
             ? HEARTH_OK
             : hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO, "%s: no symbols, and no .eh_frame_hdr",
                                hearth_elf_file_path(n->file));
}

/* Of several names of one place, the first. */
const char *hearth_code_names_find(hearth_code_names *n, uint64_t address) {
  size_t at = hearth_count_up_to(address, n->symbols, n->symbol_count, sizeof *n->symbols);
  while (at > 0 && n->symbols[at - 1].end == n->symbols[at - 1].start) /* a label */
    at--;
  for (size_t i = at; i-- > 0 && n->symbols[i].start == n->symbols[at - 1].start;)
    if (address < n->symbols[i].end)
      return n->symbols[i].name;
  at = hearth_count_up_to(address, n->starts, n->start_count, sizeof *n->starts);
  if (at == 0)
    return NULL;
  snprintf(n->name, sizeof n->name, "%.200s+0x%" PRIx64, hearth_base_name(hearth_elf_file_path(n->file)),
           n->starts[at - 1]);
  return n->name;
}
