/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions with mangled names, sorted by address at the first look-up. */
#include "object_file.h"

#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"

/* By address, then the last name first: of a constructor whose symbols C1 and C2 are one function, C2, as in Clang's
 * debug information. */
static int compare_symbols(const void *a, const void *b) {
  const hearth_symbol *x = a, *y = b;
  if (x->address != y->address)
    return x->address < y->address ? -1 : 1;
  return strcmp(y->name, x->name);
}

static bool is_mangled_function(const Elf64_Sym *symbol, const char *name) {
  return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && name &&
         strncmp(name, "_Z", 2) == 0;
}

static bool symbol_read_table(hearth_symbols *s, hearth_elf_file *file) {
  hearth_symbol_table table = hearth_symbol_table_open(file, ".symtab", ".strtab");
  size_t count = hearth_symbol_table_count(&table);
  Elf64_Sym symbol;
  const char *name;
  s->read = true;
  if (count == 0 || table.names.size == 0 || table.names.data[table.names.size - 1] != '\0')
    return true;
  s->rows = calloc(count, sizeof *s->rows);
  if (!s->rows)
    return false;
  while (hearth_symbol_table_next(&table, &symbol, &name))
    if (is_mangled_function(&symbol, name))
      s->rows[s->count++] = (hearth_symbol){symbol.st_value, name};
  qsort(s->rows, s->count, sizeof *s->rows, compare_symbols);
  count = s->count;
  s->count = 0;
  for (size_t i = 0; i < count; ++i)
    if (s->count == 0 || s->rows[i].address != s->rows[s->count - 1].address)
      s->rows[s->count++] = s->rows[i];
  return true;
}

static int compare_address(const void *key, const void *row) {
  uint64_t x = *(const uint64_t *)key, y = ((const hearth_symbol *)row)->address;
  return (x > y) - (x < y);
}

const char *hearth_symbols_name(hearth_symbols *s, hearth_elf_file *file, uint64_t address, bool *ret_memory) {
  *ret_memory = s->read || symbol_read_table(s, file);
  const hearth_symbol *row =
      s->count > 0 ? bsearch(&address, s->rows, s->count, sizeof *s->rows, compare_address) : NULL;
  return row ? row->name : NULL;
}

void hearth_symbols_free(hearth_symbols *s) {
  free(s->rows);
  *s = (hearth_symbols){0};
}

/* Two sorted lists, symbols and the begins of functions in .eh_frame_hdr; each look-up is a binary search in one, then in
 * the other. */

enum { HEADER = 4, TABLE_ENCODING = 0x3b /* 4 bytes with sign, from the section's begin (LSB, .eh_frame_hdr) */ };

typedef struct symbol {
  uint64_t start, end;
  const char *name; /* in the file's string table */
} symbol;

struct hearth_code_names {
  symbol *symbols;  /* by start */
  uint64_t *starts; /* of functions, ascending */
  size_t symbol_count, start_count;
  const char *file_name;
  char name[256];
};

static int compare_by_address(const void *a, const void *b) {
  const symbol *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Sort by address; the first symbol by name stays for each address. */
static void sort_symbols(hearth_code_names *n) {
  size_t count = n->symbol_count;
  qsort(n->symbols, count, sizeof *n->symbols, compare_by_address);
  n->symbol_count = 0;
  for (size_t i = 0; i < count; ++i)
    if (n->symbol_count == 0 || n->symbols[i].start != n->symbols[n->symbol_count - 1].start)
      n->symbols[n->symbol_count++] = n->symbols[i];
}

static bool read_symbols(hearth_code_names *n, hearth_elf_file *file) {
  bool whole = hearth_elf_file_has(file, ".symtab");
  hearth_symbol_table table =
      hearth_symbol_table_open(file, whole ? ".symtab" : ".dynsym", whole ? ".strtab" : ".dynstr");
  Elf64_Sym row;
  const char *name;
  n->symbols = calloc(hearth_symbol_table_count(&table) + 1, sizeof *n->symbols);
  if (!n->symbols)
    return false;
  while (hearth_symbol_table_next(&table, &row, &name)) {
    unsigned type = ELF64_ST_TYPE(row.st_info);
    if (name && *name && (type == STT_FUNC || type == STT_GNU_IFUNC) && row.st_shndx != SHN_UNDEF && row.st_size > 0)
      n->symbols[n->symbol_count++] = (symbol){row.st_value, row.st_value + row.st_size, name};
  }
  sort_symbols(n);
  return true;
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

/* Version, three encodings, the address of .eh_frame, the number of rows, and the rows: function and its description. The
 * linker has sorted them. */
static bool read_starts(hearth_code_names *n, hearth_elf_file *file) {
  hearth_bytes section = hearth_elf_file_section(file, ".eh_frame_hdr");
  uint64_t at = HEADER + 4, count = 0, base = section_address(file, ".eh_frame_hdr");
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

hearth_status hearth_code_names_create(hearth_elf_file *file, hearth_elf_file *debug_file, hearth_code_names **ret,
                                       hearth_error *err) {
  const char *path = hearth_elf_file_path(file);
  hearth_elf_file *symbols = debug_file && hearth_elf_file_has(debug_file, ".symtab") ? debug_file : file;
  *ret = NULL;
  hearth_code_names *n = calloc(1, sizeof *n);
  bool good = n && read_symbols(n, symbols) && read_starts(n, file);
  hearth_status status =
      !good ? hearth_error_nomem(err)
      : n->symbol_count + n->start_count == 0
          ? hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO, "%s: no symbols, and no .eh_frame_hdr", path)
          : HEARTH_OK;
  if (status != HEARTH_OK) {
    hearth_code_names_destroy(n);
    return status;
  }
  n->file_name = hearth_base_name(path);
  *ret = n;
  return HEARTH_OK;
}

void hearth_code_names_destroy(hearth_code_names *n) {
  if (!n)
    return;
  HEARTH_FREE(n->symbols, n->starts, n);
}

/* Rows whose start is at most `address`. Rows begin with their start. */
static size_t symbol_count_up_to(const void *rows, size_t count, size_t row_size, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    uint64_t start;
    memcpy(&start, (const char *)rows + middle * row_size, sizeof start);
    if (start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const char *hearth_code_names_find(hearth_code_names *n, uint64_t address) {
  size_t at = symbol_count_up_to(n->symbols, n->symbol_count, sizeof *n->symbols, address);
  if (at > 0 && address < n->symbols[at - 1].end)
    return n->symbols[at - 1].name;
  at = symbol_count_up_to(n->starts, n->start_count, sizeof *n->starts, address);
  if (at == 0)
    return NULL;
  snprintf(n->name, sizeof n->name, "%.200s+0x%" PRIx64, n->file_name, n->starts[at - 1]);
  return n->name;
}
