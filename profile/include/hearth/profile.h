/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Read an indexed profile (docs/formats/indexed.md).
 *
 * The file is mapped and used in place; opening costs the same whatever its size. Every access is bounds-checked, and
 * each 4 KiB block is checked against its checksum when it is first touched: a damaged block is HEARTH_E_CORRUPT from
 * the call that needs it, never a wrong answer. Words:
 *
 *   frame    a place in a function: (function, line offset, column, discriminator), inlined into its caller or not
 *   stack    frames from the allocation call (leaf) to the root; here the number of its leaf node
 *   context  a stack that blocks were allocated in, with its MIB
 *
 * Row numbers count from 0 and are dense. A handle may be used by one thread at a time. Strings that are returned live
 * as long as the handle. */
#ifndef HEARTH_PROFILE_H
#define HEARTH_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/indexed.h"
#include "hearth/mib.h"
#include "hearth/raw.h"
#include "hearth/status.h"

HEARTH_C_BEGIN

typedef struct hearth_profile hearth_profile;

typedef struct hearth_function_info {
  uint64_t id;
  const char *name;     /* linkage name; "" if unknown */
  uint32_t path;        /* for hearth_profile_get_path; HEARTH_NONE if unknown */
  uint32_t start_line;  /* 0 unknown */
  uint32_t first_frame; /* its frames: [first_frame, first_frame + frame_count) */
  uint32_t frame_count;
} hearth_function_info;

typedef struct hearth_frame_info {
  uint32_t function;      /* row */
  uint32_t line;          /* offset from the function's first line */
  uint32_t column;        /* 0 unknown */
  uint32_t discriminator; /* base discriminator */
  bool inlined;           /* into the frame of the caller */
  bool recursive;         /* folding left it out of a stack: it may be in progress where a context lacks it */
  bool library;  /* its contexts' blocks were allocated in a library without debug information that is called there */
  bool in_cycle; /* folding left out calls that its function makes, by this frame or by one of no context */
  uint64_t stack_id;      /* hearth_stack_id() of this frame; 0 if its line or column is unknown */
  uint32_t first_context; /* contexts whose leaf is this frame: [first_context, first_context + context_count) */
  uint32_t context_count;
} hearth_frame_info;

typedef struct hearth_profile_summary {
  uint64_t runs;
  uint64_t duration_ns; /* sum over runs */
  uint64_t total_allocs, total_bytes, total_accesses;
  uint64_t dropped_blocks, dropped_frames;
  bool accesses_counted;   /* in every run, or estimated */
  bool accesses_estimated; /* in some run: from looks at pages, not counted (docs/decisions/touched-pages.md) */
  bool densities_only;     /* else: of every run, access densities at least are known (profiles of LLVM's) */
  enum hearth_id_scheme id_scheme;
} hearth_profile_summary;

/* How often each 8 bytes of the blocks of a context were accessed, by their place in the block. Programs compiled in
 * histogram mode record it. */
typedef struct hearth_histogram {
  const uint64_t *counts; /* of the bytes [8 * i, 8 * i + 8) of all blocks, summed */
  uint64_t size;          /* 0: there is none, or nothing was accessed */
} hearth_histogram;

/* Can contexts be told apart by their accesses? */
static inline bool hearth_accesses_known(const hearth_profile_summary *summary) {
  return summary->accesses_counted || summary->densities_only;
}

/* Exported where the archive becomes a shared library (examples/python/), which is never interposed. */
#pragma GCC visibility push(protected)

/* Open and check header and section table. Errors: E_IO, E_FORMAT, E_VERSION, E_TRUNCATED, E_CORRUPT, E_NOMEM; on
 * error *ret is NULL. Destroy with hearth_profile_close (accepts NULL). */
hearth_status hearth_profile_open(const char *path, hearth_profile **ret, hearth_error *err);
/* Open a regular file as above; read a pipe or device, which hearth_profile_open refuses, to its end into memory. */
hearth_status hearth_profile_open_stream(const char *path, hearth_profile **ret, hearth_error *err);
/* Open bytes that the caller keeps alive until close (tests, fuzzing, embedded profiles), at a multiple of 8; `name`
 * is for messages. */
hearth_status hearth_profile_open_memory(const void *data, size_t size, const char *name, hearth_profile **ret,
                                         hearth_error *err);
void hearth_profile_close(hearth_profile *profile);

/* A hash of all that the profile holds: XXH3-64 of its checksums, or 1 if that is 0. Equal contents have equal ids. */
uint64_t hearth_profile_id(const hearth_profile *profile);

/* Check the checksum of every block: a damaged profile is refused as a whole (`hearth show` and `hearth index` do it
 * first). References are checked when they are followed. */
hearth_status hearth_profile_check(hearth_profile *profile, hearth_error *err);

uint32_t hearth_profile_function_count(const hearth_profile *profile);
uint32_t hearth_profile_frame_count(const hearth_profile *profile);
uint32_t hearth_profile_stack_count(const hearth_profile *profile);
uint32_t hearth_profile_context_count(const hearth_profile *profile);
uint32_t hearth_profile_binary_count(const hearth_profile *profile);

hearth_status hearth_profile_get_summary(hearth_profile *profile, hearth_profile_summary *ret, hearth_error *err);

