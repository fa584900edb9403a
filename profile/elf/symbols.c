/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions with mangled names, sorted by address at the first look-up. */
#include "symbols.h"

#include <stdlib.h>
#include <string.h>

#include "symbol_table.h"

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

static bool read_table(hearth_symbols *s, hearth_elf_file *file) {
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
  *ret_memory = s->read || read_table(s, file);
  const hearth_symbol *row =
      s->count > 0 ? bsearch(&address, s->rows, s->count, sizeof *s->rows, compare_address) : NULL;
  return row ? row->name : NULL;
}

void hearth_symbols_free(hearth_symbols *s) {
  free(s->rows);
  *s = (hearth_symbols){0};
}
