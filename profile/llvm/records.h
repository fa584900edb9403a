/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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
#ifndef HEARTH_LLVM_RECORDS_H
#define HEARTH_LLVM_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/llvm_container.h"
#include "hearth/llvm_profile.h"
#include "hearth/mib.h"
#include "id_table.h"

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

/* A bit for each column that some entry holds. */
uint64_t hearth_llvm_held_columns(void);

/* Is a context cold by the rule of LLVM's compiler with its default options? */
bool hearth_llvm_is_cold(const hearth_mib *mib);

#endif
