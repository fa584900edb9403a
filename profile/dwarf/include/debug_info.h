/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The debug information of a program or library: from an address to the functions that its instruction belongs to,
 * innermost first: the function that was inlined there, the one it was inlined into, ... up to the function that has
 * the code. DWARF 2 to 5, in the file itself, in a separate debug file, or split. Words:
 *
 *   body      a subprogram with code of its own, or a place where one was inlined
 *   position  line, column and discriminator: of the instruction in the innermost body, of the inlined call in others
 *   name      of a function, from symbol tables, where debug information does not describe it
 */
#ifndef HEARTH_DEBUG_INFO_H
#define HEARTH_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/status.h"
#include "object_file.h"

typedef struct hearth_debug_info hearth_debug_info;

/* Where to look for separate files, beside the binary's own folder. All zero: nowhere. Borrowed. */
typedef struct hearth_debug_directories {
  char *const *paths; /* that the user named */
  size_t count;
  bool system; /* look in /usr/lib/debug and on debuginfod servers, too, after `paths` */
} hearth_debug_directories;

/* The function of a body; strings live as long as the handle. */
typedef struct hearth_debug_function {
  const char *name;    /* linkage name, else plain name */
  const char *path;    /* declaring file; "" if unknown */
  uint32_t start_line; /* line that line offsets count from */
} hearth_debug_function;

typedef struct hearth_debug_frame {
  uint32_t function;      /* for hearth_debug_info_function; HEARTH_DEBUG_NO_FUNCTION: name or first line unknown */
  uint32_t line;          /* absolute; 0 unknown */
  uint32_t column;        /* 0 unknown */
  uint32_t discriminator; /* 0 none */
  bool inlined;           /* into the next frame */
} hearth_debug_frame;

#define HEARTH_DEBUG_NO_FUNCTION UINT32_MAX

/* `binary` is borrowed until destroy. Nothing is read yet. NULL: out of memory. */
hearth_debug_info *hearth_debug_info_create(hearth_elf_file *binary);
void hearth_debug_info_destroy(hearth_debug_info *info); /* accepts NULL */

/* Read the debug information, once: the binary's own, or that of its separate debug file. The bodies of a unit are listed
 * when the first address in it is asked for.
 *   directories  borrowed until destroy
 * Errors: E_NO_DEBUG_INFO, which names the missing part and the flag that adds it, E_NOMEM. After one, no address has
 * frames. */
hearth_status hearth_debug_info_load(hearth_debug_info *info, hearth_debug_directories directories, hearth_error *err);
/* Read the names, once; after hearth_debug_info_load, whatever that returned. Errors: E_NO_DEBUG_INFO (there are
 * neither names nor frames), E_NOMEM. */
hearth_status hearth_debug_info_load_names(hearth_debug_info *info, hearth_error *err);

/* Frames of the instruction at ELF address `address`, innermost first; none (*ret_count 0) where no body is known.
 *   ret_frames  lives until the next call
 * Errors: E_NO_DEBUG_INFO (split debug information not found, damaged), E_NOMEM. */
hearth_status hearth_debug_info_frames(hearth_debug_info *info, uint64_t address, const hearth_debug_frame **ret_frames,
                                       size_t *ret_count, hearth_error *err);
/* A function number from a frame; the pointer lives until the next call of hearth_debug_info_frames. */
const hearth_debug_function *hearth_debug_info_function(const hearth_debug_info *info, uint32_t function);

/* Were names loaded? */
bool hearth_debug_info_has_names(const hearth_debug_info *info);
/* The name of the function that an ELF address lies in: of a symbol, or "FILE+0xBEGIN". NULL: none is known. Lives
 * until the next call. */
const char *hearth_debug_info_name(hearth_debug_info *info, uint64_t address);

#endif
