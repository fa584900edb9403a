/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lookups that pass by the allocator: a library that is opened with RTLD_DEEPBIND looks into the C library first, as does dlsym
 * with that library's handle. What they find is made ours, or one allocator would free the blocks of the other. The C++
 * library's operators call the C library's functions, and so need no change. */
#include "engine.h"

#include "loader_names.h"
#include "malloc_functions.h"
#include "system_memory.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#pragma weak _r_debug

static const char *const names[] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_free",
    "__libc_memalign",
    "__libc_valloc",
    "__libc_pvalloc",
};
enum { NAMES = sizeof names / sizeof *names };
_Static_assert((int)NAMES <= HEARTH_LOADER_NAMES_MOST, "there is room for them");

/* Of a library's table of symbols, by the library's own headers. The program itself is not asked for. */
static bool find_mapping(const void *address, hearth_loader_mapping *ret_mapping) {
  for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)map->l_addr;
    if (!map->l_addr || (uintptr_t)address < map->l_addr || (uintptr_t)address >= (uintptr_t)map->l_ld ||
        memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
      continue;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(map->l_addr + head->e_phoff);
    for (size_t i = 0; i < head->e_phnum; i++) {
      uintptr_t start = map->l_addr + segment[i].p_vaddr, end = start + segment[i].p_memsz;
      if (segment[i].p_type == PT_LOAD && (uintptr_t)address >= start && (uintptr_t)address < end) {
        *ret_mapping = (hearth_loader_mapping){start & -(uintptr_t)HEARTH_PAGE_BYTES, HEARTH_WHOLE_PAGES(end),
                                               segment[i].p_flags & PF_W, segment[i].p_flags & PF_X};
        return true;
      }
    }
  }
  return false;
}

static bool protect(const hearth_loader_mapping *mapping, bool writable) {
  return hearth_system_protect((void *)mapping->start, mapping->end - mapping->start, mapping->executable, writable);
}

void hearth_lookups_unify(void) {
  static const hearth_loader_system system = {find_mapping, protect};
  hearth_loader_unify(&system, names, NAMES, (const void *)hearth_engine_malloc);
}
