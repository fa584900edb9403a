#include "symbolise/binary.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hearth/raw.h"

/* A loadable segment with code. */
typedef struct segment {
  uint64_t offset, file_size, address, memory_size;
} segment;

struct hearth_binary {
  char *path;
  int fd;
  Elf *elf;
  segment *segments;
  size_t segment_count;
  uint32_t build_id_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  hearth_scopes *scopes;
};

static hearth_status open_file(hearth_binary *b, hearth_error *err) {
  struct stat info;
  b->fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (b->fd < 0 || fstat(b->fd, &info) != 0)
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot be opened: %s", b->path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a regular file (--binary takes the profiled program)",
                            b->path);
  elf_version(EV_CURRENT);
  b->elf = elf_begin(b->fd, ELF_C_READ_MMAP, NULL);
  GElf_Ehdr header;
  if (!b->elf || elf_kind(b->elf) != ELF_K_ELF || !gelf_getehdr(b->elf, &header))
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: not an ELF executable or shared library (--binary takes the profiled program)",
                            b->path);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      (header.e_type != ET_EXEC && header.e_type != ET_DYN))
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: not a linked 64-bit little-endian ELF file (--binary takes the profiled program)",
                            b->path);
  return HEARTH_OK;
}

static hearth_status read_segments(hearth_binary *b, hearth_error *err) {
  size_t count = 0;
  if (elf_getphdrnum(b->elf, &count) != 0)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: its program headers cannot be read: %s", b->path,
                            elf_errmsg(-1));
  b->segments = calloc(count + 1, sizeof *b->segments);
  if (!b->segments)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", b->path);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(b->elf, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
      continue;
    b->segments[b->segment_count++] = (segment){header.p_offset, header.p_filesz, header.p_vaddr, header.p_memsz};
  }
  return HEARTH_OK;
}

static hearth_status read_build_id(hearth_binary *b, hearth_error *err) {
  const void *id = NULL;
  ssize_t size = dwelf_elf_gnu_build_id(b->elf, &id);
  if (size <= 0 || size > HEARTH_RAW_BUILD_ID_MAX)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID,
                            "%s: no build id, so it cannot be matched with profiles (link with -Wl,--build-id)",
                            b->path);
  memcpy(b->build_id, id, (size_t)size);
  b->build_id_size = (uint32_t)size;
  return HEARTH_OK;
}

hearth_status hearth_binary_open(const char *path, hearth_binary **ret, hearth_error *err) {
  *ret = NULL;
  hearth_binary *b = calloc(1, sizeof *b);
  if (!b)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
  b->fd = -1;
  b->path = strdup(path);
  hearth_status status = b->path ? open_file(b, err) : hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
  if (status == HEARTH_OK)
    status = read_segments(b, err);
  if (status == HEARTH_OK)
    status = read_build_id(b, err);
  if (status != HEARTH_OK) {
    hearth_binary_close(b);
    return status;
  }
  *ret = b;
  return HEARTH_OK;
}

void hearth_binary_close(hearth_binary *b) {
  if (!b)
    return;
  hearth_scopes_destroy(b->scopes);
  if (b->elf)
    elf_end(b->elf);
  if (b->fd >= 0)
    close(b->fd);
  free(b->segments);
  free(b->path);
  free(b);
}

const char *hearth_binary_path(const hearth_binary *b) { return b->path; }

const uint8_t *hearth_binary_build_id(const hearth_binary *b, uint32_t *ret_size) {
  *ret_size = b->build_id_size;
  return b->build_id;
}

bool hearth_binary_address(const hearth_binary *b, uint64_t file_offset, uint64_t *ret_address) {
  for (size_t i = 0; i < b->segment_count; ++i) {
    const segment *s = &b->segments[i];
    if (file_offset < s->offset || file_offset - s->offset >= s->file_size)
      continue;
    *ret_address = file_offset - s->offset + s->address;
    return true;
  }
  return false;
}

hearth_status hearth_binary_load(hearth_binary *b, hearth_error *err) {
  if (b->scopes)
    return HEARTH_OK;
  hearth_code_range *code = calloc(b->segment_count + 1, sizeof *code);
  if (!code)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", b->path);
  for (size_t i = 0; i < b->segment_count; ++i)
    code[i] = (hearth_code_range){b->segments[i].address, b->segments[i].address + b->segments[i].memory_size};
  hearth_status status = hearth_scopes_create(b->path, b->elf, code, b->segment_count, &b->scopes, err);
  free(code);
  return status;
}

hearth_scopes *hearth_binary_scopes(hearth_binary *b) { return b->scopes; }
