/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of LLVM's profiles that reader and writer share:
 *
 *   container [summary, code profile, memprof section [records, frames, stacks, data accesses]]
 *
 * A hash table on disk holds the records. */
#ifndef HEARTH_LLVM_PARTS_H
#define HEARTH_LLVM_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/builder.h"
#include "hearth/llvm_files.h"
#include "hearth/llvm_profile.h"
#include "hearth/mib.h"
#include "hearth/status.h"
#include "id_table.h"

/* A growing buffer for LLVM's files. An allocation that fails is remembered: it is asked for once, at the end. */

typedef struct hearth_llvm_buffer {
  uint8_t *data;
  size_t size, room;
  bool failed;
} hearth_llvm_buffer;

static inline void hearth_llvm_put(hearth_llvm_buffer *out, const void *data, size_t size) {
  if (out->failed || !hearth_array_reserve(&out->data, &out->room, out->size, size, 1)) {
    out->failed = true;
    return;
  }
  if (size > 0)
    memcpy(out->data + out->size, data, size);
  out->size += size;
}

static inline void hearth_llvm_put_u64(hearth_llvm_buffer *out, uint64_t value) {
  hearth_llvm_put(out, &value, sizeof value);
}

static inline void hearth_llvm_put_u32(hearth_llvm_buffer *out, uint32_t value) {
  hearth_llvm_put(out, &value, sizeof value);
}

/* Zeros up to a multiple of 8. */
static inline void hearth_llvm_align(hearth_llvm_buffer *out) {
  static const uint8_t zeros[8];
  hearth_llvm_put(out, zeros, -out->size & 7);
}

/* Overwrite the bytes at offset `at`. */
static inline void hearth_llvm_patch_u64(hearth_llvm_buffer *out, size_t at, uint64_t value) {
  if (!out->failed)
    memcpy(out->data + at, &value, sizeof value);
}

/* Write a MemProf section of version 3 or 4; offsets in it count from the buffer's begin. */
hearth_status hearth_llvm_put_section(hearth_llvm_buffer *out, hearth_profile *profile, uint32_t version,
                                      hearth_llvm_losses *ret_losses, hearth_error *err);

/* ------------------------------------------------ input ------------------------------------------------ */

/* Bounds-checked reading of LLVM's files. Every message names file, place, reason and remedy. */

typedef struct hearth_llvm_input {
  const char *name;
  const uint8_t *data;
  size_t size;
  hearth_error *err;
} hearth_llvm_input;

/* The bytes [at, end) of an input; 0 <= at <= end <= size. */
typedef struct hearth_llvm_cursor {
  const hearth_llvm_input *in;
  uint64_t at, end;
} hearth_llvm_cursor;

static inline hearth_status hearth_llvm_corrupt(const hearth_llvm_input *in, uint64_t at, const char *reason) {
  hearth_error_set(in->err, HEARTH_E_CORRUPT,
                   "%s: offset %llu: the profile is corrupt: %s; make it again with 'llvm-profdata merge'", in->name,
                   (unsigned long long)at, reason);
  return HEARTH_E_CORRUPT; /* in so many words, or the compiler warns of outputs that are not set */
}

/* The part [at, end) of the file; `what` names it. */
static inline hearth_status hearth_llvm_part(const hearth_llvm_input *in, uint64_t at, uint64_t end, const char *what,
                                             hearth_llvm_cursor *ret) {
  if (at > end || end > in->size) {
    hearth_error_set(in->err, HEARTH_E_CORRUPT,
                     "%s: the profile is corrupt or truncated: %s lies at %llu to %llu of %zu bytes; make it "
                     "again with 'llvm-profdata merge'",
                     in->name, what, (unsigned long long)at, (unsigned long long)end, in->size);
    return HEARTH_E_CORRUPT;
  }
  *ret = (hearth_llvm_cursor){in, at, end};
  return HEARTH_OK;
}

static inline uint64_t hearth_llvm_left(const hearth_llvm_cursor *c) { return c->end - c->at; }

static inline hearth_status hearth_llvm_take(hearth_llvm_cursor *c, void *into, size_t size) {
  if (hearth_llvm_left(c) < size)
    return hearth_llvm_corrupt(c->in, c->at, "a record runs past the end of its part");
  memcpy(into, c->in->data + c->at, size);
  c->at += size;
  return HEARTH_OK;
}

/* Read a u64 that counts things of at least `least` bytes each, which follow. */
static inline hearth_status hearth_llvm_take_count(hearth_llvm_cursor *c, uint64_t least, uint64_t *ret) {
  uint64_t at = c->at;
  HEARTH_TRY(hearth_llvm_take(c, ret, sizeof *ret));
  if (*ret > hearth_llvm_left(c) / least)
    return hearth_llvm_corrupt(c->in, at, "a count is greater than what follows it");
  return HEARTH_OK;
}

