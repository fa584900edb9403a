/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libelf finds sections and segments; contents are read where they are mapped. Packed sections are unpacked to
 * memory of the file's own and found before the mapped ones. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "array.h"
#include "object_file.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI; glibc of 2022 does not name it */
#endif

/* The sections of debug information that are read; where it is split, each name has ".dwo" appended. */
static const char *const needed[] = {
    ".debug_info",        ".debug_abbrev", ".debug_str",    ".debug_line_str", ".debug_line",
    ".debug_str_offsets", ".debug_addr",   ".debug_ranges", ".debug_rnglists",
};
#define NEEDED_COUNT (sizeof needed / sizeof *needed)

typedef struct unpacked_section {
  const char *name; /* borrowed from the file */
  uint8_t *content;
  size_t size;
} unpacked_section;

struct hearth_elf_file {
  char *path;
  Elf *elf;
  unpacked_section unpacked[2 * NEEDED_COUNT];
  size_t unpacked_count;
  hearth_elf_segment *segments; /* NULL: not read yet */
  size_t segment_count;
};

/* The descriptor is closed as soon as the file is in memory: there may be thousands of files of split units. */
static hearth_status map_file(hearth_elf_file *f, hearth_error *err) {
  struct stat info;
  int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &info) != 0) {
    hearth_error_set(err, HEARTH_E_IO, "%s: cannot be opened: %s", f->path, strerror(errno));
    if (fd >= 0)
      close(fd);
    return HEARTH_E_IO;
  }
  elf_version(EV_CURRENT);
  if (S_ISREG(info.st_mode) && (f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL)) && elf_cntl(f->elf, ELF_C_FDREAD) != 0) {
    elf_end(f->elf);
    f->elf = NULL;
  }
  close(fd);
  return S_ISREG(info.st_mode) ? HEARTH_OK : hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a regular file", f->path);
}

static hearth_status elf_file_open_file(hearth_elf_file *f, hearth_error *err) {
  GElf_Ehdr header;
  HEARTH_TRY(map_file(f, err));
  if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &header))
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not an ELF executable or shared library", f->path);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a 64-bit little-endian ELF file", f->path);
  return HEARTH_OK;
}

hearth_status hearth_elf_file_open(const char *path, hearth_elf_file **ret, hearth_error *err) {
  *ret = NULL;
  hearth_elf_file *f = calloc(1, sizeof *f);
  HEARTH_TRY(hearth_check_memory(f, err));
  f->path = strdup(path);
  hearth_status status = f->path ? elf_file_open_file(f, err) : hearth_error_nomem(err);
  if (status != HEARTH_OK) {
    hearth_elf_file_close(f);
    return status;
  }
  *ret = f;
  return HEARTH_OK;
}

void hearth_elf_file_close(hearth_elf_file *f) {
  if (!f)
    return;
  if (f->elf)
    elf_end(f->elf);
  for (size_t i = 0; i < f->unpacked_count; ++i)
    free(f->unpacked[i].content);
  HEARTH_FREE(f->segments, f->path, f);
}

const char *hearth_elf_file_path(const hearth_elf_file *f) { return f->path; }

Elf *hearth_elf_file_elf(hearth_elf_file *f) { return f->elf; }

/* --- Sections ----------------------------------------------------------------------------------------------------- */

/* The next section with content and a name; NULL at the end. */
static Elf_Scn *next_section(Elf *elf, Elf_Scn *section, GElf_Shdr *ret_header, const char **ret_name) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return NULL;
  while ((section = elf_nextscn(elf, section)))
    if (gelf_getshdr(section, ret_header) && ret_header->sh_type != SHT_NOBITS && ret_header->sh_size > 0 &&
        (*ret_name = elf_strptr(elf, names, ret_header->sh_name)))
      return section;
  return NULL;
}

static hearth_bytes content(Elf_Scn *section) {
  const Elf_Data *data = elf_rawdata(section, NULL);
  return data && data->d_buf ? (hearth_bytes){data->d_buf, data->d_size} : (hearth_bytes){0};
}

static Elf_Scn *find_section(Elf *elf, const char *name) {
  GElf_Shdr header;
  const char *its_name;
  Elf_Scn *section = NULL;
  while ((section = next_section(elf, section, &header, &its_name)))
    if (strcmp(its_name, name) == 0)
      return section;
  return NULL;
}

bool hearth_elf_file_has(hearth_elf_file *f, const char *name) { return find_section(f->elf, name) != NULL; }

hearth_bytes hearth_elf_file_section(hearth_elf_file *f, const char *name) {
  for (size_t i = 0; i < f->unpacked_count; ++i)
    if (strcmp(f->unpacked[i].name, name) == 0)
      return (hearth_bytes){f->unpacked[i].content, f->unpacked[i].size};
  return hearth_elf_section(f->elf, name);
}

