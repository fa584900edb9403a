/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list of mappings says where files are mapped; the ELF headers in memory say which segments and build id they
 * have. No dl_iterate_phdr: it takes the dynamic loader's lock, which may be held by a thread that waits for us. */
#include "mappings.h"

#include "os.h"
#include "thread_state.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MEMORY_SIZE   ((size_t)64 << 20) /* address space; only the used part becomes memory */
#define LINE_SIZE     ((size_t)8192)     /* of it, to read lines with any path */
#define SEGMENTS_MOST 128u
#define NOTES_MOST    ((size_t)4096)

/* Addresses that no memory has; those of names begin above (scopes.h). */
#define MOVED_FIRST (UINT64_C(1) << 60)
#define MOVED_STEP  (UINT64_C(1) << 32) /* a segment and the next one are that far from each other */
#define IN_NO_FILE  (UINT64_C(1) << 62)

uint32_t hearth_mappings_closings;

/* Rows are only added: they can be read without the lock. */
static struct {
  hearth_lock lock;
  char *memory; /* rows, then room to read lines */
  size_t used;  /* bytes of rows; atomic */
  uint64_t no_room;
  uint64_t next_moved;             /* place for code that is in the place of a closed library; 0: MOVED_FIRST */
  uint32_t fruitless, passed_over; /* see hearth_mappings_cover */
  bool starts;                     /* present mappings stay: dlclose unloads only libraries of dlopen */
} table;

/* The file whose mappings are being read. */
typedef struct module {
  uintptr_t base; /* where its first page is mapped; 0: not seen */
  uint64_t inode;
  bool done;
} module;

static size_t row_size(size_t path_size) { return (sizeof(hearth_mapping) + path_size + 7) & ~(size_t)7; }

static hearth_mapping *next_row(const hearth_mapping *row) {
  char *next = row ? (char *)row + row_size(row->path_size) : table.memory;

  return next < table.memory + __atomic_load_n(&table.used, __ATOMIC_ACQUIRE) ? (hearth_mapping *)next : NULL;
}

/* Is `row` a part of the file that `known` is a part of, in the same place? */
static bool are_of_one_file(const hearth_mapping *known, const hearth_mapping *row, const char *path,
                            size_t path_size) {
  return known->bias == row->bias && known->build_id_size == row->build_id_size &&
         memcmp(known->build_id, row->build_id, row->build_id_size) == 0 && known->path_size == path_size &&
         memcmp(known->path, path, path_size) == 0;
}

static bool is_closed(const hearth_mapping *row) { return __atomic_load_n(&row->closed, __ATOMIC_ACQUIRE); }

/* Is there no need to add `row`? If something else was mapped there and its closing was not seen, neither can be told
 * apart. */
static bool settle_mapping(const hearth_mapping *row, const char *path, size_t path_size, bool *ret_is_behind_closed) {
  bool settled = false;

  *ret_is_behind_closed = false;
  for (hearth_mapping *known = NULL; (known = next_row(known));) {
    if (row->start >= known->end || row->end <= known->start)
      continue;
    bool same = are_of_one_file(known, row, path, path_size);
    if (is_closed(known) && !same) {
      *ret_is_behind_closed = true;
      continue;
    }
    settled = true;
    if (!same) {
      known->ambiguous = true;
      continue;
    }
    known->seen = true;
    if (row->end > known->end)
      known->end = row->end;
    __atomic_store_n(&known->closed, false, __ATOMIC_RELEASE);
  }
  return settled;
}

/* Addresses that no other code has. */
static uint64_t move_mapping(const hearth_mapping *row) {
  uint64_t to = table.next_moved ? table.next_moved : MOVED_FIRST;

  table.next_moved = to + ((row->end - row->start) / MOVED_STEP + 1) * MOVED_STEP;
  return to - row->start;
}

