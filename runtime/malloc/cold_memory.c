/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of the file are mapped one behind the other, and their blocks of the disk reserved before. What was
 * discarded keeps its place and its blocks; what was released is a hole of the file, whose place is not used again.
 * Memory is made of huge pages like any other, in the file as far as its file system knows them, until a part of one
 * leaves. */
#define _GNU_SOURCE
#include "heap_memory.h"
#include "hints.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  /* Programs that close and open their standard streams must not get the file in their place. */
  LEAST_DESCRIPTOR = 100,
};
/* Linux 5.4; missing from older libc headers. */
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#define FILE_NAME   "/hearth-cold-XXXXXX"
#define LEAST_BYTES ((size_t)64 << 20) /* a smaller file is not worth it */

typedef struct piece {
  char *start;
  size_t bytes;
  off_t offset;
} piece;

static hearth_cold_mode cold_mode; /* keep, pageout or file */
static char directory[HEARTH_MALLOC_PATH_BYTES];
static hearth_lock lock; /* of the file */
static struct {
  int descriptor; /* -1: none is open */
  dev_t device;   /* so that a descriptor which the program closed and got again for another file is not touched */
  ino_t inode;
  off_t end;
  piece *pieces; /* that are mapped, shared */
  size_t count, room;
} file = {.descriptor = -1};

static bool descriptor_is_ours(void) {
  struct stat status;
  return !fstat(file.descriptor, &status) && status.st_dev == file.device && status.st_ino == file.inode;
}

static bool is_in_memory(int descriptor) {
  struct statfs system;
  return !fstatfs(descriptor, &system) && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

/* fallocate beyond the limit would be answered by a signal. */
static bool is_within_limit(size_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= bytes;
}

/* A descriptor of a file without a name, or -1. */
static int create_file(void) {
  char path[HEARTH_MALLOC_PATH_BYTES + sizeof FILE_NAME];
  stpcpy(stpcpy(path, directory), FILE_NAME);
  int low = mkostemp(path, O_CLOEXEC);
  if (low < 0)
    return -1;
  unlink(path);
  int descriptor = fcntl(low, F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR);
  close(low);
  return descriptor;
}

/* NULL, or the reason why there is no file. */
static const char *open_cold_file(void) {
  struct stat status;
  int descriptor = create_file();
  if (descriptor < 0)
    return "takes no file of ours";
  const char *missing = is_in_memory(descriptor)                              ? "is in memory itself"
                        : !is_within_limit(LEAST_BYTES)                       ? "takes no file of this size"
                        : fallocate(descriptor, 0, 0, HEARTH_PAGE_BYTES) != 0 ? "has no room, or cannot reserve any"
                        : fstat(descriptor, &status) != 0                     ? "has a file that cannot be looked at"
                                                                              : NULL;
  if (missing) {
    close(descriptor);
    return missing;
  }
  file.descriptor = descriptor;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  file.end = 0;
  return NULL;
}

static bool open_or_warn(void) {
  const char *missing = open_cold_file();
  if (!missing)
    return true;
  char detail[HEARTH_MALLOC_PATH_BYTES + 100];
  stpcpy(stpcpy(stpcpy(detail, directory), " "), missing);
  hearth_malloc_warn("cold memory stays: cold=file needs a directory on a disk (dir=PATH), but ", detail);
  return false;
}

static bool has_swap_space(void) {
  struct sysinfo info;
  return !sysinfo(&info) && info.totalswap;
}

void hearth_cold_memory_configure(const hearth_malloc_options *options) {
  hearth_cold_mode mode = options->cold_mode;
  if (mode == HEARTH_COLD_AUTO)
    mode = has_swap_space() ? HEARTH_COLD_PAGEOUT : HEARTH_COLD_FILE;
  if (mode == HEARTH_COLD_PAGEOUT && !has_swap_space()) {
    hearth_malloc_warn("cold=pageout has no effect: there is no swap space (cold=file needs none)", "");
    mode = HEARTH_COLD_KEEP;
  }
  stpcpy(directory, options->directory);
  if (mode == HEARTH_COLD_FILE && !open_or_warn())
    mode = HEARTH_COLD_KEEP;
  cold_mode = mode;
  hearth_cold_thread_configure(mode == HEARTH_COLD_KEEP ? 0 : options->interval_s, options->cost_percent);
}

/* Pieces. */

static bool add_file_piece(char *start, size_t bytes, off_t offset) {
  piece *pieces = hearth_array_grow(file.pieces, file.count, &file.room, sizeof *pieces);
  if (!pieces)
    return false;
  file.pieces = pieces;
  file.pieces[file.count++] = (piece){start, bytes, offset};
  return true;
}

static bool map_at(char *start, size_t bytes, int flags, int descriptor, off_t offset) {
  return syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, descriptor, offset) != -1;
}

/* A thread that comes for one cold block has no use for its neighbours: nothing is read ahead. */
static bool map_piece(char *start, size_t bytes, int kind, off_t offset) {
  bool mapped = map_at(start, bytes, kind, file.descriptor, offset);
  syscall(SYS_madvise, start, bytes, MADV_RANDOM);
  return mapped;
}

