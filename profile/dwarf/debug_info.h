/* From an address to the functions that its instruction belongs to, innermost first: the function that was inlined
 * there, the one it was inlined into, ... up to the function that has the code. Words:
 *
 *   body     a subprogram with code of its own, or a place where one was inlined
 *   position  line, column and discriminator: of the instruction in the innermost body, of the inlined call in others
 */
#ifndef HEARTH_DEBUG_INFO_H
#define HEARTH_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "units.h"

typedef struct hearth_debug_info hearth_debug_info;

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

/* Open the debug information of a file. Its bodies are indexed unit by unit, when the first address in a unit is asked
 * for.
 *   binary, debug_file, directories  borrowed until destroy; as for hearth_units_create
 *   code                             where the binary has code; copied
 * Errors: E_NO_DEBUG_INFO naming what is missing and the flag that adds it, E_NOMEM. */
hearth_status hearth_debug_info_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                       hearth_debug_directories directories, const hearth_code_range *code,
                                       size_t code_count, hearth_debug_info **ret, hearth_error *err);
void hearth_debug_info_destroy(hearth_debug_info *info); /* accepts NULL */

/* Frames of the instruction at ELF address `address`, innermost first; none (*ret_count 0) where no body is known.
 *   ret_frames  lives until the next call
 * Errors: E_NO_DEBUG_INFO (split debug information not found, damaged), E_NOMEM. */
hearth_status hearth_debug_info_frames(hearth_debug_info *info, uint64_t address, const hearth_debug_frame **ret_frames,
                                       size_t *ret_count, hearth_error *err);
/* A function number from a frame; the pointer lives until the next call of hearth_debug_info_frames. */
const hearth_debug_function *hearth_debug_info_function(const hearth_debug_info *info, uint32_t function);

#endif
