/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps: the blocks that were live at moments of a run (docs/formats/raw.md, "Heap dumps"). Words:
 *
 *   node   a frame and its caller's node; stacks are one forest, shared by all dumps
 *   entry  blocks of one stack and type that were live
 *   heap   the allocator that handed the blocks out: malloc, or one of the program's own
 */
#ifndef HEARTH_HEAP_DUMPS_H
#define HEARTH_HEAP_DUMPS_H

#include "hearth/indexer.h"
#include "hearth/raw.h"

HEARTH_C_BEGIN

typedef struct hearth_heap_node {
  uint32_t parent;       /* of the caller, lower than the own; HEARTH_NONE: a root */
  const char *function;  /* linkage name; a scope's name; "FILE+0xOFFSET" where no more is known */
  const char *path;      /* of the source, or of the binary where no source is known; HEARTH_SCOPE_FILE of scopes */
  uint32_t start_line;   /* of the function; 0 unknown */
  uint32_t line, column; /* 0 unknown */
  bool inlined;          /* into the caller's frame */
} hearth_heap_node;

typedef struct hearth_heap_entry {
  uint32_t node; /* where the blocks were allocated; HEARTH_NONE: not known */
  uint32_t type; /* row of `names`; 0: not known */
  uint32_t heap; /* row of `names` */
  uint64_t blocks, bytes;
  uint64_t residency[HEARTH_RAW_RESIDENCIES]; /* bytes; 0 if the dump has no such numbers */
} hearth_heap_entry;

typedef struct hearth_heap_dump {
  const char *name; /* of the file */
  enum hearth_raw_occasion occasion;
  uint64_t time_ns, start_unix_ns, pid; /* since the start of the run; that start; */
  uint64_t sample_bytes;                /* numbers are estimates from one block for so many bytes; 0: they are exact */
  uint64_t dropped_blocks;
  uint64_t profiler_bytes; /* that the profiler itself uses */
  bool has_residency;
  hearth_heap_entry *entries; /* by node, callers first; one for each node, heap and type */
  size_t entry_count;
} hearth_heap_dump;

/* By process, those that began first first, then by time. All lives as long as the reader. */
typedef struct hearth_heap_dumps {
  hearth_heap_node *nodes;
  const char **names; /* of types and heaps: the first is that of an unknown type, the second "malloc" */
  hearth_heap_dump *dumps;
  size_t node_count, name_count, dump_count;
} hearth_heap_dumps;

#define HEARTH_HEAP_UNKNOWN_TYPE 0u
#define HEARTH_HEAP_MALLOC       1u

typedef struct hearth_heap_reader hearth_heap_reader;

/* These work as hearth_indexer_create and the calls that add to an indexer. Code without debug information gets the
 * names of symbol tables, so a binary without debug information is no error. Destroy accepts NULL. */
hearth_status hearth_heap_reader_create(const hearth_indexer_options *options, hearth_heap_reader **ret,
                                        hearth_error *err);
void hearth_heap_reader_destroy(hearth_heap_reader *reader);
hearth_status hearth_heap_reader_add_binary(hearth_heap_reader *reader, const char *path, hearth_error *err);

/* Add all dumps of a file. Errors: those of files and raw profiles; E_FORMAT: it holds a profile, not a heap dump. */
hearth_status hearth_heap_reader_add(hearth_heap_reader *reader, const char *path, hearth_error *err);

/* The same for a file's bytes, borrowed for the call; `name` is the name of the dumps. */
hearth_status hearth_heap_reader_add_memory(hearth_heap_reader *reader, const void *data, size_t size, const char *name,
                                            hearth_error *err);

/* The dumps that were added; valid as long as the reader. Nothing may be added from then on. E_NOMEM. */
hearth_status hearth_heap_reader_result(hearth_heap_reader *reader, const hearth_heap_dumps **ret, hearth_error *err);

/* Add numbers to those of another entry. */
void hearth_heap_add(hearth_heap_entry *into, const hearth_heap_entry *from);
/* Sums over all entries; node, type and heap mean nothing. */
hearth_heap_entry hearth_heap_total(const hearth_heap_dump *dump);

/* Are both of one run of a process? Others have the same number some time later. */
bool hearth_heap_same_process(const hearth_heap_dump *a, const hearth_heap_dump *b);

/* Heap dumps for people and for other tools. */

typedef struct hearth_heap_view_options {
  size_t size;     /* sizeof(hearth_heap_view_options), or 0 */
  size_t most;     /* entries that are listed; 0: all */
  bool full_names; /* print demangled names with parameters and template arguments */
} hearth_heap_view_options;

/* A line for each dump; then, unless `dump` is NULL, the live blocks of that one, most bytes first. E_IO, E_NOMEM. */
hearth_status hearth_heap_print(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                const hearth_heap_view_options *options, FILE *stream, hearth_error *err);

/* All dumps as JSON of Chrome's trace viewer (chrome://tracing, "memory-infra" dumps with heaps_v2). E_IO, E_NOMEM. */
hearth_status hearth_heap_export_chrome(const hearth_heap_dumps *dumps, const hearth_heap_view_options *options,
                                        FILE *stream, hearth_error *err);

/* How a node is called, as in views of profiles. Free with free(); NULL: out of memory. */
char *hearth_heap_node_name(const hearth_heap_node *node, const hearth_heap_view_options *options);

HEARTH_C_END
#endif
