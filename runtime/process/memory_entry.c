/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mlockall: the runtime's tables are far larger than memory, and the kernel would fill them. Pages are locked as they are
 * used, and those of the program's own mappings are there at once, as without the runtime. */
#include "os.h"
#include "proc_maps.h"

#include <errno.h>
#include <sys/mman.h>

HEARTH_EXPORT int mlockall(int flags);

/* Have the pages of [start, end) in memory, but not those of the runtime's tables. */
static void fill(uintptr_t start, uintptr_t end) {
  while (start < end) {
    uintptr_t table = end, table_end = end;
    hearth_os_next_table(start, &table, &table_end);
    uintptr_t stop = table < end ? table : end;
    if (stop > start)
      hearth_os_lock_pages((void *)start, stop - start);
    start = table_end;
  }
}

int mlockall(int flags) {
  char buffer[512];
  hearth_maps maps;
  hearth_maps_entry entry;
  int result = hearth_os_lock_all(flags);

  if (result < 0) {
    errno = -result;
    return -1;
  }
  if (!(flags & MCL_CURRENT) || flags & HEARTH_OS_LOCK_ON_FAULT || !hearth_maps_open(&maps, buffer, sizeof buffer))
    return 0;
  while (hearth_maps_next(&maps, &entry))
    if (entry.readable)
      fill(entry.start, entry.end);
  hearth_maps_close(&maps);
  return 0;
}
