/* From raw profiles and the binaries that wrote them to one indexed profile: what `hearth index` does.
 *
 *   binary   an executable or shared library with debug information and a build id
 *   input    a raw profile (Hearth's layout or LLVM's, versions 3 to 5), an indexed profile or its text twin
 *
 * A raw profile's mappings and the binaries are matched by build id. If no binary was given, those that the mappings
 * name are used, as far as they are still the ones that ran. Debug information may be in the binary, in a separate debug
 * file (by build id or debug link), or split (.dwo, .dwp). One thread at a time. */
#ifndef HEARTH_INDEXER_H
#define HEARTH_INDEXER_H

#include <stdint.h>

#include "hearth/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_indexer hearth_indexer;

typedef enum hearth_note_level { HEARTH_NOTE_DETAIL, HEARTH_NOTE_WARNING } hearth_note_level;

/* All zero means: no notes, no progress. Strings live for the call only. */
typedef struct hearth_indexer_options {
  void *context; /* first argument of the functions */
  void (*note)(void *context, hearth_note_level level, const char *text);
  /* `done` of `total` addresses of the input called `name` are symbolised. */
  void (*progress)(void *context, const char *name, uint64_t done, uint64_t total);
} hearth_indexer_options;

/* `options` may be NULL; copied. NULL when out of memory. Destroy accepts NULL. */
hearth_indexer *hearth_indexer_create(const hearth_indexer_options *options);
void hearth_indexer_destroy(hearth_indexer *indexer);

/* Search this folder, too, for separate debug files and split debug information; before the first binary. Errors:
 * E_NOMEM. */
hearth_status hearth_indexer_add_debug_directory(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Open a binary and its debug information; before the first input. Errors: E_IO, E_FORMAT, E_NO_BUILD_ID,
 * E_NO_DEBUG_INFO, E_NOMEM. */
hearth_status hearth_indexer_add_binary(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Add all that a file holds. Errors: E_IO, E_FORMAT, E_VERSION, E_TRUNCATED, E_CORRUPT, E_MISMATCH (no binary fits),
 * those of opening a binary, E_FULL, E_NOMEM. After an error the indexer may hold a part of the input: more inputs may
 * be added to find their errors, but writing would lose data. */
hearth_status hearth_indexer_add_input(hearth_indexer *indexer, const char *path, hearth_error *err);

/* Write the indexed profile; `path` is replaced whole or not at all. Errors: E_EMPTY (no context to write),
 * E_NO_DEBUG_INFO (none that can be matched), E_IO, E_FULL, E_NOMEM. */
hearth_status hearth_indexer_write(hearth_indexer *indexer, const char *path, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
