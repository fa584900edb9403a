/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Asks the loader for the file that an address lies in, and looks a name up in the file's .gnu.hash table. */
#define _GNU_SOURCE
#include "code_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* _dl_find_object of glibc 2.35, and its result, which older headers lack. dl_iterate_phdr would take the loader's lock, which
 * a thread may hold that waits for one that allocates. */
struct found_object {
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map *map;
  void *unused[16];
};
extern int find_object(void *address, struct found_object *ret) __asm__("_dl_find_object") __attribute__((weak));

enum { LEAST_PAGE_BYTES = 4096 };

/* Head of .gnu.hash; then the filter's words, the first symbol of each bucket, and a row for each hashed symbol. */
struct hash_head {
  uint32_t bucket_count, first_symbol, filter_words, filter_shift;
};

bool hearth_code_is_known(void) { return find_object; }

/* glibc has put addresses where the file has offsets; not in the object that the kernel maps, which is read-only. */
static const void *table_at(const struct link_map *map, ElfW(Addr) address) {
  return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

/* The program headers: of a file whose first page is mapped where its code begins, as linkers have it. */
static unsigned segments_of(const struct hearth_code_module *module, const ElfW(Phdr) * *ret) {
  const ElfW(Ehdr) *header = module->header;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof **ret ||
      header->e_phoff + header->e_phnum * sizeof **ret > LEAST_PAGE_BYTES)
    return 0;
  *ret = (const ElfW(Phdr) *)((const char *)module->header + header->e_phoff);
  return header->e_phnum;
}

static size_t aligned(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

/* The build id among the notes of a segment. */
static void find_in_notes(struct hearth_code_module *module, const char *at, size_t bytes) {
  ElfW(Nhdr) note;
  for (size_t size; bytes >= sizeof note; at += size, bytes -= size) {
    memcpy(&note, at, sizeof note);
    size = sizeof note + aligned(note.n_namesz) + aligned(note.n_descsz);
    if (size > bytes)
      return;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(at + sizeof note, "GNU", 4) != 0)
      continue;
    module->build_id = (const uint8_t *)at + sizeof note + 4;
    module->build_id_size = note.n_descsz;
    return;
  }
}

static void find_build_id(struct hearth_code_module *module) {
  const ElfW(Phdr) * segments;
  unsigned count = segments_of(module, &segments);
  for (unsigned i = 0; i < count && !module->build_id; i++)
    if (segments[i].p_type == PT_NOTE)
      find_in_notes(module, (const char *)(module->bias + segments[i].p_vaddr), segments[i].p_memsz);
}

bool hearth_code_module_find(uintptr_t address, struct hearth_code_module *ret) {
  struct found_object object;
  if (find_object((void *)address, &object) || !object.map || !object.map->l_ld)
    return false;
  const struct link_map *map = object.map;
  *ret = (struct hearth_code_module){.bias = map->l_addr, .header = object.map_start};
  find_build_id(ret);
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_SYMTAB)
      ret->symbols = table_at(map, entry->d_un.d_ptr);
    else if (entry->d_tag == DT_STRTAB)
      ret->strings = table_at(map, entry->d_un.d_ptr);
    else if (entry->d_tag == DT_GNU_HASH)
      ret->hash_table = table_at(map, entry->d_un.d_ptr);
  }
  return true;
}

uint64_t hearth_code_module_offset(const struct hearth_code_module *module, uintptr_t address) {
  const ElfW(Phdr) * segments;
  unsigned count = segments_of(module, &segments);
  uintptr_t place = address - module->bias;
  for (unsigned i = 0; i < count; i++)
    if (segments[i].p_type == PT_LOAD && place - segments[i].p_vaddr < segments[i].p_memsz)
      return place - segments[i].p_vaddr + segments[i].p_offset;
  return UINT64_MAX;
}

uint32_t hearth_code_name_hash(const char *name, uint32_t bytes) {
  uint32_t hash = 5381;
  for (uint32_t i = 0; i < bytes; i++)
    hash = hash * 33 + (unsigned char)name[i];
  return hash;
}

static bool covers(const struct hearth_code_module *module, const ElfW(Sym) * symbol, uintptr_t address) {
  uintptr_t start = module->bias + symbol->st_value;
  return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && address >= start &&
         address - start < symbol->st_size;
}

static bool is_called(const char *string, const char *name, uint32_t bytes) {
  return !strncmp(string, name, bytes) && !string[bytes];
}

bool hearth_code_module_names(const struct hearth_code_module *module, const char *name, uint32_t bytes, uint32_t hash,
                              uintptr_t address) {
  if (!module->symbols || !module->strings || !module->hash_table)
    return false;
  const struct hash_head *head = (const struct hash_head *)module->hash_table;
  const ElfW(Addr) *filter = (const ElfW(Addr) *)(head + 1);
  const uint32_t *buckets = (const uint32_t *)(filter + head->filter_words), *rows = buckets + head->bucket_count;
  const ElfW(Sym) *symbols = module->symbols;
  unsigned word_bits = 8 * sizeof *filter;
  ElfW(Addr) word = filter[hash / word_bits & (head->filter_words - 1)];
  if (!(word >> hash % word_bits & word >> (hash >> head->filter_shift) % word_bits & 1))
    return false;
  uint32_t symbol = head->bucket_count ? buckets[hash % head->bucket_count] : 0;
  if (symbol < head->first_symbol)
    return false;
  /* The last row of a bucket is odd; the other bits of rows are those of hashes. */
  for (uint32_t row = 0; !(row & 1); symbol++) {
    row = rows[symbol - head->first_symbol];
    if ((row | 1) == (hash | 1) && is_called(module->strings + symbols[symbol].st_name, name, bytes) &&
        covers(module, &symbols[symbol], address))
      return true;
  }
  return false;
}