static void add_mapping(const hearth_mapping *row, const char *path, size_t path_size) {
  static const char deleted[] = " (deleted)"; /* the kernel's remark on files that are gone */
  size_t mark = sizeof deleted - 1;
  bool is_behind_closed;

  if (path_size > mark && memcmp(path + path_size - mark, deleted, mark) == 0)
    path_size -= mark;
  if (settle_mapping(row, path, path_size, &is_behind_closed))
    return;
  if (row_size(path_size) > MEMORY_SIZE - LINE_SIZE - table.used) {
    ++table.no_room;
    return;
  }
  hearth_mapping *added = (hearth_mapping *)(table.memory + table.used);
  *added = *row;
  added->moved = is_behind_closed ? move_mapping(row) : 0;
  added->seen = true;
  added->path_size = (uint32_t)path_size;
  memcpy(added->path, path, path_size);
  __atomic_store_n(&table.used, table.used + row_size(path_size), __ATOMIC_RELEASE);
}

/* The build id in the note segment at `address`. */
static void find_build_id(uintptr_t address, const Elf64_Phdr *segment, hearth_mapping *row) {
  static char notes[NOTES_MOST]; /* signal stacks are small; the table is locked */
  size_t size = segment->p_filesz < sizeof notes ? segment->p_filesz : sizeof notes;
  size_t align = segment->p_align == 8 ? 8 : 4;

  if (!hearth_os_peek(address, notes, size))
    return;
  for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr note;
    memcpy(&note, notes + at, sizeof note);
    size_t name = at + sizeof note;
    size_t content = (name + note.n_namesz + align - 1) & ~(align - 1);
    size_t next = (content + note.n_descsz + align - 1) & ~(align - 1);
    if (content + note.n_descsz > size)
      return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" && memcmp(notes + name, "GNU", 4) == 0 &&
        note.n_descsz <= sizeof row->build_id) {
      row->build_id_size = note.n_descsz;
      memcpy(row->build_id, notes + content, note.n_descsz);
      return;
    }
    if (next > size)
      return;
    at = next;
  }
}

static bool read_segment(uintptr_t table, unsigned index, Elf64_Phdr *ret_segment) {
  return hearth_os_peek(table + index * sizeof *ret_segment, ret_segment, sizeof *ret_segment);
}

static bool read_header(uintptr_t base, Elf64_Ehdr *ret_header) {
  return hearth_os_peek(base, ret_header, sizeof *ret_header) && memcmp(ret_header->e_ident, ELFMAG, SELFMAG) == 0 &&
         ret_header->e_ident[EI_CLASS] == ELFCLASS64 && ret_header->e_phentsize == sizeof(Elf64_Phdr) &&
         ret_header->e_phnum <= SEGMENTS_MOST;
}

/* The end of the module whose ELF header is at `base`, the first byte of its first segment; 0: there is none. */
static uintptr_t find_end(uintptr_t base) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  uintptr_t first = 0, end = 0;

  if (!base || !read_header(base, &header))
    return 0;
  for (unsigned i = 0; i < header.e_phnum; ++i)
    if (read_segment(base + header.e_phoff, i, &segment) && segment.p_type == PT_LOAD) {
      if (end == 0)
        first = segment.p_vaddr - segment.p_offset;
      end = base - first + segment.p_vaddr + segment.p_memsz;
    }
  return end;
}

