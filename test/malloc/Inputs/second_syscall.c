/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For second-heap.sh: mappings as the sanitizer sees them. Memory that one thread gave back and another one got is not shared. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

long second_syscall(long number, ...) {
  long argument[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++)
    argument[i] = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_mmap)
    return (long)(intptr_t)mmap((void *)argument[0], (size_t)argument[1], (int)argument[2], (int)argument[3],
                                (int)argument[4], argument[5]);
  if (number == SYS_munmap)
    return munmap((void *)argument[0], (size_t)argument[1]);
  return syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
