#include "binary.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/raw.h"
#include "hearth/type_table.h"

/* A loadable segment with code. */
typedef struct segment {
  uint64_t offset, file_size, address, memory_size;
} segment;

struct hearth_binary {
  hearth_elf_file *file;
  hearth_elf_file *debug_file; /* NULL: `file` has the debug information */
  segment *segments;
  size_t segment_count;
  uint32_t build_id_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  hearth_debug_info *debug_info;
  hearth_code_names *names;
  hearth_types types;
};

static hearth_status check_type(const hearth_binary *b, hearth_error *err) {
  GElf_Ehdr header;
  if (!gelf_getehdr(hearth_elf_file_elf(b->file), &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: not a linked 64-bit little-endian ELF file (--binary takes the profiled program)",
                            hearth_binary_path(b));
  return HEARTH_OK;
}

static hearth_status read_segments(hearth_binary *b, hearth_error *err) {
  size_t count = 0;
  Elf *elf = hearth_elf_file_elf(b->file);
  if (elf_getphdrnum(elf, &count) != 0)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: its program headers cannot be read: %s", hearth_binary_path(b),
                            elf_errmsg(-1));
  b->segments = calloc(count + 1, sizeof *b->segments);
  if (!b->segments)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || !(header.p_flags & PF_X))
      continue;
    b->segments[b->segment_count++] = (segment){header.p_offset, header.p_filesz, header.p_vaddr, header.p_memsz};
  }
  return HEARTH_OK;
}

static hearth_status read_build_id(hearth_binary *b, hearth_error *err) {
  hearth_bytes id = hearth_elf_file_build_id(b->file);
  if (id.size == 0 || id.size > HEARTH_RAW_BUILD_ID_MAX)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID,
                            "%s: no build id, so it cannot be matched with profiles (link with -Wl,--build-id)",
                            hearth_binary_path(b));
  memcpy(b->build_id, id.data, id.size);
  b->build_id_size = (uint32_t)id.size;
  return HEARTH_OK;
}

hearth_status hearth_binary_open(const char *path, hearth_binary **ret, hearth_error *err) {
  *ret = NULL;
  hearth_binary *b = calloc(1, sizeof *b);
  if (!b)
    return hearth_error_nomem(err);
  hearth_status status = hearth_elf_file_open(path, &b->file, err);
  if (status == HEARTH_OK)
    status = check_type(b, err);
  if (status == HEARTH_OK)
    status = read_segments(b, err);
  if (status == HEARTH_OK)
    status = read_build_id(b, err);
  if (status == HEARTH_OK)
    status = hearth_types_read(hearth_elf_file_section(b->file, HEARTH_TYPES_SECTION), path, &b->types, err);
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
  hearth_debug_info_destroy(b->debug_info);
  hearth_code_names_destroy(b->names);
  hearth_types_free(&b->types);
  hearth_elf_file_close(b->debug_file);
  hearth_elf_file_close(b->file);
  free(b->segments);
  free(b);
}

const char *hearth_binary_path(const hearth_binary *b) { return hearth_elf_file_path(b->file); }

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

hearth_status hearth_binary_load(hearth_binary *b, hearth_debug_directories directories, hearth_error *err) {
  if (b->debug_info)
    return HEARTH_OK;
  HEARTH_TRY(hearth_debug_file_find(b->file, directories, &b->debug_file, err));
  hearth_elf_file *debug_file = b->debug_file ? b->debug_file : b->file;
  HEARTH_TRY(hearth_elf_file_unpack(debug_file, err));
  hearth_code_range *code = calloc(b->segment_count + 1, sizeof *code);
  if (!code)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < b->segment_count; ++i)
    code[i] = (hearth_code_range){b->segments[i].address, b->segments[i].address + b->segments[i].memory_size};
  hearth_status status =
      hearth_debug_info_create(b->file, debug_file, directories, code, b->segment_count, &b->debug_info, err);
  free(code);
  return status;
}

/* Where there is debug information, no names are no loss that would have to be told. */
hearth_status hearth_binary_load_names(hearth_binary *b, hearth_error *err) {
  hearth_status status = hearth_code_names_create(b->file, b->debug_file, &b->names, err);
  return status == HEARTH_E_NO_DEBUG_INFO && b->debug_info ? HEARTH_OK : status;
}

hearth_code_names *hearth_binary_names(hearth_binary *b) { return b->names; }

hearth_debug_info *hearth_binary_debug_info(hearth_binary *b) { return b->debug_info; }

const hearth_types *hearth_binary_types(const hearth_binary *b) { return &b->types; }
