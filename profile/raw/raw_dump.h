/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Raw profiles in memory: one model that the readers of all formats fill. Words:
 *
 *   dump    one complete raw profile; a file holds one or, concatenated, several
 *   node    one address of a call stack, with the node of its caller; parents precede children
 *   record  a call stack (its leaf node) with the numbers of the blocks allocated there
 *
 * Records are most of a profile: they are checked when the dump is read, but stay in the file until they are asked
 * for, one after the other. */
#ifndef HEARTH_RAW_INTERNAL_H
#define HEARTH_RAW_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"
#include "hearth/mib.h"
#include "hearth/profile.h"
#include "hearth/program_tables.h"
#include "hearth/raw.h"
#include "hearth/status.h"

/* How an address is turned into one of the ELF file: Hearth's runtime stores the mapping's place in the file, LLVM's
 * the address that the module was loaded at. */
typedef enum hearth_raw_address_kind { HEARTH_RAW_FILE_OFFSET, HEARTH_RAW_LOAD_BIAS } hearth_raw_address_kind;

typedef struct hearth_raw_map {
  uint64_t start, end; /* half open */
  uint64_t base;       /* FILE_OFFSET: offset of `start` in the file; LOAD_BIAS: address minus ELF address */
  char *path;          /* NULL if the layout has none */
  uint32_t build_id_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
} hearth_raw_map;

/* Of a history, what one record's blocks held. */
typedef struct hearth_raw_levels {
  uint64_t record;
  uint64_t levels[HEARTH_RAW_POINTS];
} hearth_raw_levels;

typedef struct hearth_raw_record {
  uint32_t stack; /* leaf node; HEARTH_RAW_NO_PARENT: no stack known */
  hearth_mib mib;
  const uint64_t *levels;                     /* HEARTH_RAW_POINTS; NULL: none */
  hearth_histogram histogram;                 /* lives until the next record is read */
  uint64_t residency[HEARTH_RAW_RESIDENCIES]; /* of a heap dump that has_residency; else 0 */
} hearth_raw_record;

/* A global variable and its accesses. The strings have no NUL, and lie in the file. */
typedef struct hearth_raw_global {
  uint64_t address, size, accesses, touched_lines, stores;
  const char *name, *file;
  uint32_t name_size, file_size, line, flags; /* hearth/program_tables.h */
} hearth_raw_global;

/* The file and the place in it: every message of the readers needs them. */
typedef struct hearth_raw_input {
  const char *name;
  const hearth_file *file;
  size_t begin; /* of the dump being read */
} hearth_raw_input;

typedef struct hearth_raw_stacks hearth_raw_stacks;

