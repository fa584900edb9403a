/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes one profile from raw profiles and the binaries that wrote them, and from profiles of other runs. `hearth merge`
 * and `hearth index` use it. The result depends on the inputs alone, not on their order or grouping.
 *
 *   binary   an executable or shared library with debug information and a build id
 *   input    a raw profile (Hearth's layout or LLVM's, versions 3 to 5), an indexed profile or its text twin; LLVM's
 *            indexed profile (MemProf section, version 3 or 4); a file of llvm-profdata's with Hearth's profile behind
 *            it; a profile of -fprofile-use, which the result is to be put beside
 *
 * A raw profile's mappings and the binaries are matched by build id. If a mapping's binary was not given, the indexer
 * uses the file that the mapping names, as far as it is still the one that ran. At the end it reports the others, if
 * stacks go through them. If binaries were given, each raw profile has to be of one of them. Debug information may be
 * in the binary, in a separate debug file (by build id or debug link), or split (.dwo, .dwp). One thread at a time may
 * use an indexer. */
#ifndef HEARTH_INDEXER_H
#define HEARTH_INDEXER_H

#include <stdint.h>

#include "hearth/builder.h"
#include "hearth/status.h"

HEARTH_C_BEGIN

typedef struct hearth_indexer hearth_indexer;

/* Progress: an input is begun. */
typedef enum hearth_note_level {
  HEARTH_NOTE_PROGRESS,
  HEARTH_NOTE_DETAIL,
  HEARTH_NOTE_WARNING,
  HEARTH_NOTE_ERROR
} hearth_note_level;

/* All zero means: no notes, recursion folded. Strings live for the call only. */
typedef struct hearth_indexer_options {
  size_t size;   /* sizeof(hearth_indexer_options), or 0 */
  void *context; /* first argument of the functions */
  void (*note)(void *context, hearth_note_level level, const char *text);
  bool symbols;        /* functions without debug information by symbol tables and unwind tables */
  bool full_recursion; /* no hearth_builder_fold_recursion */
  bool skip_failing;   /* inputs that cannot be used are told of as warnings, and are left out */
  uint64_t unrecorded; /* see hearth_builder_leave_unrecorded */
  /* The records of a trace, `count` of them, by its nodes; the last is that of blocks without stack. For a view of
   * its own, a caller may add to fields that traces do not have: they are summed by context as all others. */
  void (*trace_records)(void *context, hearth_mib *records, size_t count);
  /* The same for a histogram of each node, which lives until the next call; NULL: none. */
  hearth_histogram (*trace_histogram)(void *context, size_t node);
} hearth_indexer_options;

typedef struct hearth_input {
  const char *path;
  uint64_t weight; /* how many times it counts; at least 1 */
} hearth_input;

/* `options` may be NULL; copied. Destroy accepts NULL. Errors: E_USAGE (options of a newer release), E_NOMEM. */
hearth_status hearth_indexer_create(const hearth_indexer_options *options, hearth_indexer **ret, hearth_error *err);
void hearth_indexer_destroy(hearth_indexer *indexer);

/* Search this folder, too, for separate debug files and split debug information; before the first binary. Errors:
 * E_NOMEM. */
hearth_status hearth_indexer_add_debug_directory(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Open a binary and its debug information; before the first input. Errors: E_IO, E_FORMAT, E_NO_BUILD_ID,
 * E_NO_DEBUG_INFO, E_NOMEM. */
hearth_status hearth_indexer_add_binary(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Add all that a file holds. Errors: E_IO, E_FORMAT,
 * E_VERSION, E_TRUNCATED, E_CORRUPT, E_MISMATCH (no binary fits), those of opening a binary, E_FULL, E_NOMEM. After an
 * error the indexer may hold a part of the input: more inputs may be added to find their errors, but writing would lose
 * data. */
hearth_status hearth_indexer_add_input(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Add several files. Every input that fails is told as a note of level HEARTH_NOTE_ERROR; the status is that of one of
 * them. With skip_failing, an input that fails is none, but for want of memory or of room, and where a part of it was
 * added before. */
hearth_status hearth_indexer_add_inputs(hearth_indexer *indexer, const hearth_input *inputs, size_t count,
                                        hearth_error *err);

/* The builder with the result, for writing it in any form; borrowed. `path` is the file that will be written, for
 * messages. Its function ids are LLVM's if those of any input are. No input may be added from then on. Errors: E_EMPTY
 * (no context to write, or every input left out), E_NO_DEBUG_INFO (none that can be matched), E_MISMATCH, E_FULL,
 * E_NOMEM. */
hearth_status hearth_indexer_result(hearth_indexer *indexer, const char *path, hearth_builder **ret, hearth_error *err);
/* How many inputs were added: without those that were left out. */
size_t hearth_indexer_added(const hearth_indexer *indexer);
/* Name and bytes of the profile of -fprofile-use that was among the inputs; NULL if there was none. Borrowed. */
const char *hearth_indexer_code_profile(const hearth_indexer *indexer, const void **ret_data, size_t *ret_size);

HEARTH_C_END
#endif
