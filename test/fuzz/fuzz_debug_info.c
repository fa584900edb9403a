/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: debug information, from the ELF file down to the frames of addresses all over its code. Of damage inside
 * libelf's own reading, libelf is in charge: `-max_len` and time limits apply. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "index.h"

#define ADDRESSES 64u

static void look_up(hearth_binary *binary, uint64_t address) {
  const hearth_debug_frame *frames;
  size_t count;
  hearth_error err;
  if (hearth_debug_info_frames(hearth_binary_debug_info(binary), address, &frames, &count, &err) != HEARTH_OK) {
    if (err.status == HEARTH_OK || err.message[0] == '\0')
      abort();
    return;
  }
  for (size_t i = 0; i < count; ++i)
    if (frames[i].function != HEARTH_DEBUG_NO_FUNCTION &&
        (!hearth_debug_info_function(hearth_binary_debug_info(binary), frames[i].function)->name ||
         hearth_debug_info_function(hearth_binary_debug_info(binary), frames[i].function)->start_line == 0))
      abort();
}

static void open_and_look_up(const char *path) {
  hearth_binary *binary;
  hearth_error err;
  uint64_t address;
  if (hearth_binary_open(path, &binary, &err) != HEARTH_OK)
    return;
  hearth_debug_directories nowhere = {NULL, 0, false};
  if (hearth_debug_info_load(hearth_binary_debug_info(binary), nowhere, &err) == HEARTH_OK)
    for (uint64_t offset = 0; offset < 65536; offset += 65536 / ADDRESSES)
      if (hearth_binary_address(binary, offset, &address))
        look_up(binary, address);
  hearth_binary_close(binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size)
    abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  open_and_look_up(path);
  close(fd);
  return 0;
}
