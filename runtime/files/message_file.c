/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime keeps a descriptor of its own, close-on-exec. Programs close descriptors that they do not know, and may
 * then have another file under its number: each use first checks for both. */
#include "message_file.h"

#include "os.h"
#include "own_descriptor.h"

static struct {
  hearth_os_file_id id;
  bool begun, known;
  int own; /* -1: none */
} standard_error = {.own = -1};

void hearth_message_file_begin(void) {
  if (standard_error.begun) /* the runtime and the allocator are in one static program */
    return;
  standard_error.begun = true;
  standard_error.known = hearth_os_file_id_of(2, &standard_error.id);
  standard_error.own = standard_error.known ? hearth_own_descriptor_copy(2) : -1;
}

static bool is_standard_error(int fd) { return standard_error.known && hearth_os_is_file(fd, standard_error.id); }

/* A process that reads the pipe to its end must not wait for a child that became a daemon. */
void hearth_message_file_begin_child(void) {
  if (!is_standard_error(standard_error.own) || !hearth_os_has_reader(standard_error.own))
    return;
  hearth_os_close(standard_error.own);
  standard_error.own = -1;
}

int hearth_message_file(void) {
  if (!standard_error.begun || is_standard_error(2))
    return 2;
  return is_standard_error(standard_error.own) ? standard_error.own : -1;
}
