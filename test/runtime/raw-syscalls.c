/* syscall() is the runtime's, and does what the C library's does: six arguments, results, errno; and nothing is lost where a call
 * that ends the program fails.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t && python3 %S/Inputs/raw_print.py %t.prof.* MaxSize AllocCount | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s -o %t.plain && rm -f %t.raw && %hearth record -o %t.raw -- %t.plain && test -s %t.raw
 * CHECK: MaxSize=1001 AllocCount=1
 * CHECK: MaxSize=2002 AllocCount=1
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#undef NDEBUG
#include <assert.h>

int main(int argc, char **argv) {
  char byte, *arguments[] = {NULL};
  int file = open(argv[argc - 1], O_RDONLY);

  free(malloc(1001));
  errno = 0;
  assert(syscall(SYS_getpid) == getpid() && errno == 0);
  char *page =
      (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, file, 4096); /* the last one is on the stack */
  assert(pread(file, &byte, 1, 4096 + 77) == 1 && page[77] == byte);
  assert(syscall(SYS_close, -1) == -1 && errno == EBADF);
  assert(syscall(SYS_execve, "/nonexistent", arguments, arguments) == -1 && errno == ENOENT);
  assert(syscall(SYS_execveat, file, "", arguments, arguments, 0) == -1 && errno == ENOENT);
  free(malloc(2002));
  return 0;
}
