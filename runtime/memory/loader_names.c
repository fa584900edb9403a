/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The modules are those of the loader's list for debuggers; symbols are found by the GNU hash table. */
#include "entry_points.h"

#include "machine.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#pragma weak _r_debug

typedef struct module {
  uintptr_t base;
  ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *hash;
  struct {
    const ElfW(Rela) * at;
    size_t size;
  } references[2];
} module;

/* The loader has made most of these numbers addresses. */
static const void *place_in_module(const struct link_map *map, uintptr_t number) {
  return (const void *)(number < map->l_addr ? map->l_addr + number : number);
}

/* False: it is no module whose symbols can be found. */
static bool read_module(const struct link_map *map, module *ret) {
  *ret = (module){.base = map->l_addr};
  for (const ElfW(Dyn) *at = map->l_ld; at && at->d_tag != DT_NULL; at++)
    switch (at->d_tag) {
    case DT_SYMTAB:
      ret->symbols = (ElfW(Sym) *)place_in_module(map, at->d_un.d_ptr);
      break;
    case DT_STRTAB:
      ret->strings = place_in_module(map, at->d_un.d_ptr);
      break;
    case DT_GNU_HASH:
      ret->hash = place_in_module(map, at->d_un.d_ptr);
      break;
    case DT_RELA:
      ret->references[0].at = place_in_module(map, at->d_un.d_ptr);
      break;
    case DT_RELASZ:
      ret->references[0].size = at->d_un.d_val;
      break;
    case DT_JMPREL:
      ret->references[1].at = place_in_module(map, at->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      ret->references[1].size = at->d_un.d_val;
      break;
    default:
      break;
    }
  return ret->symbols && ret->strings && ret->hash;
}

static const struct link_map *first_map(void) { return &_r_debug ? _r_debug.r_map : NULL; }

static bool has_name(const module *module, uint32_t number, const char *name) {
  return strncmp(module->strings + module->symbols[number].st_name, name, strlen(name) + 1) == 0;
}

static uint32_t hash_name(const char *name) {
  uint32_t hash = 5381;

  for (; *name; name++)
    hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* The number of the module's definition of the name behind number `before`, or the first for 0; 0: there is none.
 * Names have one for each version. */
static uint32_t find_definition(const module *module, const char *name, uint32_t before) {
  uint32_t hash = hash_name(name), buckets = module->hash[0], first = module->hash[1], words = module->hash[2];
  const uint64_t *filter = (const uint64_t *)(module->hash + 4);
  const uint32_t *bucket = (const uint32_t *)(filter + words), *chain = bucket + buckets;
  uint64_t bits = UINT64_C(1) << hash % 64 | UINT64_C(1) << (hash >> module->hash[3]) % 64;

  if (buckets == 0 || (filter[hash / 64 % words] & bits) != bits || bucket[hash % buckets] < first)
    return 0;
  uint32_t number = bucket[hash % buckets];
  for (;; number++) {
    uint32_t word = chain[number - first];
    if (number > before && (word | 1) == (hash | 1) && module->symbols[number].st_shndx != SHN_UNDEF &&
        has_name(module, number, name))
      return number;
    if (word & 1)
      return 0;
  }
}

static uintptr_t address_of(const module *module, uint32_t number) {
  return module->base + module->symbols[number].st_value;
}

/* The first definition that a lookup finds. False: there is none. */
static bool find_first_definition(const char *name, module *ret_module, uint32_t *ret_number) {
  for (const struct link_map *map = first_map(); map; map = map->l_next)
    if (read_module(map, ret_module) && (*ret_number = find_definition(ret_module, name, 0)) != 0)
      return true;
  return false;
}

/* A mapping that can be written to for a while. */
typedef struct window {
  hearth_loader_find *find;
  hearth_loader_mapping mapping; /* all zero: none */
} window;

static bool contains(const window *window, const void *address) {
  return (uintptr_t)address >= window->mapping.start && (uintptr_t)address < window->mapping.end;
}

/* Executable memory stays so: at no time does the system take a right away that it might not give again. */
static bool protect_mapping(const hearth_loader_mapping *mapping, bool writable) {
  return hearth_system_protect((void *)mapping->start, mapping->end - mapping->start, mapping->executable, writable);
}

static bool open_window(window *window, const void *address) {
  hearth_loader_mapping mapping;

  if (!window->find(address, &mapping) || (!mapping.writable && !protect_mapping(&mapping, true)))
    return false;
  window->mapping = mapping;
  return true;
}

static void close_window(window *window) {
  if (window->mapping.end && !window->mapping.writable)
    protect_mapping(&window->mapping, false);
  window->mapping = (hearth_loader_mapping){0};
}

/* Write a word in the window, or in another one. */
static bool write_word(window *window, uintptr_t *word, uintptr_t value) {
  if (!contains(window, word)) {
    close_window(window);
    if (!open_window(window, word))
      return false;
  }
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  return true;
}

/* All of the module's definitions of the name. False: the system refuses it. */
static bool define_symbols(const module *module, const char *name, uintptr_t address, window *window) {
  for (uint32_t number = 0; (number = find_definition(module, name, number)) != 0;)
    if (address_of(module, number) != address &&
        !write_word(window, &module->symbols[number].st_value, address - module->base))
      return false;
  return true;
}

/* The words of a module that the loader has set to `from` for the name. */
static void bind_references(hearth_loader_find *find, const module *module, const char *name, uintptr_t from,
                            uintptr_t to) {
  window window = {.find = find};

  for (size_t table = 0; table < 2; table++)
    for (size_t i = 0; i < module->references[table].size / sizeof(ElfW(Rela)); i++) {
      const ElfW(Rela) *reference = &module->references[table].at[i];
      uintptr_t *word = (uintptr_t *)(module->base + reference->r_offset);
      uint32_t number = (uint32_t)ELF64_R_SYM(reference->r_info);
      if (number != 0 && has_name(module, number, name) && *word == from)
        write_word(&window, word, to);
    }
  close_window(&window);
}

void *hearth_loader_replace(hearth_loader_find *find, const char *name, void *function) {
  module module;
  window window = {.find = find};
  uint32_t number;

  if (!find_first_definition(name, &module, &number))
    return NULL;
  uintptr_t former = address_of(&module, number);
  bool is_defined = define_symbols(&module, name, (uintptr_t)function, &window);
  close_window(&window);
  if (!is_defined)
    return NULL;
  for (const struct link_map *map = first_map(); map; map = map->l_next)
    if (read_module(map, &module))
      bind_references(find, &module, name, former, (uintptr_t)function);
  return (void *)former;
}

void hearth_loader_unify(hearth_loader_find *find, const char *const *names, size_t count, const void *function) {
  uintptr_t addresses[HEARTH_LOADER_NAMES_MOST]; /* 0: another module's comes first */
  module own, other;
  uint32_t number;

  if (!find_first_definition(names[0], &own, &number) || address_of(&own, number) != (uintptr_t)function)
    return;
  for (size_t i = 0; i < count; i++)
    addresses[i] =
        find_first_definition(names[i], &other, &number) && other.symbols == own.symbols ? address_of(&own, number) : 0;
  for (const struct link_map *map = first_map(); map; map = map->l_next) {
    window window = {.find = find};
    if (!read_module(map, &other) || other.symbols == own.symbols)
      continue;
    for (size_t i = 0; i < count; i++)
      if (addresses[i])
        define_symbols(&other, names[i], addresses[i], &window);
    close_window(&window);
  }
}
