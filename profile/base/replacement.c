/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Replaces files. A temporary file is created beside the target, found through symbolic links, and renamed onto it at
 * the end. Names of temporary files stand in an array of atomic pointers, from which a signal's handler removes them. */
#define _GNU_SOURCE /* asprintf */
#include "replacement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 /* as Linux has it */, NAMES_MAX = 1000, BEGUN_MAX = 16 };

static hearth_status io_error(hearth_error *err, const char *path, const char *what) {
  return hearth_error_set(err, HEARTH_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* -------------------------------------------------- signals -------------------------------------------------- */

/* Temporary files that are there. More than these at a time would stay behind after a signal. */
static _Atomic(char *) begun[BEGUN_MAX];

static void add_begun(char *temporary) {
  for (size_t i = 0; i < BEGUN_MAX; i++) {
    char *none = NULL;
    if (atomic_compare_exchange_strong(&begun[i], &none, temporary))
      return;
  }
}

static void remove_begun(char *temporary) {
  for (size_t i = 0; i < BEGUN_MAX; i++) {
    char *expected = temporary;
    if (atomic_compare_exchange_strong(&begun[i], &expected, NULL))
      return;
  }
}

void hearth_replacement_remove_all(void) {
  int saved = errno;
  for (size_t i = 0; i < BEGUN_MAX; i++) {
    char *temporary = atomic_exchange(&begun[i], NULL);
    if (temporary)
      unlink(temporary);
  }
  errno = saved;
}

/* -------------------------------------------------- names -------------------------------------------------- */

/* The path that the text of the symbolic link `link` stands for. */
static char *link_target(const char *link, const char *text) {
  const char *slash = strrchr(link, '/');
  char *target;
  if (*text == '/' || !slash)
    return strdup(text);
  return asprintf(&target, "%.*s%s", (int)(slash + 1 - link), link, text) < 0 ? NULL : target;
}

/* Where symbolic links lead, whether there is a file yet or not. NULL, with errno, if that cannot be told. */
static char *follow_links(const char *path) {
  char text[PATH_MAX];
  char *at = strdup(path);
  for (int links = 0; at && links < LINKS_MAX; links++) {
    ssize_t size = readlink(at, text, sizeof text - 1);
    if (size < 0) /* no link; other errors show when the file is made */
      return at;
    text[size] = '\0';
    char *next = link_target(at, text);
    free(at);
    at = next;
  }
  if (at)
    errno = ELOOP;
  free(at);
  return NULL;
}

/* Beside the target, so that the rename stays in one file system. */
static hearth_status create_temporary(hearth_replacement *r, hearth_error *err) {
  r->fd = -1;
  errno = EEXIST;
  for (unsigned i = 0; r->fd < 0 && errno == EEXIST && i < NAMES_MAX; i++) {
    free(r->temporary);
    if (asprintf(&r->temporary, "%s.tmp%ld-%u", r->target, (long)getpid(), i) < 0) {
      r->temporary = NULL;
      return hearth_error_nomem(err);
    }
    r->fd = open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (r->fd < 0)
    return io_error(err, r->path, "create");
  add_begun(r->temporary);
  return HEARTH_OK;
}

static hearth_status keep_mode(hearth_replacement *r, mode_t mode, hearth_error *err) {
  if (fchmod(r->fd, mode & 07777) == 0)
    return HEARTH_OK;
  hearth_status status = io_error(err, r->path, "keep the mode of the file");
  close(r->fd);
  unlink(r->temporary);
  remove_begun(r->temporary);
  return status;
}

/* -------------------------------------------------- life -------------------------------------------------- */

static void free_names(hearth_replacement *r) {
  free(r->temporary);
  free(r->target);
  r->temporary = r->target = NULL;
}

static hearth_status open_in_place(hearth_replacement *r, hearth_error *err) {
  r->fd = open(r->path, O_WRONLY | O_CLOEXEC);
  return r->fd < 0 ? io_error(err, r->path, "open") : HEARTH_OK;
}

hearth_status hearth_replacement_begin(hearth_replacement *replacement, const char *path, hearth_error *err) {
  struct stat info = {0};
  *replacement = (hearth_replacement){.path = path, .fd = -1};
  bool exists = stat(path, &info) == 0;
  if (!exists && errno != ENOENT)
    return io_error(err, path, "write");
  if (exists && S_ISDIR(info.st_mode))
    return hearth_error_set(err, HEARTH_E_IO, "%s: cannot write: is a directory", path);
  if (exists && !S_ISREG(info.st_mode))
    return open_in_place(replacement, err);
  replacement->target = follow_links(path);
  if (!replacement->target)
    return io_error(err, path, "write");
  hearth_status status = create_temporary(replacement, err);
  if (status == HEARTH_OK && exists)
    status = keep_mode(replacement, info.st_mode, err);
  if (status != HEARTH_OK)
    free_names(replacement);
  return status;
}

hearth_status hearth_replacement_end(hearth_replacement *replacement, bool keep, hearth_error *err) {
  hearth_status status = HEARTH_OK;
  if (!replacement->temporary)
    return HEARTH_OK;
  if (keep && rename(replacement->temporary, replacement->target) != 0)
    status = io_error(err, replacement->path, "replace");
  if (!keep || status != HEARTH_OK)
    unlink(replacement->temporary);
  remove_begun(replacement->temporary);
  free_names(replacement);
  return status;
}
