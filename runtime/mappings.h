/* Which code is mapped where: the executable segments of the program and its libraries, with build ids. */
#ifndef HEARTH_RUNTIME_MAPPINGS_H
#define HEARTH_RUNTIME_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "hearth/raw.h"

/* One executable segment. Rows have different sizes, see hearth_mappings_next. */
typedef struct hearth_mapping {
  uint64_t start, end;    /* addresses, half open, as in the program header: not rounded to pages */
  uint64_t file_offset;   /* of `start` */
  uint64_t bias;          /* `start` minus its address in the ELF file */
  uint32_t build_id_size; /* 0: the module has none, or its headers are not mapped */
  uint32_t path_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  char path[]; /* path_size bytes, no NUL */
} hearth_mapping;

typedef struct hearth_mappings {
  char *memory; /* rows; the object's own */
  size_t used, size;
  uint64_t count;
  uint64_t lost; /* mappings that found no room */
} hearth_mappings;

/* Read the process's mappings. Libraries may come and go meanwhile. Returns 0 or an error number. */
int hearth_mappings_read(hearth_mappings *mappings);
void hearth_mappings_destroy(hearth_mappings *mappings);

/* The row behind `row`, or the first for NULL; NULL behind the last. */
const hearth_mapping *hearth_mappings_next(const hearth_mappings *mappings, const hearth_mapping *row);

#endif
