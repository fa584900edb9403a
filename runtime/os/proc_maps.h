/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The process's mappings, as /proc/self/maps lists them, in ascending order. Early; does not allocate. */
#ifndef HEARTH_RUNTIME_PROC_MAPS_H
#define HEARTH_RUNTIME_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_maps {
  int fd;
  char *buffer; /* caller's; unread bytes are [begin, end) */
  size_t size, begin, end;
  bool has_line;    /* the unread bytes begin with the line returned last ... */
  size_t line_size; /* ... of this size, or as much of it as fits */
} hearth_maps;

typedef struct hearth_maps_entry {
  uintptr_t start, end;
  bool readable, writable, executable;
  uint64_t file_offset;
  uint64_t inode;   /* 0: no file */
  const char *path; /* in the buffer until the next call; not NUL-terminated; as much as fits */
  size_t path_size;
} hearth_maps_entry;

/* `size` of at least 256 gives all but long paths. False: the list cannot be read. */
bool hearth_maps_open(hearth_maps *maps, char *buffer, size_t size);
bool hearth_maps_next(hearth_maps *maps, hearth_maps_entry *ret_entry);
void hearth_maps_close(hearth_maps *maps);

#endif
