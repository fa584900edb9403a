/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A heap dump is a census of live blocks, in the layout of profiles. It is written while all threads stand still. */
#include "blocks.h"
#include "clock.h"
#include "dump.h"
#include "history.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "scopes.h"

#include "hearth/raw.h"

#include <errno.h>
#include <string.h>

/* /proc/self/pagemap has one entry of 64 bits for each page. It is read in pieces as blocks are visited. */

#define PAGE_BATCH 512

typedef struct page_map {
  int fd;
  bool knows_writes; /* since the dump before */
  uintptr_t first;   /* page of entries[0] */
  size_t count;      /* of entries that were read */
  uint64_t entries[PAGE_BATCH];
} page_map;

#define PRESENT    (UINT64_C(1) << 63)
#define SWAPPED    (UINT64_C(1) << 62)
#define SOFT_DIRTY (UINT64_C(1) << 55)

static bool watches; /* page_map_watch worked */

/* Returns 0, or an error number: the kernel has no page map, or does not show it. */
static int page_map_open(page_map *map) {
  map->fd = hearth_os_open_read("/proc/self/pagemap");
  map->knows_writes = watches;
  map->first = map->count = 0;
  return map->fd < 0 ? -map->fd : 0;
}

static void page_map_close(page_map *map) { hearth_os_close(map->fd); }

static uint64_t page_entry_of(page_map *map, uintptr_t page) {
  if (page - map->first >= map->count) {
    long size = hearth_os_read_at(map->fd, map->entries, sizeof map->entries, (uint64_t)page * sizeof *map->entries);
    map->first = page;
    map->count = size > 0 ? (size_t)size / sizeof *map->entries : 0;
  }
  return map->count > 0 ? map->entries[page - map->first] : 0;
}

/* Where the bytes [address, address + size) are; bytes whose place cannot be read count as nowhere. */
static hearth_residency page_map_find(page_map *map, uintptr_t address, uint64_t size) {
  hearth_residency found = {0};

  for (uintptr_t end = address + size, next; address < end; address = next) {
    next = (address / HEARTH_PAGE_BYTES + 1) * HEARTH_PAGE_BYTES;
    uint64_t bytes = (next < end ? next : end) - address, entry = page_entry_of(map, address / HEARTH_PAGE_BYTES);
    found.resident += entry & PRESENT ? bytes : 0;
    found.swapped += entry & SWAPPED ? bytes : 0;
    found.unwritten += map->knows_writes && entry & (PRESENT | SWAPPED) && !(entry & SOFT_DIRTY) ? bytes : 0;
  }
  return found;
}

/* A kernel without soft-dirty bits takes the request, too: whether a page that is written to afterwards has its bit
 * tells. */
static bool has_bits(void) {
  static volatile char page[2 * HEARTH_PAGE_BYTES];
  page_map map;

  page[HEARTH_PAGE_BYTES] = 1;
  if (page_map_open(&map) != 0)
    return false;
  bool dirty = page_entry_of(&map, (uintptr_t)&page[HEARTH_PAGE_BYTES] / HEARTH_PAGE_BYTES) & SOFT_DIRTY;
  page_map_close(&map);
  return dirty;
}

/* From now on, pages that are written to are known. False: the kernel does not tell, or does not let us ask. */
static bool page_map_watch(void) {
  static const char clear_soft_dirty[] = "4";
  int fd = hearth_os_open_append("/proc/self/clear_refs");

  if (fd < 0)
    return false;
  bool cleared = hearth_os_write(fd, clear_soft_dirty, sizeof clear_soft_dirty - 1) > 0;
  hearth_os_close(fd);
  watches = cleared && has_bits();
  return watches;
}

/* A walk over all live blocks, summed up in rows. The rows of a context are chained, one for each type of its blocks. */

#define FIRST_ROOM 1024u /* rows */

static size_t census_rows_size(uint32_t room) { return HEARTH_WHOLE_PAGES(room * sizeof(hearth_live_row)); }

static bool census_grow(hearth_live_census *live) {
  uint32_t room = live->row_room ? live->row_room * 2 : FIRST_ROOM;
  hearth_live_row *rows = hearth_system_map(census_rows_size(room));

  if (!rows)
    return false;
  if (live->rows) {
    memcpy(rows, live->rows, live->row_count * sizeof *rows);
    hearth_system_unmap(live->rows, census_rows_size(live->row_room));
  }
  live->rows = rows;
  live->row_room = room;
  return true;
}