hearth_bytes hearth_elf_section(Elf *elf, const char *name) {
  Elf_Scn *section = find_section(elf, name);
  return section ? content(section) : (hearth_bytes){0};
}

/* --- Segments ----------------------------------------------------------------------------------------------------- */

bool hearth_elf_file_is_linked(hearth_elf_file *f) { return hearth_elf_is_linked(f->elf); }

bool hearth_elf_is_linked(Elf *elf) {
  GElf_Ehdr header;
  return gelf_getehdr(elf, &header) && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

static hearth_status elf_file_read_segments(hearth_elf_file *f, hearth_error *err) {
  size_t count = 0;
  GElf_Phdr header;
  if (elf_getphdrnum(f->elf, &count) != 0)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: its program headers cannot be read: %s", f->path,
                            elf_errmsg(-1));
  f->segments = calloc(count + 1, sizeof *f->segments);
  HEARTH_TRY(hearth_check_memory(f->segments, err));
  for (size_t i = 0; i < count; ++i)
    if (gelf_getphdr(f->elf, (int)i, &header) && header.p_type == PT_LOAD && header.p_flags & PF_X)
      f->segments[f->segment_count++] =
          (hearth_elf_segment){header.p_offset, header.p_filesz, header.p_vaddr, header.p_memsz};
  return HEARTH_OK;
}

hearth_status hearth_elf_file_segments(hearth_elf_file *f, const hearth_elf_segment **ret, size_t *ret_count,
                                       hearth_error *err) {
  if (!f->segments)
    HEARTH_TRY(elf_file_read_segments(f, err));
  *ret = f->segments;
  *ret_count = f->segment_count;
  return HEARTH_OK;
}

/* --- Build id ----------------------------------------------------------------------------------------------------- */

/* Notes are name size 4 | description size 4 | type 4 | name | description, both padded. No bytes: there is none. */
static hearth_bytes elf_file_find_build_id(hearth_bytes notes, uint64_t alignment) {
  uint64_t at = 0, name_size, size, type;
  hearth_bytes name, id;
  uint64_t padding = alignment == 8 ? 7 : 3;
  while (hearth_bytes_number(notes, &at, 4, &name_size) && hearth_bytes_number(notes, &at, 4, &size) &&
         hearth_bytes_number(notes, &at, 4, &type) && hearth_bytes_slice(notes, at, name_size, &name)) {
    at = (at + name_size + padding) & ~padding;
    if (!hearth_bytes_slice(notes, at, size, &id))
      break;
    if (type == NT_GNU_BUILD_ID && name_size == sizeof "GNU" && memcmp(name.data, "GNU", sizeof "GNU") == 0)
      return id;
    at = (at + size + padding) & ~padding;
  }
  return (hearth_bytes){0};
}

/* For files without section headers: their debug information may be in another file, which the build id finds. */
static hearth_bytes build_id_of_segments(Elf *elf) {
  size_t count = 0;
  GElf_Phdr header;
  hearth_bytes id = {0};
  if (elf_getphdrnum(elf, &count) != 0)
    return id;
  for (size_t i = 0; id.size == 0 && i < count; ++i) {
    if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
      continue;
    const Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
    if (data && data->d_buf)
      id = elf_file_find_build_id((hearth_bytes){data->d_buf, data->d_size}, header.p_align);
  }
  return id;
}

hearth_bytes hearth_elf_file_build_id(hearth_elf_file *f) {
  GElf_Shdr header;
  const char *name;
  Elf_Scn *section = NULL;
  hearth_bytes id = {0};
  while (id.size == 0 && (section = next_section(f->elf, section, &header, &name)))
    if (header.sh_type == SHT_NOTE)
      id = elf_file_find_build_id(content(section), header.sh_addralign);
  return id.size > 0 ? id : build_id_of_segments(f->elf);
}

char *hearth_build_id_path(const char *directory, hearth_bytes id, const char *suffix) {
  static const char folder[] = "/.build-id/";
  size_t size = strlen(directory) + sizeof folder + 2 * id.size + 1 + strlen(suffix);
  char *path = malloc(size);
  size_t at = path ? (size_t)snprintf(path, size, "%s%s", directory, folder) : 0;
  for (size_t i = 0; path && i < id.size; ++i)
    at += (size_t)snprintf(path + at, size - at, i == 1 ? "/%02x" : "%02x", id.data[i]);
  if (path)
    snprintf(path + at, size - at, "%s", suffix);
  return path;
}

/* --- Unpack ------------------------------------------------------------------------------------------------------- */

static bool is_needed(const char *name) {
  for (size_t i = 0; i < NEEDED_COUNT; ++i) {
    size_t length = strlen(needed[i]);
    if (strncmp(name, needed[i], length) == 0 && (name[length] == '\0' || strcmp(name + length, ".dwo") == 0))
      return true;
  }
  return false;
}

