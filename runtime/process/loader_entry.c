/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The dynamic loader while the program runs. Libraries that are loaded later find the runtime's allocation functions
 * whatever way they look for them; and when a library is closed, what is loaded in its place is told apart from it. */
#include "blocks.h"
#include "entry_points.h"
#include "mappings.h"
#include "process.h"
#include "unwind.h"

/* One allocator, or blocks of one would be freed by another. */
static const char *const allocation_names[] = {
#define HEARTH_C_NAME(name)               #name,
#define HEARTH_C23_NAME(name)             #name,
#define HEARTH_NEW_NAME(name, form, kind) #name,
#define HEARTH_DELETE_NAME(name, kind)    #name,
#include "allocation_names.def"
};
#define NAME_COUNT (sizeof allocation_names / sizeof allocation_names[0])
_Static_assert(NAME_COUNT <= HEARTH_LOADER_NAMES_MOST, "there is room for them");

bool hearth_loader_find_own(const void *address, hearth_loader_mapping *ret_mapping) {
  char buffer[512];
  hearth_maps maps;
  hearth_maps_entry entry;
  bool found = false;

  if (!hearth_maps_open(&maps, buffer, sizeof buffer))
    return false;
  while (!found && hearth_maps_next(&maps, &entry))
    found = (uintptr_t)address >= entry.start && (uintptr_t)address < entry.end;
  hearth_maps_close(&maps);
  if (found)
    *ret_mapping = (hearth_loader_mapping){entry.start, entry.end, entry.writable, entry.executable};
  return found;
}

static int (*next_dlclose)(void *library);

/* Destructors of the library may allocate: what is mapped is looked at again behind them. */
static int close_library(void *library) {
  hearth_mappings_update();
  int result = next_dlclose(library);
  if (hearth_mappings_close()) {
    hearth_unwind_forget_closed();
    hearth_threads_forget_stacks();
  }
  return result;
}

void hearth_loader_begin(void) {
  hearth_loader_unify(hearth_loader_find_own, allocation_names, NAME_COUNT, (const void *)hearth_own_malloc);
  next_dlclose = (int (*)(void *))hearth_loader_replace(hearth_loader_find_own, "dlclose", (void *)close_library);
}
