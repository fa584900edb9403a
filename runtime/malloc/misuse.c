/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "misuse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Noreturn void hearth_fatal(const char *what, const void *address) {
  static const char prefix[] = "hearth malloc: ";
  char digits[2 + 16 + 1] = "0x";
  for (int i = 0; i < 16; i++)
    digits[2 + i] = "0123456789abcdef"[(uintptr_t)address >> (60 - 4 * i) & 15];
  digits[18] = '\n';
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1}, {(char *)what, strlen(what)}, {digits, sizeof digits}};
  syscall(SYS_writev, STDERR_FILENO, parts, 3);
  abort();
}
