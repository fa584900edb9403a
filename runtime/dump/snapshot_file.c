/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file of two halves, mapped into memory. Snapshots are written to them in turns, and its header then names the newer
 * one: whenever the program is killed, one of them is whole. The kernel does the stores: somebody may cut the file. */
#include "snapshot_file.h"

#include "os.h"

#include "hearth/raw.h"

#include <errno.h>

static struct {
  hearth_raw_snapshots *header; /* at the mapping's start; NULL: no file is open */
  size_t size, half_size;
  uint64_t sequence; /* of the newest snapshot */
} file;

/* The half that is being written, seen as an output. */
static struct {
  char *start;
  size_t size, used;
} half;

static int create_half(const char *path) { return (void)path, 0; }

static int open_no_device(const char *path) { return (void)path, -ENODEV; }

static long write_half(int fd, const void *from, size_t size) {
  (void)fd;
  if (size > half.size - half.used)
    return -EFBIG;
  if (!hearth_os_poke((uintptr_t)(half.start + half.used), from, size))
    return -EFAULT;
  half.used += size;
  return (long)size;
}

static long write_half_at(int fd, const void *from, size_t size, uint64_t offset) {
  (void)fd;
  return hearth_os_poke((uintptr_t)(half.start + offset), from, size) ? (long)size : -EFAULT;
}

static int close_half(int fd) { return (void)fd, 0; }

static int rename_half(const char *from, const char *to) { return (void)from, (void)to, 0; }

static void unlink_half(const char *path) { (void)path; }

static const hearth_file_output_calls half_calls = {
    .random = hearth_os_random,
    .open_device = open_no_device,
    .create = create_half,
    .write = write_half,
    .write_at = write_half_at,
    .close = close_half,
    .rename = rename_half,
    .rename_new = rename_half,
    .unlink = unlink_half,
};

/* Some file systems have no other way to take blocks than to write them. */
static void take_blocks(hearth_file_output *output, size_t size) {
  static const char zeros[HEARTH_OS_PAGE];
  int result = output->error ? 0 : hearth_os_allocate(output->fd, size);

  if (result < 0 && result != -EOPNOTSUPP && result != -ENOSYS)
    output->error = -result;
  for (; result < 0 && size > 0; size -= sizeof zeros)
    hearth_file_output_write(output, zeros, sizeof zeros);
}

int hearth_snapshot_file_begin(hearth_file_output *output, size_t size) {
  const hearth_raw_snapshots header = {
      .magic = HEARTH_RAW_SNAPSHOTS_MAGIC,
      .version = HEARTH_RAW_VERSION,
      .header_size = HEARTH_OS_PAGE,
      .half_size = (size - HEARTH_OS_PAGE) / 2 & ~(HEARTH_OS_PAGE - 1),
  };

  file.size = HEARTH_OS_PAGE + 2 * header.half_size;
  file.half_size = header.half_size;
  file.sequence = 0;
  take_blocks(output, file.size);
  hearth_file_output_patch(output, 0, &header, sizeof header);
  if (output->error)
    return output->error;
  file.header = hearth_os_map_file(output->fd, file.size);
  return file.header ? 0 : ENOMEM;
}

bool hearth_snapshot_file_is_open(void) { return file.header != NULL; }

static bool write_sequence(uint64_t number, uint64_t sequence) {
  return hearth_os_poke((uintptr_t)&file.header->sequence[number % 2], &sequence, sizeof sequence);
}

int hearth_snapshot_file_write(const hearth_snapshot *snapshot) {
  static hearth_file_output output;
  uint64_t number = file.sequence + 1;

  half.size = file.half_size;
  half.start = (char *)file.header + HEARTH_OS_PAGE + number % 2 * half.size;
  half.used = 0;
  if (!write_sequence(number, 0))
    return EFAULT;
  hearth_file_output_begin(&output, &half_calls, "");
  int error = hearth_dump_write(&output, snapshot);
  int written = hearth_file_output_finish(&output, true);
  if (error || written)
    return error ? error : written;
  if (!write_sequence(number, number))
    return EFAULT;
  file.sequence = number;
  return 0;
}

void hearth_snapshot_file_close(void) {
  if (file.header)
    hearth_os_unmap(file.header, file.size);
  hearth_snapshot_file_forget();
}

void hearth_snapshot_file_forget(void) { file.header = NULL; }
