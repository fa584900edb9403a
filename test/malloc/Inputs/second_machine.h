/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For second-heap.sh: mappings as the sanitizer sees them. Memory that one thread gave back and another one got is not shared. */
#define _GNU_SOURCE
#include "machine.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static inline long second_call(long number, long a, long b, long c, long d, long e, long f) {
  int before = errno;
  long result = number == SYS_mmap     ? (long)(intptr_t)mmap((void *)a, (size_t)b, (int)c, (int)d, (int)e, f)
                : number == SYS_munmap ? munmap((void *)a, (size_t)b)
                                       : syscall(number, a, b, c, d, e, f);
  long error = errno;
  errno = before;
  return result == -1 ? -error : result;
}
#define hearth_os_call second_call