static hearth_status elf_file_damaged(const hearth_elf_file *f, const char *section, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: compressed section %s is damaged (link again, or with -gz=none)", f->path, section);
}

static hearth_status unknown_method(const hearth_elf_file *f, const char *section, uint32_t method, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: section %s is compressed by method %u, which is not known (link with -gz=zlib or "
                          "-gz=none)",
                          f->path, section, (unsigned)method);
}

/* The size that a section claims is believed only if its method can pack that much. The most that a byte can become:
 * a block of zstd is 128 KiB at most, in 4 bytes at least; zlib's limit is 1032. */
static bool is_believable(const Elf64_Chdr *header, size_t packed_size) {
  return header->ch_size / (header->ch_type == ELFCOMPRESS_ZSTD ? 32768 : 1032) <= packed_size;
}

static bool decompress(const Elf64_Chdr *header, hearth_bytes packed, uint8_t *to) {
  uLongf size = header->ch_size;
  if (header->ch_type == ELFCOMPRESS_ZSTD)
    return ZSTD_decompress(to, size, packed.data, packed.size) == size;
  return uncompress(to, &size, packed.data, packed.size) == Z_OK && size == header->ch_size;
}

/* A section with SHF_COMPRESSED, as in the gABI. */
static hearth_status elf_file_unpack(hearth_elf_file *f, const char *name, hearth_bytes content, hearth_error *err) {
  Elf64_Chdr header;
  hearth_bytes packed;
  if (!hearth_bytes_slice(content, sizeof header, content.size - sizeof header, &packed))
    return elf_file_damaged(f, name, err);
  memcpy(&header, content.data, sizeof header);
  if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != ELFCOMPRESS_ZSTD)
    return unknown_method(f, name, header.ch_type, err);
  if (!is_believable(&header, packed.size))
    return elf_file_damaged(f, name, err);
  uint8_t *plain = malloc(header.ch_size + 1);
  if (!plain)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory while unpacking its debug information", f->path);
  if (!decompress(&header, packed, plain)) {
    free(plain);
    return elf_file_damaged(f, name, err);
  }
  f->unpacked[f->unpacked_count++] = (unpacked_section){name, plain, header.ch_size};
  return HEARTH_OK;
}

hearth_status hearth_elf_file_unpack(hearth_elf_file *f, hearth_error *err) {
  GElf_Shdr header;
  const char *name;
  Elf_Scn *section = NULL;
  while (f->unpacked_count < 2 * NEEDED_COUNT && (section = next_section(f->elf, section, &header, &name))) {
    if (header.sh_flags & SHF_COMPRESSED && is_needed(name))
      HEARTH_TRY(elf_file_unpack(f, name, content(section), err));
  }
  return HEARTH_OK;
}

/* ------------------------------------------------ debug server ------------------------------------------------ */

/* libdebuginfod brings thirty libraries with it, which no command should load for nothing: it is opened when a file is
 * asked for. */

#define LIBRARY "libdebuginfod.so.1"

/* From its <elfutils/debuginfod.h>. */
typedef struct debuginfod_client client;
typedef client *begin_function(void);
typedef int find_function(client *, const unsigned char *id, int id_size, char **ret_path);
typedef void end_function(client *);

typedef struct functions {
  begin_function *begin;
  find_function *find;
  end_function *end;
} functions;

/* The library stays open: curl and what it uses do not like to be unloaded. */
static bool open_library(hearth_served kind, functions *ret) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return false;
  *ret = (functions){
      (begin_function *)dlsym(library, "debuginfod_begin"),
      (find_function *)dlsym(library,
                             kind == HEARTH_SERVED_BINARY ? "debuginfod_find_executable" : "debuginfod_find_debuginfo"),
      (end_function *)dlsym(library, "debuginfod_end"),
  };
  return ret->begin && ret->find && ret->end;
}

hearth_status hearth_debug_server_ask(hearth_bytes id, hearth_served kind, char **ret_path, hearth_error *err) {
  const char *servers = getenv("DEBUGINFOD_URLS");
  functions library;

  *ret_path = NULL;
  if (!servers || !servers[strspn(servers, " ")] || id.size == 0 || id.size > 64)
    return HEARTH_OK;
  if (!open_library(kind, &library))
    return hearth_error_set(err, HEARTH_E_IO,
                            "DEBUGINFOD_URLS is set, but %s cannot be loaded (install it, or unset the variable)",
                            LIBRARY);
  client *asking = library.begin();
  HEARTH_TRY(hearth_check_memory(asking, err));
  int file = library.find(asking, id.data, (int)id.size, ret_path);
  library.end(asking);
  if (file >= 0)
    close(file);
  if (file >= 0 || file == -ENOENT)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_IO, "the servers of DEBUGINFOD_URLS (%.200s) failed: %s", servers,
                          strerror(-file));
}
