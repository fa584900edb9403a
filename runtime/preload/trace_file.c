/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs close descriptors that they do not know, and change user, root and working directory: each write first
 * checks that the descriptor is still the file's; if it is not, the file is opened by its name. */
#include "trace_file.h"

#include "file_output.h"
#include "message.h"
#include "os.h"
#include "own_descriptor.h"
#include "own_writes.h"
#include "profile_file.h"
#include "running_profile.h"

#include <errno.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define COMMAND_MOST ((size_t)65536) /* longer command lines are cut */

hearth_lock hearth_trace_file_lock;

static struct {
  char name[HEARTH_OUTPUT_NAME];
  hearth_os_file_id id;
  int fd;
  uint64_t size;
  int error; /* the first error number: nothing is written any more */
} file = {.fd = -1};

/* Another file may have got its name meanwhile. */
static bool reopen(void) {
  if (hearth_os_is_file(file.fd, file.id))
    return true;
  file.fd = hearth_own_descriptor_move(hearth_os_open_append(file.name));
  if (file.fd >= 0 && !hearth_os_is_file(file.fd, file.id)) {
    hearth_os_close(file.fd);
    file.fd = -ESTALE;
  }
  if (file.fd < 0)
    file.error = -file.fd;
  return file.fd >= 0;
}

static void append(const void *data, size_t size) {
  for (size_t done = 0; done < size && !file.error;) {
    long written = hearth_os_write(file.fd, (const char *)data + done, size - done);
    if (written > 0)
      done += (size_t)written;
    else if (written != -EINTR)
      file.error = written < 0 ? (int)-written : EIO;
  }
}

static bool add(const void *head, size_t head_size, const void *payload, size_t size) {
  if (file.error || !reopen())
    return false;
  hearth_own_writes before = hearth_own_writes_begin(0);
  append(head, head_size);
  append(payload, size);
  hearth_own_writes_end(before);
  if (file.error) {
    hearth_os_truncate(file.fd, file.size);
    return false;
  }
  file.size += head_size + size;
  return true;
}

static void tell_error(void) {
  static int told;

  if (hearth_message_is_new(&told, file.error) && file.error)
    hearth_message("the trace %s ends early: %s", file.name, hearth_error_name(file.error));
}

/* The name of the file, or the first like it that is free; or that of a device. */
static int create(void) {
  hearth_text name = hearth_text_begin(file.name, sizeof file.name);

  hearth_profile_file_name(&name);
  size_t length = name.length;
  int fd = hearth_os_open_device(file.name);
  if (fd >= 0)
    return fd;
  for (uint64_t number = 2; (fd = name.cut ? -ENAMETOOLONG : hearth_os_create_append(file.name)) == -EEXIST; ++number) {
    file.name[length] = '\0';
    name.length = length;
    hearth_text_format(&name, ".%u", number);
  }
  return fd;
}

int hearth_trace_file_begin(void) {
  static char head[sizeof(hearth_trace_header) + COMMAND_MOST];
  char *command = head + sizeof(hearth_trace_header);
  size_t command_size = hearth_os_command(command, COMMAND_MOST), padded = (command_size + 7) & ~(size_t)7;
  hearth_trace_header header = {.magic = HEARTH_TRACE_MAGIC,
                                .version = HEARTH_TRACE_VERSION,
                                .header_size = (uint32_t)(sizeof header + padded),
                                .pid = hearth_rt.pid,
                                .start_ns = hearth_rt.start_ns,
                                .start_unix_ns = hearth_rt.start_unix_ns,
                                .stack_depth = hearth_rt.options.stack_depth,
                                .command_size = (uint32_t)command_size};

  memset(command + command_size, 0, padded - command_size);
  memcpy(head, &header, sizeof header);
  file.error = 0;
  file.size = 0;
  file.fd = create();
  if (file.fd == -ENOENT) {
    hearth_profile_file_make_directories(file.name);
    file.fd = create();
  }
  file.fd = hearth_own_descriptor_move(file.fd);
  if (file.fd < 0 || !hearth_os_file_id_of(file.fd, &file.id))
    file.error = file.fd < 0 ? -file.fd : EIO;
  if (!file.error && !add(head, header.header_size, NULL, 0))
    hearth_os_unlink(file.name);
  return file.error;
}

bool hearth_trace_file_add(hearth_trace_block *block, const void *payload, size_t size) {
  XXH64_state_t state;

  block->magic = HEARTH_TRACE_BLOCK_MAGIC;
  block->stored_size = (uint32_t)size;
  block->checksum = 0;
  XXH64_reset(&state, 0);
  XXH64_update(&state, payload, size);
  XXH64_update(&state, block, sizeof *block);
  block->checksum = XXH64_digest(&state);
  bool added = add(block, sizeof *block, payload, size);
  tell_error();
  return added;
}

const char *hearth_trace_file_name(void) { return file.name; }

void hearth_trace_file_tell(void) {
  if (hearth_rt.options.verbosity > 0 && !file.error)
    hearth_message("trace written to %s, %u bytes", file.name, file.size);
}
