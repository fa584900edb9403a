/* Half of the blocks lie around, the others are read all the time: looks at pages give the classes that counting gives.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t %given_time && rm -f %t.counted* %t.looks*
 * RUN: HEARTH_OPTIONS=log_path=%t.counted timeout 600 %t
 * RUN: %hearth index -q %t.counted.* --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_touched.py counted
 * RUN: HEARTH_OPTIONS=accesses=pages:sample=65536:log_path=%t.looks timeout 600 %t
 * RUN: %hearth index -q %t.looks.* --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_touched.py estimated
 * RUN: %hearth show %t.heap | FileCheck %s --check-prefix=SHOWN
 * SHOWN: accesses   some {{[0-9]+}} loads and stores, estimated from looks at pages
 *
 * The text form and merges keep that.
 * RUN: %hearth show --text %t.heap > %t.txt && FileCheck %s --check-prefix=TEXT < %t.txt
 * TEXT: accesses=1 estimated=1 dropped_blocks
 * RUN: %hearth index -q %t.txt -o %t.again && cmp %t.heap %t.again
 * RUN: %hearth merge -q %t.heap %t.heap -o %t.merged
 * RUN: %hearth show --json %t.merged | python3 %S/../Inputs/check_touched.py estimated
 *
 * Programs as they are, of another compiler; these run until there have been looks enough:
 * RUN: gcc -g -O1 -fno-builtin -pthread -rdynamic -DREAL_TIME %s -o %t.plain && rm -f %t.recorded*
 * RUN: timeout 600 %hearth record -q --accesses --sample=65536 -o %t.recorded %t.plain
 * RUN: %hearth index -q %t.recorded --symbols -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_touched.py estimated
 *
 * Threads allocate and free for each other, children are forked, and have no looks: instrumented ones count.
 * RUN: rm -f %t.forked* && HEARTH_OPTIONS=accesses=pages:sample=4096:log_path=%t.forked timeout 600 %t fork > %t.pids
 * RUN: %hearth index -q %t.forked.$(sed -n 's/parent //p' %t.pids) --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_touched.py parted
 * RUN: %hearth index -q %t.forked.$(sed -n 's/child //p' %t.pids) --binary %t -o %t.heap
 * RUN: %hearth show %t.heap | FileCheck %s --check-prefix=CHILD
 * CHILD: accesses   {{[0-9]+}} loads and stores{{$}}
 *
 * A filter of system calls that allows the program none of those that looks need does not stop them. Where the system
 * cannot clear accessed bits, one message says so, and the program goes on.
 * RUN: rm -f %t.filtered* && HEARTH_OPTIONS=accesses=pages:sample=65536:log_path=%t.filtered timeout 600 %t filter
 * RUN: %hearth index -q %t.filtered.* --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/check_touched.py estimated
 * RUN: rm -f %t.refused* && env HEARTH_OPTIONS=accesses=pages:sample=65536:log_path=%t.refused \
 * RUN:   %t refuse %t > %t.said 2>&1 && FileCheck %s --check-prefix=REFUSED < %t.said
 * REFUSED: option accesses=pages: the system cannot clear accessed bits of pages (Linux before 5.4?); accesses will not be known
 * REFUSED-NOT: option
 * RUN: %hearth index -q %t.refused.* --binary %t -o %t.heap && %hearth show %t.heap | FileCheck %s --check-prefix=CHILD
 *
 * The list of pages is opened at once, before the program can forbid it.
 * RUN: HEARTH_OPTIONS=accesses=pages:log_path=%t.other timeout 600 %t opened
 *
 * The thread that looks does not keep a process alive whose first thread ends alone.
 * RUN: HEARTH_OPTIONS=accesses=pages:log_path=%t.ends timeout 600 %t thread-exit ; test $? = 3
 *
 * It does not go with heap dumps, nor with another layout.
 * RUN: env HEARTH_OPTIONS=accesses=pages:format=llvm:log_path=%t.other timeout 600 %t none 2>&1 | FileCheck %s --check-prefix=LAYOUT
 * LAYOUT: option accesses: pages are only looked at with mode=aggregate and format=hearth
 * Nor without the thread.
 * RUN: env HEARTH_OPTIONS=accesses=pages:own_thread=off:log_path=%t.other timeout 600 %t none 2>&1 | FileCheck %s --check-prefix=OFF
 * OFF: option accesses=pages: own_thread=off forbids the thread that looks; accesses will not be known
 */
#include <errno.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 40000, LARGE = 3 << 20, STEPS = 40 };

typedef struct node {
  struct node *next;
  long value[15];
} node;

static node *hot, *cold;
static char *hot_buffer, *cold_buffer;

