/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From an address to frames: a binary, a cache of frames, the modules of processes; then the
 * contexts of a dump, and those that lack their addresses; last, the indexer that takes all inputs. */
#ifndef HEARTH_INDEX_H
#define HEARTH_INDEX_H

#include <stddef.h>

#include "debug_info.h"
#include "file.h"
#include "hearth/builder.h"
#include "hearth/indexer.h"
#include "hearth/status.h"
#include "object_file.h"
#include "raw_dump.h"

/* ------------------------------------------------ binary ------------------------------------------------ */

/* One profiled executable or shared library: its build id, where its code is, its debug information and types. */

/* The types of a binary's allocation calls (hearth/program_tables.h). */

typedef struct hearth_types {
  struct hearth_type *items; /* sorted */
  size_t count;
  uint8_t *bytes; /* of the section */
} hearth_types;

/* Read a section; without bytes there are no types. Copied. `path` is the binary's, for messages. Free
 * also after an error. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_types_read(hearth_bytes section, const char *path, hearth_types *ret, hearth_error *err);
void hearth_types_free(hearth_types *types);

/* Name of the type that is allocated at a place; no bytes if that is not known, or if several types are. */
hearth_bytes hearth_types_find(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column);

typedef struct hearth_binary hearth_binary;

/* Open an ELF file. Errors: E_IO, E_FORMAT (not a 64-bit little-endian ELF file), E_NO_BUILD_ID,
 * E_CORRUPT, E_NOMEM. */
hearth_status hearth_binary_open(const char *path, hearth_binary **ret, hearth_error *err);
void hearth_binary_close(hearth_binary *binary); /* accepts NULL */

const char *hearth_binary_path(const hearth_binary *binary);
/* Give the binary the path that it was mapped from. Copied. Error: E_NOMEM. */
hearth_status hearth_binary_rename(hearth_binary *binary, const char *path, hearth_error *err);
/* The build id (borrowed) and its size in bytes (1 to HEARTH_RAW_BUILD_ID_MAX). */
const uint8_t *hearth_binary_build_id(const hearth_binary *binary, uint32_t *ret_size);
/* ELF address of an offset in the file that is mapped executable; false if there is none. */
bool hearth_binary_address(const hearth_binary *binary, uint64_t file_offset, uint64_t *ret_address);

/* Its debug information, to be loaded by the caller; lives until close. */
hearth_debug_info *hearth_binary_debug_info(hearth_binary *binary);
/* The types of its allocation calls. */
const hearth_types *hearth_binary_types(const hearth_binary *binary);

/* ------------------------------------------------ frame cache ------------------------------------------------ */

/* Frames of a binary's addresses as rows of the profile builder, computed once for each address. */

typedef struct hearth_frame_cache hearth_frame_cache;

/* Frames [first, first + count) of the cache, innermost first. */
typedef struct hearth_frame_span {
  uint32_t first, count;
  bool of_runtime; /* code of LLVM's profiling runtime */
} hearth_frame_span;

/* `binary` (loaded) and `builder` are borrowed. NULL when out of memory. */
hearth_frame_cache *hearth_frame_cache_create(hearth_binary *binary, hearth_builder *builder);
void hearth_frame_cache_destroy(hearth_frame_cache *cache); /* accepts NULL */

/* Frames of the code at an ELF address: from debug information, or else one with the function's name, if the
 * binary's symbol names were loaded and have it. A frame whose line is unknown has line HEARTH_NONE, column 0.
 * Errors: E_NOMEM, E_FULL, those of hearth_builder_function. */
hearth_status hearth_frame_cache_get(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *ret,
                                     hearth_error *err);
/* The builder's rows of a span; the pointer lives until the next hearth_frame_cache_get. */
const uint32_t *hearth_frame_cache_rows(const hearth_frame_cache *cache, hearth_frame_span span);

/* ------------------------------------------------ modules ------------------------------------------------ */

/* Which binary each mapping of a raw profile is, and how far an indexer has used it: each file is opened once, and
 * its debug information read once. */

typedef struct hearth_modules hearth_modules;

/* A mapping with code of a known binary. */
typedef struct hearth_placed_map {
  const hearth_raw_map *map;
  hearth_binary *binary;
  hearth_frame_cache *cache;
} hearth_placed_map;

/* `builder` is borrowed; options are copied. NULL when out of memory. */
hearth_modules *hearth_modules_create(hearth_builder *builder, const hearth_indexer_options *options);
void hearth_modules_destroy(hearth_modules *modules); /* accepts NULL */

/* Name functions of binaries without debug information by their symbols. */
void hearth_modules_use_symbols(hearth_modules *modules, bool use);
/* A folder with separate debug files, .dwo or .dwp files, or binaries by build id; before the first binary. Copied.
 * Errors: E_NOMEM. */
hearth_status hearth_modules_add_directory(hearth_modules *modules, const char *path, hearth_error *err);
/* Open and load a binary that the user gave; before the first dump. The same one twice is harmless. */
hearth_status hearth_modules_give(hearth_modules *modules, const char *path, hearth_error *err);

