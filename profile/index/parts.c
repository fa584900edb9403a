/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A part is up to three files in the folder: KEY.heap, KEY.llvm.heap with the contexts that have LLVM's function ids, and
 * KEY.left-out with a line for each input that could not be used. KEY.heap is written last, so its presence says that all are
 * there; each appears whole. */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROOM_FOR_NAME = 64 };

static void hash_number(XXH3_state_t *state, uint64_t number) { XXH3_64bits_update(state, &number, sizeof number); }

static void hash_text(XXH3_state_t *state, const char *text) { XXH3_64bits_update(state, text, strlen(text) + 1); }

/* Whatever changes the contexts that come out of an input. */
static void hash_options(XXH3_state_t *state, const hearth_indexer *owner) {
  const hearth_known_binary *given;
  const char *directory;
  hash_number(state, HEARTH_INDEXED_VERSION);
  hash_number(state, owner->options.full_recursion);
  hash_number(state, owner->options.symbols);
  hash_number(state, owner->options.unrecorded);
  for (size_t i = 0; (given = hearth_binaries_given(owner->binaries, i)); i++)
    XXH3_64bits_update(state, given->build_id, given->build_id_size);
  for (size_t i = 0; (directory = hearth_binaries_directory(owner->binaries, i)); i++)
    hash_text(state, directory);
}

static bool hash_input(XXH3_state_t *state, const hearth_input *input) {
  struct stat info;
  if (stat(input->path, &info) == 0 && !S_ISREG(info.st_mode))
    return false;
  bool is_there = stat(input->path, &info) == 0;
  hash_text(state, input->path);
  hash_number(state, input->weight);
  hash_number(state, input->scale);
  hash_number(state, is_there ? (uint64_t)info.st_size : UINT64_MAX);
  hash_number(state, is_there ? (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec : 0);
  return true;
}

void hearth_part_name(const hearth_indexer *ix, const hearth_batch *batch, hearth_part *ret) {
  XXH3_state_t *state = XXH3_createState();
  ret->key = 0;
  if (!state)
    return;
  XXH3_64bits_reset(state);
  hash_options(state, ix->owner);
  bool good = true;
  for (size_t i = 0; good && i < batch->count; i++)
    good = hash_input(state, batch->inputs[i]);
  if (good)
    ret->key = XXH3_64bits_digest(state);
  XXH3_freeState(state);
}

/* The caller frees it; NULL: out of memory. */
static char *path_of(const hearth_indexer *ix, const hearth_part *part, const char *suffix) {
  const char *folder = ix->owner->options.parts;
  size_t size = strlen(folder) + ROOM_FOR_NAME;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%s/%016llx%s", folder, (unsigned long long)part->key, suffix);
  return path;
}

/* Name the inputs again that were left out when the part was made. */
static void tell_left_out(hearth_indexer *ix, const char *path) {
  hearth_file file;
  hearth_error err;
  if (hearth_file_map(path, &file, NULL) != HEARTH_OK)
    return;
  for (size_t at = 0, end; at < file.size; at = end + 1) {
    const uint8_t *newline = memchr(file.data + at, '\n', file.size - at);
    end = newline ? (size_t)(newline - file.data) : file.size;
    char *line = strndup((const char *)file.data + at, end - at);
    if (line)
      hearth_indexer_skip(ix, line, &err);
    free(line);
  }
  hearth_file_close(&file);
}

static bool add_file(hearth_indexer *ix, const char *path) {
  const hearth_input input = {path, 1, 1};
  return hearth_indexer_add_unknown(ix, &input, NULL) == HEARTH_OK;
}

bool hearth_part_add(hearth_indexer *ix, const hearth_part *part, const hearth_batch *batch) {
  if (part->key == 0)
    return false;
  char *main = path_of(ix, part, ".heap"), *llvm = path_of(ix, part, ".llvm.heap");
  char *left_out = path_of(ix, part, ".left-out");
  size_t added = ix->added, skipped = ix->skipped;
  bool good = main && llvm && left_out && access(main, R_OK) == 0 && (access(llvm, F_OK) != 0 || add_file(ix, llvm)) &&
              add_file(ix, main);
  if (good) {
    tell_left_out(ix, left_out);
    ix->added = added + batch->count - (ix->skipped - skipped);
  }
  free(main);
  free(llvm);
  free(left_out);
  return good;
}

static hearth_status write_builder(hearth_indexer *ix, const hearth_part *part, hearth_builder *builder,
                                   const char *suffix, hearth_error *err) {
  char *path = path_of(ix, part, suffix);
  hearth_status status = path ? hearth_builder_write(builder, path, err) : hearth_error_nomem(err);
  free(path);
  return status;
}

static hearth_status write_left_out(hearth_indexer *ix, const hearth_part *part, hearth_error *err) {
  char *path = path_of(ix, part, ".left-out");
  hearth_status status =
      path ? hearth_file_write(path, ix->left_out, strlen(ix->left_out), err) : hearth_error_nomem(err);
  free(path);
  return status;
}

hearth_status hearth_part_keep(hearth_indexer *ix, const hearth_part *part, hearth_error *err) {
  if (part->key == 0 || ix->has_code)
    return HEARTH_OK;
  if (mkdir(ix->owner->options.parts, 0777) != 0 && errno != EEXIST)
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot make the folder of parts: %s", ix->owner->options.parts,
                            strerror(errno));
  if (ix->left_out)
    HEARTH_TRY(write_left_out(ix, part, err));
  if (hearth_builder_context_count(ix->llvm) > 0)
    HEARTH_TRY(write_builder(ix, part, ix->llvm, ".llvm.heap", err));
  return write_builder(ix, part, ix->builder, ".heap", err);
}
