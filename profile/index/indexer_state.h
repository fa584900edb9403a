/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer: indexer.c creates it and takes the result, index.c fills it. */
#ifndef HEARTH_INDEXER_STATE_H
#define HEARTH_INDEXER_STATE_H

#include "file.h"
#include "hearth/indexer.h"
#include "symboliser.h"

/* Inputs of one kind, which messages name by the first of their names, whatever their order. */
typedef struct hearth_named_inputs {
  size_t count;
  char *name; /* NULL: none */
} hearth_named_inputs;

struct hearth_indexer {
  hearth_indexer_options options;
  hearth_builder *builder;
  hearth_builder *llvm; /* for inputs with LLVM's function ids; one result is made of both in the end */
  bool united;          /* the one result was made */
  hearth_file code;     /* a profile of -fprofile-use that is to get the heap profile */
  char *code_name;
  hearth_modules *modules;
  hearth_dump_counts counts;
  hearth_lost_stacks lost_stacks;
  hearth_named_inputs no_room;   /* inputs with allocations whose call stacks found no room */
  size_t counted;                /* inputs that accesses were counted in */
  hearth_named_inputs densities; /* of whose accesses the densities are known only: one makes that so of all */
  hearth_named_inputs uncounted; /* others: one takes the classes of all away */
  size_t added, skipped;         /* inputs */
  bool has_part;                 /* of an input that failed */
  hearth_error nothing;          /* why no context came out of the dumps so far */
};

/* With the indexer's options; NULL when out of memory. */
hearth_builder *hearth_indexer_create_builder(const hearth_indexer *ix, enum hearth_id_scheme scheme);
/* Add all that another builder holds. */
hearth_status hearth_indexer_add_builder(hearth_builder *builder, hearth_builder *from, hearth_error *err);
void hearth_indexer_tell(hearth_indexer *ix, hearth_note_level level, const char *text);

#endif
