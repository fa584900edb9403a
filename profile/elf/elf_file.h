/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An ELF file that may hold debug information: a program, a library, its separate debug file, a .dwo or a .dwp. */
#ifndef HEARTH_ELF_FILE_H
#define HEARTH_ELF_FILE_H

#include <libelf.h>

#include "bytes.h"
#include "hearth/status.h"

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
/* "DIRECTORY/.build-id/ab/cdef...SUFFIX", where GDB and package managers keep files by their build ids. The caller frees
 * it; NULL: out of memory. */
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

#endif
