/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The highest numbers that the limit allows, but for a few, of a table that the kernel keeps small. */
#include "own_descriptor.h"

#include "os.h"

/* Programs use low numbers. More of them than this would cost the kernel memory. */
#define LIMIT_MOST 1024

int hearth_own_descriptor_copy(int fd) {
  uint64_t limit = hearth_os_descriptor_limit();
  int copy = -1;

  if (limit > LIMIT_MOST)
    limit = LIMIT_MOST;
  for (int least = (int)(limit - limit / 32); copy < 0 && least > 2; least /= 2)
    copy = hearth_os_duplicate(fd, least);
  return copy < 0 ? -1 : copy;
}

int hearth_own_descriptor_move(int fd) {
  int copy = fd < 0 ? -1 : hearth_own_descriptor_copy(fd);

  if (copy < 0)
    return fd;
  hearth_os_close(fd);
  return copy;
}
