/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The contexts of one dump of a raw profile: its addresses become frames, its records contexts of a builder. */
#ifndef HEARTH_DUMP_CONTEXTS_H
#define HEARTH_DUMP_CONTEXTS_H

#include "lost_contexts.h"
#include "modules.h"
#include "raw_dump.h"

/* Bytes by the library that allocated them. The last row is of all others, once there are too many. */
typedef struct hearth_library_bytes {
  struct {
    char name[64]; /* of the file */
    uint64_t bytes;
  } rows[16];
  size_t count;
} hearth_library_bytes;

void hearth_library_bytes_add(hearth_library_bytes *to, const char *name, uint64_t bytes);

/* Counts over the dumps so far. */
typedef struct hearth_dump_counts {
  uint64_t contexts;              /* records with frames */
  uint64_t with_column;           /* of these, how many have a column at the allocating call */
  uint64_t bytes;                 /* that these allocated */
  hearth_library_bytes libraries; /* of these, in code without debug information */
} hearth_dump_counts;

/* Called for each record.
 *   node    of the builder: the record's stack; HEARTH_NONE: no function of it is known
 *   record  DataTypeId is the builder's */
typedef hearth_status hearth_dump_visit(void *closure, uint32_t node, const hearth_raw_record *record,
                                        hearth_error *err);

/* Call `visit` for a dump's records, whose stacks become the builder's; nothing else is added. It works as
 * hearth_dump_add, with two differences: records without frames are visited, too; and it is no error if no binary can
 * be used: then no record has frames. */
hearth_status hearth_dump_each(hearth_builder *builder, hearth_modules *modules, const hearth_indexer_options *options,
                               const char *name, hearth_raw_dump *dump, hearth_dump_visit *visit, void *closure,
                               hearth_error *err);

/* Add a dump's contexts and its run.
 *   name    of the file, for messages
 *   dump    its records are used up
 *   counts  added to
 *   lost    written: the records that no context came of
 * Errors: those of hearth_modules_place and of symbolising, E_FULL, E_NOMEM. */
hearth_status hearth_dump_add(hearth_builder *builder, hearth_modules *modules, const hearth_indexer_options *options,
                              const char *name, hearth_raw_dump *dump, hearth_dump_counts *counts,
                              hearth_lost_contexts *lost, hearth_error *err);

#endif
