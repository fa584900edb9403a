/* The list of mappings says where files are mapped; the ELF headers in memory say which segments and build id they
 * have. No dl_iterate_phdr: it takes the dynamic loader's lock, which may be held by a thread that waits for us. */
#include "mappings.h"

#include "os.h"
#include "proc_maps.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define MEMORY_SIZE   ((size_t)64 << 20) /* address space; only what is used becomes memory */
#define LINE_SIZE     ((size_t)8192)     /* of it, to read lines with any path */
#define SEGMENTS_MOST 128u
#define NOTES_MOST    ((size_t)4096)

/* The file whose mappings are being read. */
typedef struct module {
  uintptr_t base; /* where its first page is mapped; 0: not seen */
  uint64_t inode;
  bool done;
} module;

static size_t row_size(size_t path_size) { return (sizeof(hearth_mapping) + path_size + 7) & ~(size_t)7; }

static void add(hearth_mappings *mappings, const hearth_mapping *row, const char *path, size_t path_size) {
  static const char deleted[] = " (deleted)"; /* the kernel's remark on files that are gone */
  size_t mark = sizeof deleted - 1;

  if (path_size > mark && memcmp(path + path_size - mark, deleted, mark) == 0)
    path_size -= mark;
  if (row_size(path_size) > mappings->size - mappings->used) {
    ++mappings->lost;
    return;
  }
  hearth_mapping *added = (hearth_mapping *)(mappings->memory + mappings->used);
  *added = *row;
  added->path_size = (uint32_t)path_size;
  memcpy(added->path, path, path_size);
  mappings->used += row_size(path_size);
  ++mappings->count;
}

/* The build id in the note segment at `address`. */
static void find_build_id(uintptr_t address, const Elf64_Phdr *segment, hearth_mapping *row) {
  char notes[NOTES_MOST];
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

/* Add the executable segments of the module whose ELF header is at `base`. Returns how many it has. */
static unsigned add_module(hearth_mappings *mappings, uintptr_t base, const char *path, size_t path_size) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  hearth_mapping row = {0};
  bool has_bias = false;
  unsigned added = 0;

  if (!hearth_os_peek(base, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof segment || header.e_phnum > SEGMENTS_MOST)
    return 0;
  uintptr_t table = base + header.e_phoff;
  for (unsigned i = 0; i < header.e_phnum && !has_bias; ++i)
    if (read_segment(table, i, &segment) && segment.p_type == PT_LOAD) {
      row.bias = base - (segment.p_vaddr - segment.p_offset); /* the first one holds the ELF header */
      has_bias = true;
    }
  for (unsigned i = 0; i < header.e_phnum && row.build_id_size == 0; ++i)
    if (read_segment(table, i, &segment) && segment.p_type == PT_NOTE)
      find_build_id(row.bias + segment.p_vaddr, &segment, &row);
  for (unsigned i = 0; i < header.e_phnum; ++i)
    if (read_segment(table, i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X) {
      row.start = row.bias + segment.p_vaddr;
      row.end = row.start + segment.p_memsz;
      row.file_offset = segment.p_offset;
      add(mappings, &row, path, path_size);
      ++added;
    }
  return added;
}

static void add_entry(hearth_mappings *mappings, module *current, const hearth_maps_entry *entry) {
  if (entry->path_size == 0 || entry->path[0] != '/')
    return; /* no file: code made at run time, the kernel's own pages */
  if (entry->file_offset == 0)
    *current = (module){.base = entry->start, .inode = entry->inode};
  if (!entry->executable)
    return;
  bool is_current = current->base && current->inode == entry->inode;
  if (is_current && current->done)
    return; /* a segment of a module that was added as a whole */
  if (is_current && add_module(mappings, current->base, entry->path, entry->path_size) > 0) {
    current->done = true;
    return;
  }
  hearth_mapping row = {.start = entry->start,
                        .end = entry->end,
                        .file_offset = entry->file_offset,
                        .bias = entry->start - entry->file_offset};
  add(mappings, &row, entry->path, entry->path_size);
}

int hearth_mappings_read(hearth_mappings *mappings) {
  hearth_maps maps;
  hearth_maps_entry entry;
  module current = {0};

  *mappings = (hearth_mappings){.memory = hearth_os_map(MEMORY_SIZE)};
  if (!mappings->memory)
    return ENOMEM;
  mappings->size = MEMORY_SIZE - LINE_SIZE;
  if (!hearth_maps_open(&maps, mappings->memory + mappings->size, LINE_SIZE)) {
    hearth_mappings_destroy(mappings);
    return ENOENT;
  }
  while (hearth_maps_next(&maps, &entry))
    add_entry(mappings, &current, &entry);
  hearth_maps_close(&maps);
  return 0;
}

void hearth_mappings_destroy(hearth_mappings *mappings) {
  if (mappings->memory)
    hearth_os_unmap(mappings->memory, MEMORY_SIZE);
  mappings->memory = NULL;
}

const hearth_mapping *hearth_mappings_next(const hearth_mappings *mappings, const hearth_mapping *row) {
  const char *next = row ? (const char *)row + row_size(row->path_size) : mappings->memory;

  return next < mappings->memory + mappings->used ? (const hearth_mapping *)next : NULL;
}
