/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Object files: their bytes, sections and build id; files of debug information that are elsewhere; symbols. */
#ifndef HEARTH_OBJECT_FILE_H
#define HEARTH_OBJECT_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hearth/status.h"

/* A piece of a file in memory, and bounds-checked reading from it. Little-endian, as all files that are read here
 * and the processors that read them. */

/* Borrowed; `data` is NULL if there are none. */
typedef struct hearth_bytes {
  const uint8_t *data;
  size_t size;
} hearth_bytes;

/* Bytes [offset, offset + size); false if they are not all there. */
static inline bool hearth_bytes_slice(hearth_bytes from, uint64_t offset, uint64_t size, hearth_bytes *ret) {
  if (offset > from.size || size > from.size - offset)
    return false;
  *ret = (hearth_bytes){from.data ? from.data + offset : NULL, (size_t)size};
  return true;
}

/* The unsigned number of `size` bytes (1 to 8) at *offset, which moves behind it; false if it is not all there. */
static inline bool hearth_bytes_number(hearth_bytes from, uint64_t *offset, size_t size, uint64_t *ret) {
  hearth_bytes at;
  if (!hearth_bytes_slice(from, *offset, size, &at))
    return false;
  *ret = 0;
  if (from.size - *offset >= sizeof *ret) { /* most are far from the end: one load does, whatever the size */
    memcpy(ret, at.data, sizeof *ret);
    *ret &= UINT64_MAX >> (64 - 8 * size);
  } else {
    memcpy(ret, at.data, size);
  }
  *offset += size;
  return true;
}

/* As hearth_bytes_number, of a ULEB128 number; false also if it needs more than 64 bits. */
static inline bool hearth_bytes_uleb(hearth_bytes from, uint64_t *offset, uint64_t *ret) {
  *ret = 0;
  if (*offset < from.size && from.data[*offset] < 0x80) { /* most are small */
    *ret = from.data[(*offset)++];
    return true;
  }
  if (from.size - *offset >= 2 && *offset < from.size && from.data[*offset + 1] < 0x80) {
    *ret = (from.data[*offset] & 0x7fu) | (uint64_t)from.data[*offset + 1] << 7;
    *offset += 2;
    return true;
  }
  for (unsigned shift = 0; *offset < from.size; shift += 7) {
    uint8_t byte = from.data[(*offset)++];
    if (shift < 64)
      *ret |= (uint64_t)(byte & 0x7f) << shift;
    if ((shift >= 64 && (byte & 0x7f) != 0) || (shift == 63 && (byte & 0x7e) != 0))
      return false;
    if (!(byte & 0x80))
      return true;
  }
  return false;
}

/* Move *offset behind a LEB128 number; false if it is not all there. */
static inline bool hearth_bytes_pass_leb(hearth_bytes from, uint64_t *offset) {
  uint64_t bytes;
  if (*offset < from.size && from.size - *offset >= sizeof bytes) {
    memcpy(&bytes, from.data + *offset, sizeof bytes);
    uint64_t ends = ~bytes & UINT64_C(0x8080808080808080);
    if (ends) {
      *offset += ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
      return true;
    }
  }
  while (*offset < from.size)
    if (!(from.data[(*offset)++] & 0x80))
      return true;
  return false;
}

/* As hearth_bytes_uleb, of an SLEB128 number, in two's complement; bits beyond 64 are ignored. */
static inline bool hearth_bytes_sleb(hearth_bytes from, uint64_t *offset, uint64_t *ret) {
  *ret = 0;
  if (*offset < from.size && from.data[*offset] < 0x80) {
    *ret = (uint64_t)(from.data[(*offset)++] ^ 0x40) - 0x40;
    return true;
  }
  for (unsigned shift = 0; *offset < from.size; shift += 7) {
    uint8_t byte = from.data[(*offset)++];
    if (shift < 64)
      *ret |= (uint64_t)(byte & 0x7f) << shift;
    if (byte & 0x80)
      continue;
    if ((byte & 0x40) && shift + 7 < 64)
      *ret |= UINT64_MAX << (shift + 7);
    return true;
  }
  return false;
}

/* The string at an offset; NULL: it is not there, or does not end. */
static inline const char *hearth_bytes_string(hearth_bytes from, uint64_t offset) {
  hearth_bytes rest;
  if (offset >= from.size || !hearth_bytes_slice(from, offset, from.size - offset, &rest) ||
      !memchr(rest.data, 0, rest.size))
    return NULL;
  return (const char *)rest.data;
}

/* ------------------------------------------------ elf file ------------------------------------------------ */

/* An ELF file that may hold debug information: a program, a library, its separate debug file, a .dwo or a .dwp. */

typedef struct hearth_elf_file hearth_elf_file;

/* Open and check. Errors: E_IO, E_FORMAT (not a 64-bit little-endian ELF file), E_NOMEM. */
hearth_status hearth_elf_file_open(const char *path, hearth_elf_file **ret, hearth_error *err);
void hearth_elf_file_close(hearth_elf_file *file); /* accepts NULL */

const char *hearth_elf_file_path(const hearth_elf_file *file);
/* As libelf reads it. Borrowed. */
Elf *hearth_elf_file_elf(hearth_elf_file *file);