__attribute__((noinline)) static node *make_hot(void) { return malloc(sizeof(node)); }
__attribute__((noinline)) static node *make_cold(void) { return malloc(sizeof(node)); }
__attribute__((noinline)) static char *make_hot_buffer(void) { return malloc(LARGE); }
__attribute__((noinline)) static char *make_cold_buffer(void) { return malloc(LARGE); }

static void push(node **list, node *n) {
  memset(n, 1, sizeof *n);
  n->next = *list;
  *list = n;
}

#ifdef REAL_TIME
/* Each look asks twice for its thread's processor time, and for nothing else does the runtime. */
static _Atomic int asked;

int clock_gettime(clockid_t clock, struct timespec *ret) {
  asked += clock == CLOCK_THREAD_CPUTIME_ID;
  return (int)syscall(SYS_clock_gettime, clock, ret);
}

static int goes_on(int looks) { return asked / 2 < looks; }
static void let_thread_go(void) {}
static void pass(unsigned long long ns) { (void)ns; }
#else
#include "given_time.h"

/* Looks come 31 ms apart on average. */
static int goes_on(int looks) {
  static int steps;
  pass(MS);
  return ++steps % (31 * looks) != 0;
}
#endif

static long work(int looks) {
  long sum = 0;
  for (int i = 0; i < NODES; i++) {
    push(&hot, make_hot());
    push(&cold, make_cold());
  }
  hot_buffer = memset(make_hot_buffer(), 1, LARGE);
  cold_buffer = memset(make_cold_buffer(), 1, LARGE);
  while (goes_on(looks)) {
    for (node *n = hot; n; n = n->next)
      sum += ++n->value[3];
    for (int i = 0; i < LARGE; i += 64)
      sum += hot_buffer[i];
  }
  return sum;
}

/* Blocks of all sizes grow, are zeroed, and keep their bytes; another thread frees them. */
static void *free_all(void *blocks) {
  for (char **block = blocks; *block; block++)
    free(*block);
  return NULL;
}

static int check_contents(void) {
  static char *blocks[STEPS + 1];
  for (int i = 0; i < STEPS; i++) {
    size_t size = (size_t)100 << i % 14, wrong = 0;
    char *block = calloc(size, 1);
    for (size_t k = 0; k < size; k++)
      wrong += block[k] != 0;
    memset(block, i + 1, size);
    block = realloc(block, size * 2 + 10);
    for (size_t k = 0; k < size; k++)
      wrong += block[k] != i + 1;
    blocks[i] = realloc(block, size / 3 + 1);
    for (size_t k = 0; k < size / 3 + 1; k++)
      wrong += blocks[i][k] != i + 1;
    if (wrong)
      return 1;
  }
  pthread_t thread;
  return pthread_create(&thread, NULL, free_all, blocks) != 0 || pthread_join(thread, NULL) != 0;
}

/* No new threads, no sleep. */
static struct sock_filter no_looks[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_nanosleep, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

/* As a system that cannot clear accessed bits. */
static struct sock_filter no_clearing[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 20 /* MADV_COLD */, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int apply(struct sock_filter *code, size_t size) {
  struct sock_fprog program = {(unsigned short)(size / sizeof *code), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Has some thread opened it in its first turn? */
static int is_list_open(void) {
  glob_t files;
  int found = 0;
  pass(1);
  if (glob("/proc/self/task/*/fd/*", 0, NULL, &files) != 0)
    return 0;
  for (size_t i = 0; i < files.gl_pathc; i++) {
    char target[256];
    ssize_t length = readlink(files.gl_pathv[i], target, sizeof target);
    found |= length > 6 && memcmp(target + length - 6, "/smaps", 6) == 0;
  }
  globfree(&files);
  return found;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "none") == 0)
    return 0;
  if (strcmp(mode, "opened") == 0)
    return !is_list_open();
  if (strcmp(mode, "filter") == 0 && apply(no_looks, sizeof no_looks) != 0)
    return 1;
  if (strcmp(mode, "refuse") == 0)
    return apply(no_clearing, sizeof no_clearing) != 0 || execl(argv[2], argv[2], "", (char *)NULL) == 0 ? 1 : 4;
  if (work(100) == 42)
    puts("unlikely");
  if (strcmp(mode, "thread-exit") == 0) {
    let_thread_go();
    __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(3) : "rcx", "r11", "memory");
  }
  if (strcmp(mode, "fork") == 0) {
    int status = 0;
    if (check_contents() != 0)
      return 2;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      for (node *n = cold, *next; n; n = next) {
        next = n->next;
        free(n);
      }
      free(cold_buffer);
      work(3);
      return check_contents();
    }
    printf("parent %d\nchild %d\n", getpid(), child);
    return waitpid(child, &status, 0) != child || status != 0;
  }
  return 0;
}
