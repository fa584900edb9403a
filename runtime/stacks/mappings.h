/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which code is mapped where: the executable segments of the program and its libraries, with build ids. A mapping
 * that was seen once is kept, since call stacks go through libraries that are closed before the profile is written.
 * Code that is loaded where a closed library was has other addresses in call stacks and files than in memory. */
#ifndef HEARTH_RUNTIME_MAPPINGS_H
#define HEARTH_RUNTIME_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hearth/raw.h"

/* One executable segment. Rows have different sizes, see hearth_mappings_next. */
typedef struct hearth_mapping {
  uint64_t start, end;            /* addresses, half open, as in the program header: not rounded to pages */
  uint64_t file_offset;           /* of `start` */
  uint64_t bias;                  /* `start` minus its address in the ELF file */
  uint64_t moved;                 /* its addresses in call stacks and files, less those in memory */
  uint64_t frame_header;          /* address of the module's .eh_frame_hdr; 0: none is known */
  uint64_t frame_low, frame_high; /* the segment that it is in, if the module is never unloaded; else empty */
  uint32_t build_id_size;         /* 0: the module has none, or its headers are not mapped */
  uint32_t path_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  bool ambiguous; /* another file came in its place, unnoticed: an address does not tell which is meant */
  bool closed;    /* it was there earlier; atomic */
  bool seen;      /* while the list is read */
  char path[];    /* path_size bytes, no NUL */
} hearth_mapping;

/* Its row in files, without the path that follows. */
static inline hearth_raw_mapping hearth_mapping_raw(const hearth_mapping *row) {
  hearth_raw_mapping raw = {.start = row->start + row->moved,
                            .end = row->end + row->moved,
                            .file_offset = row->file_offset,
                            .build_id_size = row->build_id_size,
                            .path_size = row->path_size};
  memcpy(raw.build_id, row->build_id, sizeof raw.build_id);
  return raw;
}

/* Make room for rows, and add those of the modules that the program was started with; once, before code of the
 * program has run. False: no address space. */
bool hearth_mappings_create(void);

/* Add the present mappings of the process. Libraries may come and go meanwhile. Returns 0 or an error number. */
int hearth_mappings_update(void);

/* See that the addresses of a call stack that is new are covered. Any thread. */
void hearth_mappings_cover(const uint64_t *pcs, size_t count);

/* Behind the closing of a library: find out which rows have nothing mapped any more. Returns whether there are new ones
 * among these: what was remembered of code addresses means nothing then. Before, hearth_mappings_update tells which
 * library a stack so far went through. */
bool hearth_mappings_close(void);

/* How often it has returned true. Any thread. */
extern uint32_t hearth_mappings_closings __attribute__((visibility("hidden")));

/* Make addresses in memory those of a call stack. Code in the place of a closed library is that of no file, unless
 * it is known or may_wait: then the list is read, but not in a signal handler that interrupted the runtime. */
void hearth_mappings_tell_apart(uint64_t *pcs, size_t count, bool may_wait);

/* The row that an address of code in memory lies in, if it is known; ambiguous ones too. Any thread. */
const hearth_mapping *hearth_mappings_find(uint64_t pc);

/* Rows that are not ambiguous, which hearth_mappings_next walks through: the row behind `row`, or the first for
 * NULL; NULL behind the last. The caller is the only one that updates. */
uint64_t hearth_mappings_count(void);
const hearth_mapping *hearth_mappings_next(const hearth_mapping *row);

/* Mappings that are left out: ambiguous, or there was no room. */
typedef struct hearth_mappings_losses {
  uint64_t ambiguous, bytes;     /* bytes: of these */
  const hearth_mapping *largest; /* of these; NULL: there are none */
  uint64_t no_room;
} hearth_mappings_losses;
hearth_mappings_losses hearth_mappings_lost(void);

/* Around fork; with signals blocked. */
void hearth_mappings_lock(void);
void hearth_mappings_unlock(void);

#endif
