#include "symbolise/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbolise/compression.h"
#include "symbolise/elf_image.h"

struct hearth_elf_file {
  char *path;
  int fd;
  Elf *elf;
  hearth_elf_image image; /* that `elf` reads, once unpacked */
};

static hearth_status open_file(hearth_elf_file *f, hearth_error *err) {
  struct stat info;
  f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (f->fd < 0 || fstat(f->fd, &info) != 0)
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot be opened: %s", f->path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a regular file (--binary takes the profiled program)",
                            f->path);
  elf_version(EV_CURRENT);
  f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
  GElf_Ehdr header;
  if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &header))
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: not an ELF executable or shared library (--binary takes the profiled program)",
                            f->path);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: not a 64-bit little-endian ELF file (--binary takes the profiled program)", f->path);
  return HEARTH_OK;
}

hearth_status hearth_elf_file_open(const char *path, hearth_elf_file **ret, hearth_error *err) {
  *ret = NULL;
  hearth_elf_file *f = calloc(1, sizeof *f);
  if (!f)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
  f->fd = -1;
  f->path = strdup(path);
  hearth_status status = f->path ? open_file(f, err) : hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
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
  if (f->fd >= 0)
    close(f->fd);
  free(f->image.data);
  free(f->path);
  free(f);
}

const char *hearth_elf_file_path(const hearth_elf_file *f) { return f->path; }

Elf *hearth_elf_file_elf(hearth_elf_file *f) { return f->elf; }

hearth_bytes hearth_elf_file_build_id(hearth_elf_file *f) {
  const void *id = NULL;
  ssize_t size = dwelf_elf_gnu_build_id(f->elf, &id);
  return size > 0 ? (hearth_bytes){id, (size_t)size} : (hearth_bytes){0};
}

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

hearth_bytes hearth_elf_section(Elf *elf, const char *name) {
  Elf_Scn *section = find_section(elf, name);
  return section ? content(section) : (hearth_bytes){0};
}

hearth_bytes hearth_elf_file_section(hearth_elf_file *f, const char *name) { return hearth_elf_section(f->elf, name); }

/* --- Unpack ------------------------------------------------------------------------------------------------------- */

/* What symbolising reads; of split debug information, each name has ".dwo" appended. In GNU's older form of compression
 * ".debug" becomes ".zdebug". */
static const char *const needed[] = {
    ".debug_info",        ".debug_types", ".debug_abbrev", ".debug_str",        ".debug_line_str",
    ".debug_str_offsets", ".debug_addr",  ".debug_ranges", ".debug_line",       ".debug_rnglists",
    ".debug_cu_index",    ".symtab",      ".strtab",       ".gnu_debugaltlink",
};
#define NEEDED_COUNT (sizeof needed / sizeof *needed)

typedef struct packed_file {
  hearth_packed_section packed[2 * NEEDED_COUNT];
  hearth_image_section plain[2 * NEEDED_COUNT];
  char names[2 * NEEDED_COUNT][32];
  size_t count;
  bool any_packed;
} packed_file;

static bool is_needed(const char *name) {
  for (size_t i = 0; i < NEEDED_COUNT; ++i) {
    size_t length = strlen(needed[i]);
    if (strncmp(name, needed[i], length) == 0 && (name[length] == '\0' || strcmp(name + length, ".dwo") == 0))
      return true;
  }
  return false;
}

/* The name that the section has when it is plain, in `buffer`; false: it is not needed. */
static bool plain_name(const char *name, char buffer[32]) {
  bool gnu = strncmp(name, ".zdebug_", 8) == 0;
  if (strlen(name) >= 32)
    return false;
  strcpy(buffer, gnu ? name + 1 : name);
  buffer[0] = '.';
  return is_needed(buffer);
}

static hearth_status damaged(const hearth_elf_file *f, const char *section, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: compressed section %s is damaged (link again, or with -gz=none)", f->path, section);
}

static hearth_status unknown_method(const hearth_elf_file *f, const char *section, uint32_t method, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                          "%s: section %s is compressed by method %u, which is not known (link with -gz=zlib or "
                          "-gz=none)",
                          f->path, section, (unsigned)method);
}

static hearth_status list_sections(hearth_elf_file *f, packed_file *list, hearth_error *err) {
  GElf_Shdr header;
  const char *name;
  Elf_Scn *section = NULL;
  while ((section = next_section(f->elf, section, &header, &name))) {
    uint32_t method;
    size_t i = list->count;
    if (i == 2 * NEEDED_COUNT || !plain_name(name, list->names[i]))
      continue;
    if (!hearth_compression_detect(&header, name, content(section), &list->packed[i], &method))
      return method > 0 ? unknown_method(f, name, method, err) : damaged(f, name, err);
    list->plain[i] = (hearth_image_section){list->names[i], list->packed[i].plain_size, NULL};
    list->any_packed |= list->packed[i].method != HEARTH_PLAIN;
    ++list->count;
  }
  return HEARTH_OK;
}

hearth_status hearth_elf_file_unpack(hearth_elf_file *f, hearth_error *err) {
  packed_file list = {0};
  hearth_elf_image image;
  HEARTH_TRY(list_sections(f, &list, err));
  if (!list.any_packed)
    return HEARTH_OK;
  if (!hearth_elf_image_create(list.plain, list.count, &image))
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory while unpacking its debug information", f->path);
  Elf *elf = elf_memory((char *)image.data, image.size);
  for (size_t i = 0; elf && i < list.count; ++i)
    if (!hearth_compression_unpack(&list.packed[i], list.plain[i].content)) {
      elf_end(elf);
      free(image.data);
      return damaged(f, list.names[i], err);
    }
  if (!elf) {
    free(image.data);
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory while unpacking its debug information", f->path);
  }
  elf_end(f->elf);
  free(f->image.data);
  f->elf = elf;
  f->image = image;
  return HEARTH_OK;
}