/* Row of the function with this id. E_NOT_FOUND without message when there is none. Expected O(1). */
hearth_status hearth_profile_find_function(hearth_profile *profile, uint64_t id, uint32_t *ret_row, hearth_error *err);
hearth_status hearth_profile_get_function(hearth_profile *profile, uint32_t row, hearth_function_info *ret,
                                          hearth_error *err);
hearth_status hearth_profile_get_frame(hearth_profile *profile, uint32_t row, hearth_frame_info *ret,
                                       hearth_error *err);
/* One step of a stack: the frame at `node`, and the caller's node or HEARTH_NONE. */
hearth_status hearth_profile_get_stack(hearth_profile *profile, uint32_t node, uint32_t *ret_frame,
                                       uint32_t *ret_parent, hearth_error *err);
/* A context's leaf node and numbers. Either output may be NULL. */
hearth_status hearth_profile_get_context(hearth_profile *profile, uint32_t row, uint32_t *ret_stack,
                                         hearth_mib *ret_mib, hearth_error *err);
/* A context's TotalSize alone, which takes a fraction of the time; 0 if the profile does not have it. */
hearth_status hearth_profile_get_context_bytes(hearth_profile *profile, uint32_t row, uint64_t *ret, hearth_error *err);
/* Types whose names are known; their ids stand in DataTypeId of contexts. */
uint32_t hearth_profile_type_count(const hearth_profile *profile);
hearth_status hearth_profile_get_type(hearth_profile *profile, uint32_t row, uint64_t *ret_id, const char **ret_name,
                                      hearth_error *err);
/* The name of the type with this id; "" if none is known, and for HEARTH_MIB_MIXED. */
hearth_status hearth_profile_type_name(hearth_profile *profile, uint64_t id, const char **ret_name, hearth_error *err);
/* A context's histogram of accesses. It lives until the next call of this function with this handle. */
hearth_status hearth_profile_get_histogram(hearth_profile *profile, uint32_t row, hearth_histogram *ret,
                                           hearth_error *err);
/* Write a path ('/'-joined, NUL-terminated) to `buffer`, cut to fit `size` (>= 1;
 * HEARTH_PATH_LIMIT holds all of any path). HEARTH_NONE gives "". */
hearth_status hearth_profile_get_path(hearth_profile *profile, uint32_t row, char *buffer, size_t size,
                                      hearth_error *err);
/* Name and build id (borrowed) of one of the binaries. */
hearth_status hearth_profile_get_binary(hearth_profile *profile, uint32_t row, const char **ret_name,
                                        const uint8_t **ret_build_id, uint32_t *ret_build_id_size, hearth_error *err);
/* The density that bounds the hot contexts, which hold `share_ppm` of all accesses: the exact cutoff if stored, else
 * the next stricter one. E_NOT_FOUND if there is none (no accesses were counted). */
hearth_status hearth_profile_get_hot_cutoff(hearth_profile *profile, uint32_t share_ppm, double *ret_density,
                                            hearth_error *err);

/* Print the text twin (docs/formats/indexed.md, "Text") to a stream. E_IO when the stream reports an error. */
hearth_status hearth_profile_print_text(hearth_profile *profile, FILE *stream, hearth_error *err);

#pragma GCC visibility pop

/* ------------------------------------------------ runs ------------------------------------------------ */

/* Facts of the runs that are no sums. Merging keeps the greatest peak, the first and the last day, and the command if
 * all runs with a known command share it. */
typedef struct hearth_run_facts {
  uint64_t peak_bytes;          /* the most bytes that were live at a time; 0: unknown */
  uint32_t first_day, last_day; /* on which runs began: since 1970-01-01, UTC; both 0: unknown */
  const char *command;          /* the program's arguments, with blanks between; "": unknown, or they differ */
  bool commands_differ;
} hearth_run_facts;

/* All zero and "" if the profile does not know any. The string lives as long as the profile. E_CORRUPT. */
hearth_status hearth_profile_get_run_facts(hearth_profile *profile, hearth_run_facts *ret, hearth_error *err);

/* How many bytes were live in each part of the run, in all and in the contexts that held most. Of several runs,
 * sums. */
typedef struct hearth_history_row {
  uint32_t context;
  uint64_t levels[HEARTH_RAW_POINTS];
} hearth_history_row;

typedef struct hearth_heap_history {
  uint64_t runs;     /* whose history is known; 0: there is none */
  uint64_t peak_ppm; /* when most was live, in millionths of the run: the sum over these runs */
  uint64_t levels[HEARTH_RAW_POINTS];
  size_t count; /* rows, by ascending context */
  hearth_history_row *rows;
} hearth_heap_history;

/* E_CORRUPT, E_NOMEM; nothing is to be freed then. */
hearth_status hearth_profile_get_history(hearth_profile *profile, hearth_heap_history *ret, hearth_error *err);
void hearth_heap_history_free(hearth_heap_history *history);

/* When most was live, since the start of a run, on average; of a history that has runs. */
static inline uint64_t hearth_history_peak_ns(const hearth_heap_history *history,
                                              const hearth_profile_summary *summary) {
  double run_ns = (double)summary->duration_ns / (double)(summary->runs ? summary->runs : 1);
  return (uint64_t)(run_ns * (double)history->peak_ppm / (double)history->runs / 1e6);
}

HEARTH_C_END
#endif