/* Take the next `size` bytes as a part of their own. */
static inline hearth_status hearth_llvm_split(hearth_llvm_cursor *c, uint64_t size, hearth_llvm_cursor *ret) {
  if (hearth_llvm_left(c) < size)
    return hearth_llvm_corrupt(c->in, c->at, "a record runs past the end of its part");
  *ret = (hearth_llvm_cursor){c->in, c->at, c->at + size};
  c->at += size;
  return HEARTH_OK;
}

/* ------------------------------------------------ hash table ------------------------------------------------ */

/* LLVM's hash tables on disk, read from front to end instead of bucket by bucket: each byte once, whatever the file
 * says.
 *
 *   payload, for each bucket that is not empty:  u16 count, items
 *   zeros up to a multiple of 8
 *   control block: u64 buckets, u64 entries, for each bucket the u64 offset of its count, 0 where it is empty */

typedef struct hearth_llvm_items {
  hearth_llvm_cursor payload;
  uint64_t left;
  uint16_t left_in_bucket; /* of the one that is being read */
} hearth_llvm_items;

/* Begin with the table whose payload begins at `payload` and whose control block stands at `control`. */
hearth_status hearth_llvm_items_begin(const hearth_llvm_input *in, uint64_t payload, uint64_t control,
                                      hearth_llvm_items *ret);
/* The next item. *ret_end tells that there is none; the outputs are then unchanged. */
hearth_status hearth_llvm_items_next(hearth_llvm_items *items, bool *ret_end, uint64_t *ret_key,
                                     hearth_llvm_cursor *ret_data);

/* Number of buckets that LLVM makes for so many entries: a power of two. */
uint64_t hearth_llvm_bucket_count(uint64_t entries);

/* ------------------------------------------------ records ------------------------------------------------ */

/* A profile as LLVM sees it: contexts by GUID, attached to functions. The writer starts from it.
 *
 *   frame   (GUID, line offset, column, inlined); sorted
 *   node    a frame under its caller's node; stacks of contexts, and inline chains of calls, which end where they are
 *           not inlined any more
 *   site    a stack's or chain's innermost node, under a record's GUID
 *   record  the sites of one function
 *
 * As LLVM does it, a context is attached to the functions of its leaf's inline chain; a call, with its whole inline
 * chain, to the functions of all its frames but the one that allocates. */

typedef struct hearth_llvm_node {
  uint32_t frame, parent; /* HEARTH_NONE: a root */
} hearth_llvm_node;

typedef struct hearth_llvm_site {
  uint64_t guid;
  uint32_t node;
  uint32_t context; /* HEARTH_NONE: a call */
} hearth_llvm_site;

/* Sites [first, calls) allocate, [calls, end) call. */
typedef struct hearth_llvm_record {
  uint64_t guid;
  size_t first, calls, end;
} hearth_llvm_record;

typedef struct hearth_llvm_records {
  hearth_llvm_frame *frames;
  hearth_llvm_node *nodes;
  hearth_mib *contexts; /* each under a node of its own */
  hearth_llvm_site *sites;
  hearth_llvm_record *records; /* in the order of LLVM's hash table: by bucket, then by GUID */
  size_t frame_count, node_count, context_count, site_count, record_count;
  size_t node_room, site_room;
  id_table nodes_by_content;
  uint32_t tags[32]; /* the schema: the fields that LLVM's compiler reads, and every field that says something */
  uint32_t tag_count;
  hearth_llvm_losses losses;
} hearth_llvm_records;

/* Errors: E_MISMATCH (a function without a name, which has no GUID), E_FULL, E_NOMEM. To be freed also then. */
hearth_status hearth_llvm_records_make(hearth_llvm_records *records, hearth_profile *profile, hearth_error *err);
void hearth_llvm_records_free(hearth_llvm_records *records);

/* Counts of the whole, by the rules of LLVM's compiler with default options: it never calls a context hot. */
typedef struct hearth_llvm_summary {
  uint64_t contexts, cold, hot, largest_cold, largest_warm, largest_hot; /* in a file: in this order */
} hearth_llvm_summary;
hearth_llvm_summary hearth_llvm_summarise(const hearth_llvm_records *records);

/* A MIB of LLVM's, field by field, and Hearth's. */

#define HEARTH_LLVM_MIB_LIMIT 28 /* one more than the greatest tag */

typedef struct hearth_llvm_entry {
  uint32_t bytes; /* in a file; 0: there is no such tag */
  int column;     /* of hearth_mib; -1: Hearth does not keep it */
  uint64_t unit;  /* Hearth's number for 1 of LLVM's */
} hearth_llvm_entry;

extern const hearth_llvm_entry hearth_llvm_entries[HEARTH_LLVM_MIB_LIMIT]; /* by tag */