/* `row` is of a module that stays: in which segment is its .eh_frame_hdr? Linkers put .eh_frame there, too. */
static void find_frame_segment(uintptr_t segments, unsigned count, hearth_mapping *row) {
  Elf64_Phdr segment;

  for (unsigned i = 0; i < count; ++i)
    if (read_segment(segments, i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_R &&
        row->frame_header - row->bias - segment.p_vaddr < segment.p_filesz) {
      row->frame_low = row->bias + segment.p_vaddr;
      row->frame_high = row->frame_low + segment.p_filesz;
    }
}

/* Add the executable segments of the module whose ELF header is at `base`. Returns how many it has. */
static unsigned add_module(uintptr_t base, const char *path, size_t path_size) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  hearth_mapping row = {0};
  bool has_bias = false;
  unsigned added = 0;

  if (!read_header(base, &header))
    return 0;
  uintptr_t segments = base + header.e_phoff;
  for (unsigned i = 0; i < header.e_phnum && !has_bias; ++i)
    if (read_segment(segments, i, &segment) && segment.p_type == PT_LOAD) {
      row.bias = base - (segment.p_vaddr - segment.p_offset); /* the first one holds the ELF header */
      has_bias = true;
    }
  for (unsigned i = 0; i < header.e_phnum && row.build_id_size == 0; ++i)
    if (read_segment(segments, i, &segment) && segment.p_type == PT_NOTE)
      find_build_id(row.bias + segment.p_vaddr, &segment, &row);
  for (unsigned i = 0; i < header.e_phnum && row.frame_header == 0; ++i)
    if (read_segment(segments, i, &segment) && segment.p_type == PT_GNU_EH_FRAME)
      row.frame_header = row.bias + segment.p_vaddr;
  if (table.starts && row.frame_header)
    find_frame_segment(segments, header.e_phnum, &row);
  for (unsigned i = 0; i < header.e_phnum; ++i)
    if (read_segment(segments, i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
      row.start = row.bias + segment.p_vaddr;
      row.end = row.start + segment.p_memsz;
      row.file_offset = segment.p_offset;
      add_mapping(&row, path, path_size);
      ++added;
    }
  return added;
}

static void add_mapping_of_entry(module *current, const hearth_maps_entry *entry) {
  if (entry->path_size == 0 || entry->path[0] != '/')
    return; /* no file: code made at run time, the kernel's own pages */
  /* Several segments of a small file may lie in its first page. */
  bool is_segment = current->inode == entry->inode && entry->start < find_end(current->base);
  if (entry->file_offset == 0 && !is_segment)
    *current = (module){.base = entry->start, .inode = entry->inode};
  if (!entry->executable)
    return;
  bool is_current = current->base && current->inode == entry->inode;
  if (is_current && current->done)
    return; /* a segment of a module that was added as a whole */
  if (is_current && add_module(current->base, entry->path, entry->path_size) > 0) {
    current->done = true;
    return;
  }
  hearth_mapping row = {.start = entry->start,
                        .end = entry->end,
                        .file_offset = entry->file_offset,
                        .bias = entry->start - entry->file_offset};
  add_mapping(&row, entry->path, entry->path_size);
}

static int mapping_read_mappings(void) {
  hearth_maps maps;
  hearth_maps_entry entry;
  module current = {0};

  if (!hearth_maps_open(&maps, table.memory + MEMORY_SIZE - LINE_SIZE, LINE_SIZE))
    return ENOENT;
  while (hearth_maps_next(&maps, &entry))
    add_mapping_of_entry(&current, &entry);
  hearth_maps_close(&maps);
  return 0;
}

int hearth_mappings_update(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_mappings_lock();
  int error = mapping_read_mappings();
  hearth_mappings_unlock();
  hearth_os_restore_signals(signals);
  return error;
}

/* Rows that are not in the list. A list that was not read to its end, or has a row that is not there any more, leaves
 * no error: if one of them is there after all, it is found again (hearth_mappings_tell_apart). */
static unsigned close_unseen(void) {
  unsigned closed = 0;

  for (hearth_mapping *row = NULL; (row = next_row(row));)
    row->seen = false;
  if (mapping_read_mappings() != 0)
    return 0;
  for (hearth_mapping *row = NULL; (row = next_row(row));)
    if (!row->seen && !is_closed(row)) {
      __atomic_store_n(&row->closed, true, __ATOMIC_RELEASE);
      ++closed;
    }
  return closed;
}

bool hearth_mappings_close(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_mappings_lock();
  bool closes = close_unseen() > 0;
  if (closes)
    __atomic_fetch_add(&hearth_mappings_closings, 1, __ATOMIC_RELEASE);
  hearth_mappings_unlock();
  hearth_os_restore_signals(signals);
  return closes;
}

/* If the list cannot be read now, the writer of the profile tries again, and reports the error. */
bool hearth_mappings_create(void) {
  table.memory = hearth_system_map(MEMORY_SIZE);
  if (!table.memory)
    return false;
  table.starts = true;
  hearth_mappings_update();
  table.starts = false;
  return true;
}

const hearth_mapping *hearth_mappings_find(uint64_t pc) {
  for (const hearth_mapping *row = NULL; (row = next_row(row));)
    if (pc >= row->start && pc < row->end && !is_closed(row))
      return row;
  return NULL;
}

static bool was_closed(uint64_t pc) {
  for (const hearth_mapping *row = NULL; (row = next_row(row));)
    if (pc >= row->start && pc < row->end)
      return is_closed(row);
  return false;
}

static uint64_t tell_apart(uint64_t pc, bool may_wait) {
  const hearth_mapping *row = hearth_mappings_find(pc);

  if (row || !was_closed(pc))
    return row ? pc + row->moved : pc;
  if (may_wait && !hearth_reentry_is_nested()) {
    hearth_mappings_update();
    row = hearth_mappings_find(pc);
  }
  return row ? pc + row->moved : pc | IN_NO_FILE;
}

void hearth_mappings_tell_apart(uint64_t *pcs, size_t count, bool may_wait) {
  if (__builtin_expect(__atomic_load_n(&hearth_mappings_closings, __ATOMIC_ACQUIRE) == 0, true))
    return;
  for (size_t i = 0; i < count; i++)
    pcs[i] = tell_apart(pcs[i], may_wait);
}

/* In code that keeps no frame pointer, such as the dynamic loader's, unwinding may take another word for an address. */
static bool is_mapped(uint64_t pc) {
  char byte;

  return hearth_os_peek((uintptr_t)pc, &byte, 1);
}

/* Code made at run time is in no file, and its stacks keep coming: each time that reading the mappings brings nothing
 * new, an eighth more stacks, and one, are passed over before anything is asked of the system again. */
void hearth_mappings_cover(const uint64_t *pcs, size_t count) {
  size_t i = 0;

  while (i < count && hearth_mappings_find(pcs[i]))
    ++i;
  if (i == count || __atomic_fetch_add(&table.passed_over, 1, __ATOMIC_RELAXED) < table.fruitless)
    return;
  while (i < count && (hearth_mappings_find(pcs[i]) || !is_mapped(pcs[i])))
    ++i;
  if (i == count)
    return;
  size_t before = __atomic_load_n(&table.used, __ATOMIC_RELAXED);
  hearth_mappings_update();
  table.passed_over = 0;
  table.fruitless = table.used == before ? table.fruitless + table.fruitless / 8 + 1 : 0;
}

const hearth_mapping *hearth_mappings_next(const hearth_mapping *row) {
  do
    row = next_row(row);
  while (row && row->ambiguous);
  return row;
}

uint64_t hearth_mappings_count(void) {
  uint64_t count = 0;

  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));)
    ++count;
  return count;
}

hearth_mappings_losses hearth_mappings_lost(void) {
  hearth_mappings_losses lost = {.no_room = table.no_room};

  for (const hearth_mapping *row = NULL; (row = next_row(row));) {
    if (!row->ambiguous)
      continue;
    ++lost.ambiguous;
    lost.bytes += row->end - row->start;
    if (!lost.largest || row->end - row->start > lost.largest->end - lost.largest->start)
      lost.largest = row;
  }
  return lost;
}

void hearth_mappings_lock(void) { hearth_lock_take_or_keep(&table.lock); }

void hearth_mappings_unlock(void) { hearth_lock_give_or_keep(&table.lock); }