/* A loadable segment with code. */
typedef struct hearth_elf_segment {
  uint64_t offset, file_size;    /* in the file */
  uint64_t address, memory_size; /* where the file is linked to */
} hearth_elf_segment;

/* Is it a program or shared library, and not an object file? */
bool hearth_elf_file_is_linked(hearth_elf_file *file);
bool hearth_elf_is_linked(Elf *elf);
/* The segments with code, read when first asked for; they live as long as `file`. Errors: E_FORMAT, E_NOMEM. */
hearth_status hearth_elf_file_segments(hearth_elf_file *file, const hearth_elf_segment **ret, size_t *ret_count,
                                       hearth_error *err);

/* The build id (borrowed); no bytes if there is none. */
hearth_bytes hearth_elf_file_build_id(hearth_elf_file *file);
/* "DIRECTORY/.build-id/ab/cdef...SUFFIX", where GDB and package managers keep files by their build ids. The caller
 * frees it; NULL: out of memory. */
char *hearth_build_id_path(const char *directory, hearth_bytes id, const char *suffix);
/* Has the file a section of this name with content? Not so a stripped one, or one in a debug file. */
bool hearth_elf_file_has(hearth_elf_file *file, const char *name);
/* A section's content, in its stored form unless it was unpacked; no bytes if it has none. Lives as long as `file`. */
hearth_bytes hearth_elf_file_section(hearth_elf_file *file, const char *name);
/* The same of what libelf has opened, as a member of an archive. In its stored form. */
hearth_bytes hearth_elf_section(Elf *elf, const char *name);

/* Unpack compressed debug information: its sections are from here on found under their plain names. Errors:
 * E_NO_DEBUG_INFO naming section and remedy, E_NOMEM. */
hearth_status hearth_elf_file_unpack(hearth_elf_file *file, hearth_error *err);

/* ------------------------------------------------ debug server ------------------------------------------------ */

/* Files by build id from the debuginfod servers that DEBUGINFOD_URLS names, as other debuggers and profilers use them. */

typedef enum hearth_served { HEARTH_SERVED_BINARY, HEARTH_SERVED_DEBUG_FILE } hearth_served;

/* Ask for a file. The variables, the folder of downloads and the time limit are libdebuginfod's (debuginfod-find(1)).
 *   ret_path  of the download, which the caller frees; NULL: DEBUGINFOD_URLS is unset or empty, or no server has the file
 * Errors: E_IO (no server answers, or the library is not there; says so), E_NOMEM. */
hearth_status hearth_debug_server_ask(hearth_bytes id, hearth_served kind, char **ret_path, hearth_error *err);

/* ------------------------------------------------ symbols ------------------------------------------------ */

/* The rows of an ELF file's symbol table. */

typedef struct hearth_symbol_table {
  hearth_bytes rows, names;
  size_t at; /* byte of the next row */
} hearth_symbol_table;

/* The sections of a table and of its names, as ".symtab" and ".strtab"; a file without them has no rows. */
static inline hearth_symbol_table hearth_symbol_table_open(hearth_elf_file *file, const char *rows, const char *names) {
  return (hearth_symbol_table){.rows = hearth_elf_file_section(file, rows),
                               .names = hearth_elf_file_section(file, names)};
}

/* Rows that the table can have. */
static inline size_t hearth_symbol_table_count(const hearth_symbol_table *table) {
  return table->rows.size / sizeof(Elf64_Sym);
}

/* The next row; false behind the last. *ret_name, in the file: NULL if it does not end there. */
static inline bool hearth_symbol_table_next(hearth_symbol_table *table, Elf64_Sym *ret, const char **ret_name) {
  if (table->rows.size - table->at < sizeof *ret)
    return false;
  memcpy(ret, table->rows.data + table->at, sizeof *ret);
  table->at += sizeof *ret;
  *ret_name = hearth_bytes_string(table->names, ret->st_name);
  return true;
}

/* Names of functions from the symbol tables, for what debug information does not say: GCC gives local C++ functions no
 * linkage name; code may have no debug information at all, and then functions that are in no table are known by where
 * .eh_frame_hdr says that they begin. Enough to read a list of frames, not to find a place in source. */

typedef struct hearth_code_names hearth_code_names;

/* Of `file` and, if it is not NULL, its separate debug file, which has the symbols that were stripped; both are
 * borrowed. Nothing is read yet. NULL: out of memory. */
hearth_code_names *hearth_code_names_create(hearth_elf_file *file, hearth_elf_file *debug_file);
void hearth_code_names_destroy(hearth_code_names *names); /* accepts NULL */

/* The mangled C++ name of the function that begins at this address; NULL if there is none.
 *   ret_memory  false: out of memory */
const char *hearth_code_names_mangled(hearth_code_names *names, uint64_t address, bool *ret_memory);

/* Read all names, once; before hearth_code_names_find. Errors: E_NO_DEBUG_INFO (there are none), E_NOMEM. */
hearth_status hearth_code_names_load(hearth_code_names *names, hearth_error *err);
/* The name of the function that an ELF address lies in: of a symbol, or "FILE+0xBEGIN". NULL: none is known. Lives
 * until the next call. */
const char *hearth_code_names_find(hearth_code_names *names, uint64_t address);

#endif
