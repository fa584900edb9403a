/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer: indexer.c creates and sums it and takes the result, index.c fills it, workers.c has several fill
 * it. A worker is an indexer that tells through its owner and is added to it in the end. */
#ifndef HEARTH_INDEXER_STATE_H
#define HEARTH_INDEXER_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "file.h"
#include "hearth/indexer.h"
#include "id_table.h"
#include "symboliser.h"

typedef struct hearth_known_file {
  dev_t device;
  ino_t number;
  uint64_t weight;
} hearth_known_file;

/* Inputs of one kind, which messages name by the first of their names: that name does not depend on which worker read
 * which input. */
typedef struct hearth_named_inputs {
  size_t count;
  char *name; /* NULL: none */
} hearth_named_inputs;

struct hearth_indexer {
  hearth_indexer *owner;          /* itself, if it is no worker */
  hearth_indexer_options options; /* the user's; of the owner only */
  pthread_mutex_t lock;           /* of the owner: one call of the user's functions at a time */
  hearth_indexer_options told;    /* callbacks that lead to the owner's, for functions that this indexer calls */
  hearth_builder *builder;
  hearth_builder *llvm; /* for inputs with LLVM's function ids; one result is made of both in the end */
  bool united;          /* the one result was made */
  hearth_file code;     /* a profile of -fprofile-use that is to get the heap profile; of the owner only */
  char *code_name;
  hearth_binaries *binaries; /* the owner's */
  hearth_modules *modules;
  hearth_dump_counts counts;
  hearth_lost_stacks lost_stacks;
  hearth_named_inputs no_room;   /* inputs with allocations whose call stacks found no room */
  size_t counted;                /* inputs that accesses were counted in */
  hearth_named_inputs densities; /* of whose accesses the densities are known only: one makes that so of all */
  hearth_named_inputs uncounted; /* others: one takes the classes of all away */
  size_t added, skipped;         /* inputs */
  char *left_out;                /* a line for each that was skipped; NULL: none */
  size_t left_out_size, left_out_room;
  bool has_code;        /* a profile of -fprofile-use was among them */
  bool has_part;        /* of an input that failed */
  hearth_error nothing; /* why no context came out of the dumps so far */
  hearth_known_file *known;
  size_t known_count, known_room;
  id_table known_by_number;
};

/* NULL when out of memory; to be destroyed before its owner. */
hearth_indexer *hearth_indexer_create_worker(hearth_indexer *owner);

/* Add a worker's results to another indexer: its owner, or another worker of that. Errors: E_NOMEM, E_FULL. */
hearth_status hearth_indexer_collect(hearth_indexer *into, const hearth_indexer *worker, hearth_error *err);

/* Was this regular file added before? A pattern and a name may well lead to one file; its runs are counted once, and
 * the user is told. If not, it is from now on. Errors: E_USAGE if it was added with another weight, as the result would
 * depend on which is first. */
hearth_status hearth_indexer_is_known(hearth_indexer *ix, const hearth_input *input, bool *ret, hearth_error *err);
/* Count `count` more inputs; `name` is the first one's. Error: E_NOMEM. */
hearth_status hearth_named_inputs_add(hearth_named_inputs *inputs, size_t count, const char *name, hearth_error *err);
/* A note to the user, through the owner. */
void hearth_indexer_tell(hearth_indexer *ix, hearth_note_level level, const char *text);
/* An input is left out for this reason: tell it, and remember. Error: E_NOMEM. */
hearth_status hearth_indexer_skip(hearth_indexer *ix, const char *reason, hearth_error *err);
void hearth_indexer_tell_begun(hearth_indexer *owner, const char *path, size_t number, size_t count);
/* On an error other than E_NOMEM, E_FULL and E_USAGE, nothing of the input was added, unless has_part says so. */
hearth_status hearth_indexer_add_unknown(hearth_indexer *ix, const hearth_input *input, hearth_error *err);

#endif
