/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files. Regular files are mapped, so that pages nobody looks at are never read; pipes, devices and files of a
 * few pages, which take longer to map, are read to their end into a growing array. Writing goes through a
 * replacement. */
#define _GNU_SOURCE /* asprintf */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "hearth/indexed.h"
#include "hearth/llvm_files.h"
#include "hearth/raw.h"
#include "hearth/trace_format.h"

enum { READ_STEP = 65536 };

static hearth_status io_error(hearth_error *err, const char *path, const char *what) {
  return hearth_error_set(err, HEARTH_E_IO, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* -------------------------------------------------- reading -------------------------------------------------- */

static hearth_status map_descriptor(int fd, size_t size, const char *path, hearth_file *ret, hearth_error *err) {
  if (size == 0)
    return HEARTH_OK;
  void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED)
    return io_error(err, path, "map");
  *ret = (hearth_file){data, size, true};
  return HEARTH_OK;
}

static hearth_status read_descriptor(int fd, const char *path, hearth_file *ret, hearth_error *err) {
  size_t size = 0, room = 0;
  uint8_t *data = NULL;
  hearth_status status = HEARTH_OK;
  for (;;) {
    if (size == room && !hearth_array_reserve(&data, &room, size, READ_STEP, 1)) {
      status = hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
      break;
    }
    ssize_t got = read(fd, data + size, room - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      status = io_error(err, path, "read");
    if (got <= 0)
      break;
    size += (size_t)got;
  }
  if (status == HEARTH_OK && size > 0)
    *ret = (hearth_file){.data = data, .size = size};
  else
    free(data);
  return status;
}

static hearth_status file_open_file(const char *path, bool streams, hearth_file *ret, hearth_error *err) {
  struct stat info;
  hearth_status status;
  *ret = (hearth_file){0};
  int fd =
      open(path, O_RDONLY | O_CLOEXEC | (streams ? 0 : O_NONBLOCK)); /* not to wait for the writer of a named pipe */
  if (fd < 0)
    return io_error(err, path, "open");
  if (fstat(fd, &info) != 0)
    status = io_error(err, path, "read");
  else if (S_ISREG(info.st_mode))
    status = (size_t)info.st_size < READ_STEP ? read_descriptor(fd, path, ret, err)
                                              : map_descriptor(fd, (size_t)info.st_size, path, ret, err);
  else if (streams)
    status = read_descriptor(fd, path, ret, err);
  else
    status = hearth_error_set(err, HEARTH_E_IO, "%s: cannot read: is %s; a profile is a regular file", path,
                              S_ISDIR(info.st_mode) ? "a directory" : "a device or pipe");
  close(fd);
  return status;
}

hearth_status hearth_file_map(const char *path, hearth_file *ret, hearth_error *err) {
  return file_open_file(path, false, ret, err);
}

hearth_status hearth_file_read(const char *path, hearth_file *ret, hearth_error *err) {
  return file_open_file(path, true, ret, err);
}

void hearth_file_close(hearth_file *file) {
  if (file->mapped)
    munmap((void *)file->data, file->size);
  else
    free((void *)file->data);
  *file = (hearth_file){0};
}

void hearth_file_release(const hearth_file *file, size_t begin, size_t end) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  begin &= ~(page - 1);
  end &= ~(page - 1);
  if (file->mapped && begin < end)
    madvise((void *)(file->data + begin), end - begin, MADV_DONTNEED);
}

/* -------------------------------------------------- writing -------------------------------------------------- */

/* Closes `fd`. */
static hearth_status file_write_all(int fd, const char *path, const uint8_t *data, size_t size, hearth_error *err) {
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      hearth_status status = io_error(err, path, "write");
      close(fd);
      return status;
    }
    data += n;
    size -= (size_t)n;
  }
  return close(fd) == 0 ? HEARTH_OK : io_error(err, path, "write");
}

hearth_status hearth_file_write(const char *path, const void *data, size_t size, hearth_error *err) {
  hearth_replacement replacement;
  HEARTH_TRY(hearth_replacement_begin(&replacement, path, err));
  hearth_status status = file_write_all(replacement.fd, path, data, size, err);
  hearth_status ended = hearth_replacement_end(&replacement, status == HEARTH_OK, err);
  return status == HEARTH_OK ? ended : status;
}