/* The row of a context and type; NULL: no memory. */
static hearth_live_row *census_row_of(hearth_live_census *live, uint32_t context, uint64_t type) {
  uint32_t last = 0;

  for (uint32_t row = live->first[context]; row; row = live->rows[row - 1].next) {
    if (live->rows[row - 1].mib.DataTypeId == type)
      return &live->rows[row - 1];
    last = row;
  }
  if (live->row_count == live->row_room && !census_grow(live))
    return NULL;
  uint32_t added = ++live->row_count;
  *(last ? &live->rows[last - 1].next : &live->first[context]) = added;
  return &live->rows[added - 1];
}

static void census_add(hearth_live_census *live, uint32_t context, const hearth_mib *mib,
                       const hearth_residency *residency) {
  hearth_live_row *row = census_row_of(live, context, mib->DataTypeId);

  if (!row) {
    live->incomplete = true;
    return;
  }
  hearth_mib_merge(&row->mib, mib);
  row->residency.resident += residency->resident;
  row->residency.swapped += residency->swapped;
  row->residency.unwritten += residency->unwritten;
}

typedef struct visit {
  hearth_live_census *live;
  page_map *pages;
  hearth_moment now;
} visit;

static void add_live_block(const hearth_block *block, uint64_t address, hearth_access_sum accesses, void *closure) {
  const visit *visit = closure;
  hearth_residency residency = {0};

  if (block->context >= visit->live->context_count || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_mib one = hearth_mib_of_block(block, accesses, visit->now);
  hearth_mib_set_live(&one);
  if (visit->pages) {
    residency = page_map_find(visit->pages, (uintptr_t)address, block->size);
    residency.resident *= one.AllocCount; /* a sampled block stands for others */
    residency.swapped *= one.AllocCount;
    residency.unwritten *= one.AllocCount;
  }
  census_add(visit->live, block->context, &one, &residency);
}

static void add_own_block(const hearth_block *block, void *closure) {
  void *memory = hearth_header_memory(block->header);

  if (hearth_header_state(block->header) == HEARTH_BLOCK_LIVE)
    add_live_block(block, (uintptr_t)memory, hearth_shadow_sum(memory, block->size), closure);
}

/* False: no memory. `pages` tells where bytes are; NULL: the caller does not want that. */
static bool live_census_take(hearth_live_census *live, page_map *pages) {
  uint32_t count = hearth_depot_limit(&hearth_rt.depot);
  visit visit = {live, pages, {hearth_clock_now_ns() - hearth_rt.start_ns, hearth_os_cpu()}};

  *live = (hearth_live_census){.first = hearth_system_map(HEARTH_WHOLE_PAGES(count * sizeof *live->first)),
                               .context_count = count};
  if (!live->first)
    return false;
  hearth_heap_each(add_own_block, &visit);
  hearth_allocators_each(add_live_block, &visit);
  return true;
}

static void live_census_destroy(hearth_live_census *live) {
  if (live->first)
    hearth_system_unmap(live->first, HEARTH_WHOLE_PAGES(live->context_count * sizeof *live->first));
  if (live->rows)
    hearth_system_unmap(live->rows, census_rows_size(live->row_room));
  *live = (hearth_live_census){0};
}

/* Dumps. Threads are stopped while one is written. */

static uint32_t dump_count;                /* files NAME.N */
static char peak_name[HEARTH_OUTPUT_NAME]; /* of NAME.peak, once it was written; "": not yet */
static uint64_t file_bytes;                /* live when NAME.peak was written; the dumping thread has a lock */
static int told_error;                     /* of dumps that could not be written; 0: none */
static const char profiler_name[] = HEARTH_RAW_PROFILER;

/* The context that stands for the profiler's own memory; 0: there is no room. */
static uint32_t profiler_context(void) {
  uint32_t name = hearth_context_name(profiler_name);
  uint64_t pc = HEARTH_RAW_HEAP_PC | name;
  bool is_new;

  return name == HEARTH_NO_NAME ? 0 : hearth_depot_insert(&hearth_rt.depot, &pc, 1, &is_new);
}

static uint64_t own_memory(void) {
  hearth_heap_usage usage = hearth_heap_get_usage();

  return hearth_depot_memory(&hearth_rt.depot) + hearth_context_names_memory() + hearth_allocators_memory() +
         hearth_threads_memory() + usage.blocks * sizeof(hearth_header);
}

static void add_own_memory(hearth_live_census *live, uint32_t context) {
  uint64_t size = own_memory();

  if (context > 0 && context < live->context_count)
    census_add(live, context,
               &(hearth_mib){{.AllocCount = 1,
                              .MinSize = size,
                              .MaxSize = size,
                              .TotalSize = size,
                              .LiveAtExit = 1,
                              .SizedAtExit = 1,
                              .LiveBytes = size}},
               &(hearth_residency){0});
}

static void census_list_contexts(hearth_snapshot *snapshot, const hearth_live_census *live) {
  for (uint32_t context = 0; context < live->context_count; ++context)
    if (live->first[context])
      *hearth_depot_list(snapshot->depot, snapshot->count++) = context;
}

static page_map *open_pages(page_map *pages) {
  static bool told;

  if (!hearth_rt.options.residency)
    return NULL;
  int error = page_map_open(pages);
  if (error && !told)
    hearth_message("/proc/self/pagemap: %s: heap dumps do not say where bytes are", hearth_error_name(error));
  told |= error != 0;
  return error ? NULL : pages;
}

/* Threads are stopped meanwhile. */
static int write_heap_dump(const char *file, bool replace, enum hearth_raw_occasion occasion,
                           hearth_live_stop *ret_at) {
  static page_map map; /* signal stacks are small; the dumping thread has a lock */
  hearth_live_census live;
  uint32_t profiler = profiler_context();
  unsigned missed = hearth_threads_stop();
  *ret_at = hearth_live_note_stop();
  hearth_snapshot snapshot = {.depot = &hearth_rt.depot,
                              .live = &live,
                              .occasion = occasion,
                              .accesses_counted = hearth_rt.accesses == HEARTH_ACCESSES_COUNTED,
                              .start_unix_ns = hearth_rt.start_unix_ns,
                              .duration_ns = hearth_os_now_ns() - hearth_rt.start_ns,
                              .pid = hearth_rt.pid,
                              .sample_bytes = hearth_rt.options.sample,
                              .dropped_blocks = missed + __atomic_load_n(&hearth_rt.dropped_blocks, __ATOMIC_RELAXED),
                              .dropped_stacks = hearth_depot_dropped(&hearth_rt.depot)};
  page_map *pages = open_pages(&map);
  int error = live_census_take(&live, pages) ? 0 : ENOMEM;

  snapshot.has_residency = pages != NULL;
  if (!error) {
    add_own_memory(&live, profiler);
    census_list_contexts(&snapshot, &live);
    error = live.incomplete ? ENOMEM : hearth_profile_file_write_as(&snapshot, file, replace);
  }
  live_census_destroy(&live);
  if (pages)
    page_map_close(pages);
  if (pages && map.knows_writes)
    page_map_watch(); /* up to the next dump */
  hearth_threads_continue();
  return error;
}

static void name_file(hearth_text *text, enum hearth_raw_occasion occasion) {
  hearth_profile_file_name(text);
  if (hearth_profile_file_is_device())
    return;
  if (occasion == HEARTH_RAW_PEAK)
    hearth_text_add(text, ".peak");
  else
    hearth_text_format(text, ".%u", ++dump_count);
}

bool hearth_live_dump(enum hearth_raw_occasion occasion) {
  static char name[HEARTH_OUTPUT_NAME];
  uint64_t begin_ns = hearth_os_now_ns() - hearth_rt.start_ns;
  hearth_text text = hearth_text_begin(name, sizeof name);
  bool again = occasion == HEARTH_RAW_PEAK && peak_name[0];
  hearth_live_stop at = hearth_live_note_stop();

  if (again && at.bytes <= file_bytes) { /* others have freed so much since the dump became due */
    hearth_live_note_peak(begin_ns, at.most_bytes);
    return true;
  }
  if (again)
    hearth_text_add(&text, peak_name);
  else
    name_file(&text, occasion);
  int error = write_heap_dump(name, again, occasion, &at);
  if (occasion == HEARTH_RAW_PEAK)
    hearth_live_note_peak(begin_ns, at.most_bytes);
  if (error) {
    if (hearth_message_is_new(&told_error, error))
      hearth_message("cannot write the heap dump %s: %s", name, hearth_error_name(error));
    return false;
  }
  if (occasion == HEARTH_RAW_PEAK)
    file_bytes = at.bytes;
  if (occasion == HEARTH_RAW_PEAK && !again) {
    text = hearth_text_begin(peak_name, sizeof peak_name);
    hearth_text_add(&text, hearth_profile_file_written());
  }
  if (hearth_rt.options.verbosity > 0 && !again)
    hearth_message("heap dump written to %s", hearth_profile_file_written());
  return true;
}

void hearth_live_begin(void) {
  if (hearth_rt.options.residency && !page_map_watch())
    hearth_message(
        "the kernel does not say which pages are written to (soft-dirty): heap dumps say where bytes are, but not "
        "which of them are no longer written to");
}

void hearth_live_forget_files(void) {
  dump_count = 0;
  told_error = 0;
  peak_name[0] = '\0';
  file_bytes = 0;
  hearth_live_forget_peak();
}
