/* A filter that lets pass what the C library's malloc needs lets this one pass.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 *
 * CHECK: {{well|no seccomp}}
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(name)                                                                                                    \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(fstat), ALLOW(newfstatat), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap),
    ALLOW(mprotect), ALLOW(brk), ALLOW(exit), ALLOW(exit_group), ALLOW(futex), ALLOW(rt_sigreturn), ALLOW(madvise),
    ALLOW(getrandom),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

int main(void) {
  static void *blocks[100000];
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
    puts("no seccomp");
    return 0;
  }
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100000; i++)
      memset((blocks[i] = malloc((size_t)i % 500 + 1)), 1, (size_t)i % 500 + 1);
    for (int i = 0; i < 100000; i++)
      free(blocks[i]);
    for (int i = 0; i < 100; i++)
      memset((blocks[i] = malloc((size_t)i * 50000)), 1, (size_t)i * 50000);
    for (int i = 0; i < 100; i++)
      blocks[i] = realloc(blocks[i], (size_t)(i * 7 % 100 + 1) * 60000);
    for (int i = 0; i < 100; i++)
      free(blocks[i]);
    free(memalign(4 << 20, 100));
    malloc_trim(0);
  }
  puts("well");
}
