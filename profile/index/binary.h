/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One profiled executable or shared library: its build id, where its code is, its debug information and types. */
#ifndef HEARTH_BINARY_H
#define HEARTH_BINARY_H

#include <stddef.h>

#include "bytes.h"
#include "debug_info.h"
#include "hearth/status.h"

/* The types of a binary's allocation calls (hearth/type_table.h). */

typedef struct hearth_types {
  struct hearth_type *items; /* sorted */
  size_t count;
  uint8_t *bytes; /* of the section */
} hearth_types;

/* Read a section; without bytes there are no types. Copied. `path` is the binary's, for messages. Free
 * also after an error. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_types_read(hearth_bytes section, const char *path, hearth_types *ret, hearth_error *err);
void hearth_types_free(hearth_types *types);

/* Name of the type that is allocated at a place; no bytes if that is not known, or if several types are. */
hearth_bytes hearth_types_find(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column);

typedef struct hearth_binary hearth_binary;

/* Open an ELF file. Errors: E_IO, E_FORMAT (not a 64-bit little-endian ELF file), E_NO_BUILD_ID,
 * E_CORRUPT, E_NOMEM. */
hearth_status hearth_binary_open(const char *path, hearth_binary **ret, hearth_error *err);
void hearth_binary_close(hearth_binary *binary); /* accepts NULL */

const char *hearth_binary_path(const hearth_binary *binary);
/* Give the binary the path that it was mapped from. Copied. Error: E_NOMEM. */
hearth_status hearth_binary_rename(hearth_binary *binary, const char *path, hearth_error *err);
/* The build id (borrowed) and its size in bytes (1 to HEARTH_RAW_BUILD_ID_MAX). */
const uint8_t *hearth_binary_build_id(const hearth_binary *binary, uint32_t *ret_size);
/* ELF address of an offset in the file that is mapped executable; false if there is none. */
bool hearth_binary_address(const hearth_binary *binary, uint64_t file_offset, uint64_t *ret_address);

/* Its debug information, to be loaded by the caller; lives until close. One thread at a time may use it: while several know
 * the binary, between lock and unlock. */
void hearth_binary_lock(hearth_binary *binary);
void hearth_binary_unlock(hearth_binary *binary);
hearth_debug_info *hearth_binary_debug_info(hearth_binary *binary);
/* The types of its allocation calls. */
const hearth_types *hearth_binary_types(const hearth_binary *binary);

#endif
