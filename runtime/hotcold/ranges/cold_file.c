/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An unlinked file, mapped over part of the range. Its pages are reserved by fallocate before they are handed out. */
#define _GNU_SOURCE
#include "cold_file.h"

#include "fatal.h"
#include "hotcold_options.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  /* Programs that close and open their standard streams must not get the file in their place. */
  LEAST_DESCRIPTOR = 100,
};
/* Smaller holes between private pages are not worth a file. */
#define LEAST_WINDOW_BYTES ((size_t)64 << 20)
#define FILE_NAME          "/hearth-cold-XXXXXX"

static struct {
  char *start, *end; /* empty: no window */
  int descriptor;
  dev_t device; /* so that a descriptor which the program closed and got again for another file is not touched */
  ino_t inode;
} window = {.descriptor = -1};
static char directory[HEARTH_HOTCOLD_PATH_BYTES]; /* empty: no file can be had */

static bool descriptor_is_ours(void) {
  struct stat status;
  return !fstat(window.descriptor, &status) && status.st_dev == window.device && status.st_ino == window.inode;
}

static bool is_in_memory(int descriptor) {
  struct statfs system;
  return !fstatfs(descriptor, &system) && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

/* ftruncate beyond the limit would be answered by a signal. */
static bool is_within_limit(size_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= bytes;
}

/* NULL if `descriptor` has become a file of `bytes` that can serve, else the reason why not. */
static const char *shape_file(int descriptor, size_t bytes) {
  if (is_in_memory(descriptor))
    return "is in memory itself";
  if (!is_within_limit(bytes) || ftruncate(descriptor, (off_t)bytes))
    return "takes no file of this size";
  if (fallocate(descriptor, 0, 0, HEARTH_PAGE_BYTES))
    return "has no room, or cannot reserve any";
  return NULL;
}

/* A descriptor of a file without a name, or -1. */
static int create_file(void) {
  char path[HEARTH_HOTCOLD_PATH_BYTES + sizeof FILE_NAME];
  stpcpy(stpcpy(path, directory), FILE_NAME);
  int low = mkostemp(path, O_CLOEXEC);
  if (low < 0)
    return -1;
  unlink(path);
  int descriptor = fcntl(low, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
  close(low);
  return descriptor;
}

static bool map_at(char *start, size_t bytes, int kind, int descriptor) {
  return mmap(start, bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED | MAP_NORESERVE, descriptor, 0) != MAP_FAILED;
}

/* A thread that comes for one cold block has no use for its neighbours: nothing is read ahead. */
static bool map_file(char *start, size_t bytes, int kind, int descriptor) {
  bool mapped = map_at(start, bytes, kind, descriptor);
  madvise(start, bytes, MADV_RANDOM);
  return mapped;
}

/* NULL, or the reason why not. */
static const char *open_window(char *start, size_t bytes) {
  struct stat status;
  int descriptor = create_file();
  if (descriptor < 0)
    return "takes no file of ours";
  const char *missing = shape_file(descriptor, bytes);
  if (!missing && (fstat(descriptor, &status) || !map_file(start, bytes, MAP_SHARED, descriptor)))
    missing = "has a file that cannot be mapped";
  if (missing) {
    close(descriptor);
    return missing;
  }
  window.start = start;
  window.end = start + bytes;
  window.descriptor = descriptor;
  window.device = status.st_dev;
  window.inode = status.st_ino;
  return NULL;
}

static void close_window(void) {
  close(window.descriptor);
  window.start = window.end = NULL;
  window.descriptor = -1;
}

static void warn(const char *missing) {
  char detail[HEARTH_HOTCOLD_PATH_BYTES + 100];
  stpcpy(stpcpy(stpcpy(detail, directory), " "), missing);
  hearth_hotcold_warn("cold memory stays: cold=file needs a directory on a disk (dir=PATH), but ", detail);
}

static bool open_or_warn(char *start, size_t bytes) {
  const char *missing = open_window(start, bytes);
  if (missing)
    warn(missing);
  return !missing;
}

bool hearth_cold_file_open(const char *wanted, char *start, size_t bytes) {
  stpcpy(directory, wanted);
  return open_or_warn(start, bytes);
}

/* The part of [start, start + bytes) that lies in the window. */
static size_t in_window(char *start, size_t bytes, char **ret_start) {
  char *end = start + bytes < window.end ? start + bytes : window.end;
  *ret_start = start > window.start ? start : window.start;
  return *ret_start < end ? (size_t)(end - *ret_start) : 0;
}

static bool reserve_blocks(char *start, size_t bytes) {
  static bool warned;
  if (descriptor_is_ours())
    return !fallocate(window.descriptor, 0, start - window.start, (off_t)bytes);
  if (!warned)
    hearth_hotcold_warn("the program closed the file of the cold range: no more cold blocks", "");
  warned = true;
  return false;
}

static bool commit(char *start, size_t bytes, size_t free_bytes) {
  /* A window opened by the program's own fork handlers, which run after ours, would be shared with the child. */
  bool may_open = window.descriptor < 0 && !hearth_thread_is_forking;
  if (may_open && directory[0] && free_bytes >= LEAST_WINDOW_BYTES && !open_or_warn(start, free_bytes))
    directory[0] = 0;
  char *inside;
  size_t inside_bytes = in_window(start, bytes, &inside);
  return !inside_bytes || reserve_blocks(inside, inside_bytes);
}

/* Private pages of a file would read as the file again, after MADV_DONTNEED. */
static bool release_private(char *start, size_t bytes) {
  if (!bytes)
    return true;
  bool released = map_at(start, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  madvise(start, bytes, MADV_NOHUGEPAGE);
  return released;
}

static bool release(char *start, size_t bytes) {
  char *inside;
  size_t inside_bytes = in_window(start, bytes, &inside);
  if (!inside_bytes)
    return release_private(start, bytes);
  char *end = inside + inside_bytes;
  return !madvise(inside, inside_bytes, MADV_REMOVE) && release_private(start, (size_t)(inside - start)) &&
         release_private(end, (size_t)(start + bytes - end));
}

int hearth_cold_file_descriptor(void) {
  return window.descriptor >= 0 && descriptor_is_ours() ? window.descriptor : -1;
}

const struct hearth_region_backing hearth_cold_file_backing = {.commit = commit, .release = release};

void hearth_cold_file_before_fork(void) {
  if (window.descriptor < 0)
    return;
  if (!descriptor_is_ours())
    hearth_hotcold_fatal("the program forks, but closed the file of the cold range: use another cold= than file", "");
  if (!map_file(window.start, (size_t)(window.end - window.start), MAP_PRIVATE, window.descriptor))
    hearth_hotcold_fatal("the program forks, but the file of the cold range cannot be mapped privately", "");
  close_window();
}