typedef struct hearth_raw_dump hearth_raw_dump;
struct hearth_raw_dump {
  hearth_raw_address_kind kind;
  hearth_raw_map *maps;
  hearth_raw_stack_node *nodes;
  char **names; /* the names that pcs and types with HEARTH_RAW_IS_NAMED stand for; numbers of pcs are less than
                 * name_count */
  hearth_raw_global *globals; /* by ascending address, each once */
  size_t map_count, node_count, record_count, name_count, global_count;
  uint64_t duration_ns, dropped_blocks;
  uint64_t sample_bytes;                     /* 0: all blocks were recorded */
  uint64_t dropped_stacks;                   /* allocations that found no room for their call stack */
  bool accesses_counted, accesses_estimated; /* the second: the first is set, but they are estimates */
  bool ends_early;                           /* a trace without the program's end */
  enum hearth_raw_occasion occasion;         /* of a heap dump; HEARTH_RAW_NO_DUMP: this is a profile */
  bool has_residency;
  uint64_t start_unix_ns, pid; /* Hearth's layout; else 0 */
  char *command;               /* its arguments; NULL: unknown */
  uint64_t peak_bytes;         /* the most that were live at a time; 0: unknown */
  uint64_t clock_error_ns;     /* times of allocations and deallocations are early by that at most; 0: exact */
  bool has_history;
  uint64_t peak_ns; /* with it: when most was live, and how much was in each part of the run */
  uint64_t levels[HEARTH_RAW_POINTS];
  hearth_raw_levels *history; /* of some records, by their number */
  size_t history_count, next_history;
  bool continues; /* a run whose beginning is in another file */
  /* For hearth_raw_next_record: */
  hearth_raw_input in;
  size_t next_record, next_at; /* number and place, from the dump's begin, of the next record */
  size_t records_end;
  uint32_t column_count;   /* Hearth's layout: of a MIB; further ones are 0, whatever is expected of them */
  hearth_raw_mib previous; /* Hearth's layout: the record before the next one */
  uint64_t *counts;        /* of the record's histogram: room for the largest; NULL: there are none */
  hearth_histogram (*histogram_of)(void *context, size_t node); /* of a trace, by the index of `mibs`; NULL: none */
  void *histogram_context;
  hearth_mib *mibs; /* of a trace: by node, and behind the last one that of blocks without stack */
  /* For LLVM's layout alone: its version, leaf nodes by the ids of their stacks. */
  uint64_t layout_version;
  hearth_raw_stacks *stacks;
  void (*read_record)(hearth_raw_dump *dump, hearth_raw_record *ret);
};

/* Do these bytes begin like a raw profile (of any version and byte order)? */
bool hearth_raw_is_raw(const void *data, size_t size);

/* Read the dump that begins at *offset and move *offset behind it.
 *   name    of the file, for messages; both live until hearth_raw_free
 *   ret     all zero after an error; else to be freed with hearth_raw_free
 * Errors: E_FORMAT (not a raw profile), E_VERSION, E_TRUNCATED, E_CORRUPT, E_FULL, E_NOMEM. */
hearth_status hearth_raw_read(const char *name, const hearth_file *file, size_t *offset, hearth_raw_dump *ret,
                              hearth_error *err);
/* The next record, first to last; false behind the last one. */
bool hearth_raw_next_record(hearth_raw_dump *dump, hearth_raw_record *ret);
void hearth_raw_free(hearth_raw_dump *dump); /* accepts an all-zero dump */

/* The readers of one layout: as hearth_raw_read, but they may leave a half filled dump behind on error.
 *   in          the dump begins at in->begin with the layout's magic
 *   ret_size    bytes of the dump */
hearth_status hearth_raw_read_hearth(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                     hearth_error *err);
hearth_status hearth_raw_read_llvm(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                   hearth_error *err);

/* The same for a trace, which takes the rest of its file. */
hearth_status hearth_raw_read_trace(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                    hearth_error *err);

void hearth_raw_stacks_free(hearth_raw_stacks *stacks); /* accepts NULL */

/* Called while passing over a dump from `from` to `to`, both counted from its begin: lets go of the passed bytes, a few
 * megabytes at a time. */
static inline void hearth_raw_passed(const hearth_raw_input *in, size_t from, size_t to) {
  enum { STEP = 1 << 21 };
  if ((in->begin + from) / STEP != (in->begin + to) / STEP)
    hearth_file_release(in->file, (in->begin + from) / STEP * STEP, (in->begin + to) / STEP * STEP);
}

/* Room for histograms of `size` numbers. E_NOMEM. */
hearth_status hearth_raw_reserve_histogram(const hearth_raw_input *in, hearth_raw_dump *dump, uint64_t size,
                                           hearth_error *err);

/* E_VERSION unless it is the version of Hearth's layout that this code reads. */
hearth_status hearth_raw_check_version(const hearth_raw_input *in, uint32_t version, hearth_error *err);

/* Fill in `err` with "NAME: offset N: REASON (REMEDY)" and return `status`; `at` counts from the dump's begin. */
hearth_status hearth_raw_fail(const hearth_raw_input *in, size_t at, hearth_status status, hearth_error *err,
                              const char *reason);

#endif
