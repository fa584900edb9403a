/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads /proc/self/maps through a small buffer, line by line. */
#include "os.h"

#include <errno.h>

bool hearth_maps_open(hearth_maps *maps, char *buffer, size_t size) {
  *maps = (hearth_maps){.fd = hearth_os_open_read("/proc/self/maps"), .buffer = buffer, .size = size};
  return maps->fd >= 0;
}

void hearth_maps_close(hearth_maps *maps) { hearth_os_close(maps->fd); }

/* Move the unread bytes to the front and read more behind them. False at the end, or if there is no room. */
static bool maps_refill(hearth_maps *maps) {
  size_t unread = maps->end - maps->begin;

  for (size_t i = 0; i < unread; ++i)
    maps->buffer[i] = maps->buffer[maps->begin + i];
  maps->begin = 0;
  maps->end = unread;
  if (unread == maps->size)
    return false;
  long count;
  do
    count = hearth_os_read(maps->fd, maps->buffer + unread, maps->size - unread);
  while (count == -EINTR);
  if (count <= 0)
    return false;
  maps->end += (size_t)count;
  return true;
}

/* Length of the next line without its newline, as much of it as fits in the buffer; false at the end. */
static bool next_line(hearth_maps *maps, size_t *ret_length) {
  size_t length = 0;

  for (;;) {
    for (; maps->begin + length < maps->end; ++length)
      if (maps->buffer[maps->begin + length] == '\n') {
        *ret_length = length;
        return true;
      }
    if (!maps_refill(maps)) {
      *ret_length = length;
      return length > 0;
    }
  }
}

/* Step over the line of `length` bytes and, if it did not fit, over the rest of it. */
static void skip_line(hearth_maps *maps, size_t length) {
  maps->begin += length;
  do
    while (maps->begin < maps->end)
      if (maps->buffer[maps->begin++] == '\n')
        return;
  while (maps_refill(maps));
}

static uint64_t scan_number(const char **at, const char *end, unsigned base) {
  uint64_t number = 0;

  for (; *at < end; ++*at) {
    char c = **at;
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
    if (digit >= base)
      break;
    number = number * base + digit;
  }
  return number;
}

static void skip_field(const char **at, const char *end) {
  while (*at < end && **at != ' ')
    ++*at;
  while (*at < end && **at == ' ')
    ++*at;
}

/* "start-end rwxp offset major:minor inode     path" */
static hearth_maps_entry scan_line(const char *at, const char *end) {
  hearth_maps_entry entry = {0};

  entry.start = scan_number(&at, end, 16);
  if (at < end)
    ++at;
  entry.end = scan_number(&at, end, 16);
  skip_field(&at, end);
  if (end - at >= 4) {
    entry.readable = at[0] == 'r';
    entry.writable = at[1] == 'w';
    entry.executable = at[2] == 'x';
  }
  skip_field(&at, end);
  entry.file_offset = scan_number(&at, end, 16);
  skip_field(&at, end);
  skip_field(&at, end); /* device */
  entry.inode = scan_number(&at, end, 10);
  skip_field(&at, end);
  entry.path = at;
  entry.path_size = (size_t)(end - at);
  return entry;
}

bool hearth_maps_next(hearth_maps *maps, hearth_maps_entry *ret_entry) {
  if (maps->has_line)
    skip_line(maps, maps->line_size); /* not sooner: its path was the caller's to use */
  maps->has_line = next_line(maps, &maps->line_size);
  if (maps->has_line)
    *ret_entry = scan_line(maps->buffer + maps->begin, maps->buffer + maps->begin + maps->line_size);
  return maps->has_line;
}