hearth_status hearth_stream_flush(FILE *stream, hearth_error *err) {
  bool failed_before = ferror(stream);
  if (failed_before) { /* errno may be of a later call: as a rule, one more write fails for the same reason */
    clearerr(stream);
    fputc('\n', stream);
  }
  if (fflush(stream) != 0)
    return hearth_error_set(err, HEARTH_E_IO, "cannot write: %s", strerror(errno));
  return failed_before ? hearth_error_set(err, HEARTH_E_IO, "cannot write all of it") : HEARTH_OK;
}

/* Names of files, by the last separator. Windows' separator counts: profiles may name files of such builds. */

FILE *hearth_open_proc(int pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return fopen(path, "re");
}

const char *hearth_base_name(const char *path) {
  const char *base = path;
  for (const char *p = path; *p; p++)
    if (*p == '/' || *p == '\\')
      base = p + 1;
  return base;
}

/* Tells kinds of files by their first bytes: the magic numbers of the formats, the first words of texts. */

#define RAW_PROFILE "a raw profile: use 'hearth index'"

static bool begins_with(const void *data, size_t size, const char *text) {
  return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

bool hearth_is_text_profile(const void *data, size_t size) {
  size_t length = strlen(HEARTH_TEXT_FIRST_WORD);
  return size > length && memcmp(data, HEARTH_TEXT_FIRST_WORD, length) == 0 &&
         strchr(" \t", ((const char *)data)[length]);
}

bool hearth_llvm_is_container(const void *data, size_t size) {
  uint64_t magic = 0;
  if (size >= sizeof magic)
    memcpy(&magic, data, sizeof magic);
  return magic == HEARTH_LLVM_INDEXED_MAGIC;
}

static const char *kind_of_raw(const void *data, size_t size) {
  hearth_raw_header header;
  if (size < sizeof header)
    return RAW_PROFILE;
  memcpy(&header, data, sizeof header);
  return header.flags & HEARTH_RAW_OCCASION_MASK ? "a heap dump: use 'hearth heap', 'hearth report' or 'hearth index'"
                                                 : RAW_PROFILE;
}

/* As llvm-profdata prints it. What begins otherwise it does not read either. */
static bool is_llvm_yaml(const void *data, size_t size) {
  return begins_with(data, size, "---\n# MemProfSummary:") || begins_with(data, size, "---\nHeapProfileRecords:") ||
         begins_with(data, size, "---\nDataAccessProfiles:");
}

static const char *kind_of_text(const void *data, size_t size) {
  if (hearth_is_text_profile(data, size))
    return "the text form of a profile: use 'hearth index'";
  if (begins_with(data, size, "hearth-trace-text "))
    return "the text of a trace: use the trace itself";
  if (is_llvm_yaml(data, size))
    return "LLVM's YAML: make an indexed profile of it with 'llvm-profdata merge --memprof-full-schema'";
  if (begins_with(data, size, "\177ELF"))
    return "a program or library: 'hearth index' takes it with --binary";
  return NULL;
}

const char *hearth_file_kind(const void *data, size_t size) {
  const uint64_t magic_llvm_counters = UINT64_C(0xff6c70726f667281); /* LLVM's InstrProf, raw */
  uint64_t magic = 0;
  if (size >= sizeof magic)
    memcpy(&magic, data, sizeof magic);
  if (magic == HEARTH_INDEXED_MAGIC)
    return "an indexed profile: use 'hearth show' or 'hearth report'";
  if (magic == HEARTH_RAW_MAGIC)
    return kind_of_raw(data, size);
  if (magic == HEARTH_TRACE_MAGIC)
    return "a trace: use 'hearth trace', 'hearth report' or 'hearth index'";
  if (magic == HEARTH_LLVM_RAW_MAGIC)
    return "a raw profile of LLVM's MemProf: use 'hearth index'";
  if (magic == magic_llvm_counters)
    return "a raw profile of -fprofile-generate, not of the heap";
  if (hearth_llvm_is_container(data, size))
    return "an indexed profile of LLVM: use 'hearth merge'";
  return kind_of_text(data, size);
}

/* ------------------------------------------------ replacement ------------------------------------------------ */

/* Replaces files. A temporary file is created beside the target, found through symbolic links, and renamed onto it at
 * the end. Names of temporary files stand in an array of atomic pointers, from which a signal's handler removes them. */

enum { LINKS_MAX = 40 /* as Linux has it */, NAMES_MAX = 1000, BEGUN_MAX = 16 };

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
static char *file_follow_links(const char *path) {
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
static hearth_status file_create_temporary(hearth_replacement *r, hearth_error *err) {
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
  replacement->target = file_follow_links(path);
  if (!replacement->target)
    return io_error(err, path, "write");
  hearth_status status = file_create_temporary(replacement, err);
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
