/* Two lists are walked side by side, then a third one: picks of a thread of the runtime's own see which one is not used any more.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t %given_time && rm -f %t.on* %t.off* %t.more*
 * RUN: HEARTH_OPTIONS=log_path=%t.on timeout 600 %t
 * RUN: %hearth index -q %t.on.* --binary %t -o %t.heap && %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py
 *
 * Counts are those of a run without the thread.
 * RUN: HEARTH_OPTIONS=own_thread=off:log_path=%t.off timeout 600 %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.on.* AllocCount TotalSize TotalAccessCount LiveAtExit | grep record: > %t.on-counts
 * RUN: python3 %S/../Inputs/raw_print.py %t.off.* AllocCount TotalSize TotalAccessCount LiveAtExit | grep record: > %t.off-counts
 * RUN: cmp %t.on-counts %t.off-counts
 *
 * There are no picks where the user does not want them, where the counters are not those of all blocks, and where the run is written
 * in parts. A reset forgets them; a few may come after it.
 * RUN: HEARTH_OPTIONS=sample=1000:log_path=%t.more.1 timeout 600 %t short
 * RUN: HEARTH_OPTIONS=parts=1:log_path=%t.more.2 timeout 600 %t short
 * RUN: HEARTH_OPTIONS=log_path=%t.more.3 timeout 600 %t reset
 * RUN: for raw in %t.off %t.more.1 %t.more.2 %t.more.3; do \
 * RUN:   %hearth index -q $raw.* --binary %t -o %t.heap && %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py none || exit 1; done
 *
 * A forked child takes none, and writes its profile. Its parent takes none while it waits.
 * RUN: rm -f %t.forked.* && HEARTH_OPTIONS=log_path=%t.forked timeout 600 %t fork > %t.pids
 * RUN: %hearth index -q %t.forked.$(sed -n 's/parent //p' %t.pids) --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py
 * RUN: %hearth index -q %t.forked.$(sed -n 's/child //p' %t.pids) --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py none
 *
 * The thread does not keep a process alive whose first thread ends alone.
 * RUN: HEARTH_OPTIONS=log_path=%t.more.4 timeout 600 %t thread-exit ; test $? = 3
 *
 * A filter of system calls that allows the program none of those that the thread needs does not stop it.
 * RUN: rm -f %t.filtered.* && HEARTH_OPTIONS=log_path=%t.filtered timeout 600 %t filter
 * RUN: %hearth index -q %t.filtered.* --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py
 *
 * Static programs have picks, too.
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t.static -static %given_time && rm -f %t.raw.* && HEARTH_OPTIONS=log_path=%t.raw timeout 600 %t.static
 * RUN: %hearth index -q %t.raw.* --binary %t.static -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_picks.py
 */
#include "given_time.h"

#include <hearth/rt.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 100000, ROUNDS = 50, FEW_ROUNDS = 10, ROUND_MS = 5 };

typedef struct node {
  struct node *next;
  long value;
} node;

static node *lists[3];

__attribute__((noinline)) static node *make_a(void) { return malloc(sizeof(node)); }
__attribute__((noinline)) static node *make_b(void) { return malloc(sizeof(node)); }
__attribute__((noinline)) static node *make_c(void) { return malloc(sizeof(node)); }

static void push(node **list, node *n) {
  *n = (node){*list, 1};
  *list = n;
}

static void work(int rounds) {
  for (int i = 0; i < NODES; i++) {
    push(&lists[0], make_a());
    push(&lists[1], make_b());
    push(&lists[2], make_c());
  }
  for (int i = 0; i < rounds; i++, pass(ROUND_MS * MS))
    for (node *a = lists[0], *b = lists[1]; a; a = a->next, b = b->next)
      a->value += b->value++;
  for (int i = 0; i < 3 * rounds; i++, pass(ROUND_MS * MS))
    for (node *c = lists[2]; c; c = c->next)
      c->value++;
}

/* No new threads, and no sleep. */
static int forbid(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "filter") == 0 && forbid() != 0)
    return 1;
  work(strcmp(mode, "short") == 0 || strcmp(mode, "thread-exit") == 0 ? FEW_ROUNDS : ROUNDS);
  if (strcmp(mode, "reset") == 0)
    __memprof_profile_reset();
  if (strcmp(mode, "thread-exit") == 0) {
    let_thread_go();
    __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(3) : "rcx", "r11", "memory");
  }
  if (strcmp(mode, "fork") == 0) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      memset(lists, 0, sizeof lists);
      work(FEW_ROUNDS);
      return 0;
    }
    printf("parent %d\nchild %d\n", getpid(), child);
    return waitpid(child, &status, 0) != child || status != 0;
  }
  return 0;
}