static bool open_in_file(char *start, size_t bytes) {
  static bool is_warned;
  bool may_create = file.descriptor < 0 && !hearth_this_thread_forks();
  if (may_create && !(directory[0] && open_or_warn()))
    directory[0] = 0;
  if (file.descriptor < 0) /* after a fork, without room for another file */
    return hearth_system_open(start, bytes);
  if (!descriptor_is_ours()) {
    if (!is_warned)
      hearth_malloc_warn("the program closed the file of cold memory: no more cold blocks", "");
    is_warned = true;
    return false;
  }
  off_t offset = file.end;
  if (bytes % HEARTH_SEGMENT_BYTES == 0) /* a huge page has its place in the file, as in memory */
    offset = (offset + HEARTH_SEGMENT_BYTES - 1) & -(off_t)HEARTH_SEGMENT_BYTES;
  if (!is_within_limit((size_t)offset + bytes) ||
      syscall(SYS_fallocate, file.descriptor, 0, offset, (off_t)bytes) != 0 || !add_file_piece(start, bytes, offset))
    return false;
  if (!map_piece(start, bytes, MAP_SHARED, offset)) {
    file.count--;
    return false;
  }
  file.end = offset + (off_t)bytes;
  return true;
}

static bool lies_in_file(bool is_cold) { return is_cold && cold_mode == HEARTH_COLD_FILE; }

bool hearth_memory_open(bool is_cold, void *start, size_t bytes) {
  if (!lies_in_file(is_cold))
    return hearth_system_open(start, bytes);
  int saved_errno = errno;
  hearth_lock_take(&lock);
  bool opened = open_in_file(start, bytes);
  hearth_lock_give(&lock);
  errno = saved_errno;
  return opened;
}

/* The descriptor of the file that has shared memory, and its place there; -1: none has. */
static int place_of(const char *start, off_t *ret_offset) {
  int descriptor = -1;
  hearth_lock_take(&lock);
  size_t count = file.count && descriptor_is_ours() ? file.count : 0;
  for (size_t i = 0; i < count && descriptor < 0; i++)
    if (start >= file.pieces[i].start && start < file.pieces[i].start + file.pieces[i].bytes) {
      *ret_offset = file.pieces[i].offset + (start - file.pieces[i].start);
      descriptor = file.descriptor;
    }
  hearth_lock_give(&lock);
  return descriptor;
}

/* By its address the memory is discarded for sure, where a descriptor may have become another file's meanwhile; then
 * the disk's blocks are reserved again, which does no harm to any file. Private pages of a file would read as the
 * file again. */
void hearth_memory_discard(bool is_cold, void *start, size_t bytes) {
  if (!lies_in_file(is_cold)) {
    hearth_system_discard(start, bytes);
    return;
  }
  int saved_errno = errno;
  off_t offset = 0;
  int descriptor = place_of(start, &offset);
  bool is_of_file = descriptor >= 0 && syscall(SYS_madvise, start, bytes, MADV_REMOVE) == 0;
  if (is_of_file)
    syscall(SYS_fallocate, descriptor, FALLOC_FL_KEEP_SIZE, offset, (off_t)bytes);
  else if (descriptor >= 0 || !map_at(start, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    memset(start, 0, bytes);
  errno = saved_errno;
}

/* Its pieces leave the list. */
void hearth_memory_release(bool is_cold, void *start, size_t bytes) {
  if (lies_in_file(is_cold)) {
    int saved_errno = errno;
    hearth_lock_take(&lock);
    for (size_t i = 0; i < file.count;)
      if (file.pieces[i].start >= (char *)start && file.pieces[i].start < (char *)start + bytes) {
        syscall(SYS_madvise, file.pieces[i].start, file.pieces[i].bytes, MADV_REMOVE);
        file.pieces[i] = file.pieces[--file.count];
      } else {
        i++;
      }
    hearth_lock_give(&lock);
    errno = saved_errno;
  }
  hearth_system_release(start, bytes);
}

bool hearth_cold_memory_send(char *start, size_t bytes) {
  /* Dirty pages of a file are not dropped: they are written first. */
  if (cold_mode == HEARTH_COLD_FILE)
    msync(start, bytes, MS_SYNC);
  bool known = !madvise(start, bytes, MADV_PAGEOUT) || errno != EINVAL;
  /* Pages that were being written stay in the system's cache. The advice is for the sent pages alone: it writes all
   * that is dirty in its range, and a page that was written faults when the program changes it. Should the program
   * have closed the file meanwhile, it meets another one, and does no harm. */
  off_t offset = 0;
  int descriptor = place_of(start, &offset);
  if (descriptor >= 0)
    posix_fadvise(descriptor, offset, (off_t)bytes, POSIX_FADV_DONTNEED);
  /* A huge page was parted; its neighbours are not to come back with each of its pages. While it is whole, it stays
   * huge: each first write to a part of one costs more than one to a page. */
  unsigned char is_in;
  if (!mincore(start, HEARTH_PAGE_BYTES, &is_in) && !(is_in & 1))
    hearth_system_keep_small(hearth_segment_of(start), HEARTH_SEGMENT_BYTES);
  return known;
}

/* Fork. */

void hearth_cold_memory_before_fork(void) {
  hearth_lock_take(&lock);
  if (file.descriptor < 0)
    return;
  if (file.count && !descriptor_is_ours())
    hearth_fatal("the program forks, but closed the file of cold memory (HEARTH_MALLOC=cold=...): ", file.pieces);
  for (size_t i = 0; i < file.count; i++)
    if (!map_piece(file.pieces[i].start, file.pieces[i].bytes, MAP_PRIVATE, file.pieces[i].offset))
      hearth_fatal("the program forks, but its cold memory cannot be mapped privately: ", file.pieces[i].start);
  file.count = 0;
  if (descriptor_is_ours())
    close(file.descriptor);
  file.descriptor = -1;
}

void hearth_cold_memory_after_fork(void) { hearth_lock_give(&lock); }
