/* Where a filter refuses process_vm_readv, as those of some containers do, modules are found all the same.
 *
 * RUN: %clang -O2 -g -Wl,--build-id %s -o %t
 * RUN: rm -f %t.raw && %t %hearth record -q -o %t.raw -- %t
 * RUN: %hearth index %t.raw -o %t.heap && %hearth show %t.heap | FileCheck %s
 * CHECK: {{make.*peek-refused.c}}
 */
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void refuse(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof code / sizeof *code, code};

  assert(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

__attribute__((noinline)) static void make(void) {
  for (int i = 0; i < 100; i++)
    *(volatile char *)malloc(1000) = 1;
}

int main(int argc, char **argv) {
  if (argc > 1) { /* a command, to be run with the filter */
    refuse();
    execv(argv[1], argv + 1);
    return 1;
  }
  make();
  return 0;
}