/* Is this the preloaded runtime? */
bool hearth_modules_is_runtime(const hearth_raw_map *map);

/* Find the binaries of a dump's mappings.
 *   ret_placed  mappings with a binary, sorted by address, without overlaps (overlapping ones are left out and
 *               reported); the caller frees the array, not the memory that it points to
 * Errors: E_NOMEM. */
hearth_status hearth_modules_place(hearth_modules *modules, const char *name, const hearth_raw_dump *dump,
                                   hearth_placed_map **ret_placed, size_t *ret_count, hearth_error *err);

/* Is a dump worth adding?
 *   is_skipped  if it is not, it is left out already: that is no remedy
 * Errors: E_MISMATCH (binaries were given, and none of them is of the dump; or none is found at all),
 * those of opening the program, E_NOMEM. */
hearth_status hearth_modules_check(hearth_modules *modules, const char *name, const hearth_raw_dump *dump,
                                   bool is_skipped, hearth_error *err);

/* One more address of the dump lies in this mapping, for which hearth_modules_place found no binary. */
void hearth_modules_miss(hearth_modules *modules, const hearth_raw_map *map);

/* A context whose blocks were allocated in this mapping is lost. Returns why the mapping has no binary, if that is
 * not for want of debug information, until the next dump; hearth_modules_report tells of it. NULL: it has one, or is
 * no file. */
const hearth_error *hearth_modules_lose(hearth_modules *modules, const hearth_raw_map *map, uint64_t bytes);
/* The text behind such a reason in a message; may be "". */
const char *hearth_modules_remedy(const hearth_error *reason);

/* Warn of given binaries that were in no dump (a library that these runs did not load, or a mistake), and of mapped
 * files with addresses in the dumps that could not be read: once each. */
void hearth_modules_report(const hearth_modules *modules);

/* ------------------------------------------------ lost contexts ------------------------------------------------ */

/* Contexts of a raw profile that have no frame at all, by the file that their innermost address lies in: notes for the
 * user, with the remedy. */

typedef struct hearth_lost_file {
  const char *path; /* of the mapping or of the binary; NULL: no file is known */
  bool given;       /* a binary that was symbolised: the code lacks debug information */
  const hearth_error
      *reason; /* there is no binary, and why (hearth_modules_lose); NULL: for want of debug information */
  uint64_t contexts, bytes;
} hearth_lost_file;

/* Allocations that found no room for their call stack. */
typedef struct hearth_lost_stacks {
  uint64_t blocks, bytes;
} hearth_lost_stacks;

/* Lost contexts of one dump. All zero at first. */
typedef struct hearth_lost_contexts {
  hearth_lost_file files[64]; /* files that do not fit are counted with the last one */
  size_t count;
  bool uninstrumented; /* the program was recorded unchanged: none of its code was compiled for profiling */
  hearth_lost_stacks no_room;
} hearth_lost_contexts;

void hearth_lost_stacks_add(hearth_lost_stacks *to, const hearth_lost_stacks *more);
/* The note on them, with the remedy. */
void hearth_lost_stacks_print(const hearth_lost_stacks *lost, char *to, size_t size);

/* Count a context of `file`; the memory that it points to is borrowed until the report. */
void hearth_lost_add(hearth_lost_contexts *lost, hearth_lost_file file, uint64_t bytes);
/* One note a file: a warning where the code could have been compiled for profiling, or where a twentieth of all bytes is
 * concerned; else a detail, as every program has blocks of its C library. Where --symbols would do, the largest file
 * stands for all. Contexts with a reason are reported once for all dumps, by hearth_modules_report. */
void hearth_lost_report(const hearth_lost_contexts *lost, const char *name, uint64_t total_bytes,
                        const hearth_indexer_options *options);
/* Why nothing is left, as an error. */
hearth_status hearth_lost_everything(const hearth_lost_contexts *lost, const hearth_indexer_options *options,
                                     hearth_error *err);

/* ------------------------------------------------ dump contexts ------------------------------------------------ */

/* The contexts of one dump of a raw profile: its addresses become frames, its records contexts of a builder. */

/* Counts over the dumps so far. */
typedef struct hearth_dump_counts {
  uint64_t contexts;    /* records with frames */
  uint64_t with_column; /* of these, how many have a column at the allocating call */
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

/* ------------------------------------------------ container types ------------------------------------------------ */

/* The type of a buffer of the C++ library is that of the string or container that owns it: the class of the innermost
 * function of a stack that is a member of one, as the functions are named. */

/* Facts of functions. All zero is empty; free `of_function`. */
typedef struct hearth_container_types {
  uint64_t *of_function; /* by row of the builder */
  size_t room, count;
} hearth_container_types;

/* The id of the type that allocates at this node of the builder, which has its name from now on; 0: code outside of the
 * library, or in none of its containers. E_NOMEM, E_FULL. */
hearth_status hearth_container_type_find(hearth_container_types *types, hearth_builder *builder, uint32_t node,
                                         uint64_t *ret_id, hearth_error *err);

/* ------------------------------------------------ the indexer ------------------------------------------------ */

/* indexer.c creates it and takes the result, index.c fills it. */

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