/* Set the field that a value of LLVM's stands for; saturates. */
void hearth_llvm_entry_load(uint32_t tag, uint64_t value, hearth_mib *mib);
/* The value of LLVM's that a field is: the greatest that fits if it is too great (*ret_cut counts those). */
uint64_t hearth_llvm_entry_value(uint32_t tag, const hearth_mib *mib, uint64_t *ret_cut);

/* ------------------------------------------------ import ------------------------------------------------ */

/* Allocation sites of LLVM's records into a builder, each context once.
 *
 * LLVM attaches a context to a record for every function of its leaf's inline chain, so the same numbers stand in
 * several records (and twice in one whose function is inlined into itself). A context counts where it is in the record
 * of its leaf's own function; only where that record does not have it, as hand-written profiles may, in the first
 * record that does. Which one that is shows when all records were seen: so every site is given twice, in two passes. */

typedef enum hearth_llvm_pass { HEARTH_LLVM_PASS_LEAF, HEARTH_LLVM_PASS_REST, HEARTH_LLVM_PASSES } hearth_llvm_pass;

typedef struct hearth_llvm_import {
  hearth_builder *builder; /* of HEARTH_IDS_LLVM; borrowed */
  hearth_error *err;
  hearth_llvm_pass pass;
  struct hearth_llvm_known_stack *known;
  size_t known_count, known_room;
  id_table known_by_id;
  uint32_t *key; /* of the stack at hand */
  size_t key_room;
  uint64_t longest_ns; /* that the program is known to have run */
  bool any_access_count, any_density;
  uint64_t contexts, with_column;
} hearth_llvm_import;

/* Line 0 means unknown, and so does the column then: LLVM keeps 0 less the function's first line, which differs from
 * build to build, as the offset. */
static inline uint32_t hearth_llvm_line(uint32_t line_offset, uint32_t column) {
  return column == 0 && line_offset > INT32_MAX ? HEARTH_LINE_UNKNOWN : line_offset;
}

/* One allocation site of the record of `function` (a builder's number). Frames leaf first, n >= 1. */
hearth_status hearth_llvm_import_site(hearth_llvm_import *import, uint32_t function, const hearth_builder_frame *frames,
                                      size_t n, const hearth_mib *mib);
/* After both passes: account for the run, and report missing data. */
hearth_status hearth_llvm_import_finish(hearth_llvm_import *import, hearth_llvm_skipped *ret);
void hearth_llvm_import_free(hearth_llvm_import *import); /* frees its contents; not itself */

/* ------------------------------------------------ memprof section ------------------------------------------------ */

/* The MemProf section of an LLVM profile, version 3 or 4: its head, and the call stacks that its records refer to. */

/* More frames than any profile has: a damaged length must not cost time and memory without end. */
#define HEARTH_LLVM_STACK_LIMIT 65536u

typedef struct hearth_llvm_section {
  const hearth_llvm_input *in;
  uint32_t version;
  uint32_t tags[HEARTH_LLVM_MIB_LIMIT]; /* the schema */
  uint32_t tag_count, mib_bytes;
  uint64_t records, records_control; /* payload and control block of the table of records */
  uint64_t frames, frames_control;   /* arrays: begin and end */
  uint64_t stacks, stacks_control;
  uint64_t data_accesses; /* version 4: of the profile of static data; 0: none */
} hearth_llvm_section;

hearth_status hearth_llvm_section_open(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_section *ret);

/* Frames, with the builder's numbers of their functions. */
typedef struct hearth_llvm_stacks {
  const hearth_llvm_section *section;
  hearth_builder_frame *frames;
  size_t frame_count;
  hearth_builder_frame *buffer; /* the call stack read last */
  size_t buffer_room;
} hearth_llvm_stacks;

/* Read all frames; functions are added to `builder`. To be freed also after an error. */
hearth_status hearth_llvm_stacks_load(const hearth_llvm_section *section, hearth_builder *builder,
                                      hearth_llvm_stacks *ret);
void hearth_llvm_stacks_free(hearth_llvm_stacks *stacks);
/* Take the reference to a call stack from a record, and read its frames, leaf first, at least one. They live until the
 * next call. */
hearth_status hearth_llvm_stacks_take(hearth_llvm_stacks *stacks, hearth_llvm_cursor *record,
                                      const hearth_builder_frame **ret_frames, size_t *ret_count);

/* ------------------------------------------------ data accesses ------------------------------------------------ */

/* LLVM's data access profile, at the end of a MemProf section of version 4: which global variables are hot, and
 * which are known and were not seen. */

/* Add the variables of the part that begins at `offset`. *ret_skipped: it has some without name or, without
 * `inflate`, names that are compressed. */
hearth_status hearth_llvm_take_data_accesses(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_inflate *inflate,
                                             hearth_builder *into, bool *ret_skipped);

/* Write those of a profile; nothing if it has none but literals. */
hearth_status hearth_llvm_put_data_accesses(hearth_llvm_buffer *out, hearth_profile *profile, hearth_error *err);

#endif
