/* Code that a program makes as it runs is in no file: that the mappings do not know it must not be asked of the system for each of
 * its stacks. Here 50,000 places of such code allocate, and each such question is counted.
 * RUN: %clang -O1 %s -o %t -pthread && %hearth record -q -o %t.raw -- %t | FileCheck %s
 * REQUIRES: x86_64
 * CHECK: few questions
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLACES = 50000, PLACE_BYTES = 32 };

static _Atomic int questions, listener = -1;

static void *count_questions(void *unused) {
  while (listener < 0)
    sched_yield();
  for (;;) {
    struct seccomp_notif question = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
      continue;
    questions++;
    struct seccomp_notif_resp answer = {.id = question.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  return unused;
}

/* Of this thread. */
static void stop_questions(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
  if (listener < 0)
    abort();
}

int main(void) {
  /* push %rbp; mov %rsp, %rbp; mov $24, %edi; movabs $malloc, %rax; call *%rax; pop %rbp; ret */
  unsigned char place[PLACE_BYTES] = {0x55, 0x48, 0x89, 0xe5, 0xbf, 24, 0, 0,    0,    0x48, 0xb8, 0,
                                      0,    0,    0,    0,    0,    0,  0, 0xff, 0xd0, 0x5d, 0xc3};
  void *(*allocate)(size_t) = malloc;
  memcpy(place + 11, &allocate, sizeof allocate);
  unsigned char *code =
      mmap(NULL, PLACES * PLACE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < PLACES; i++)
    memcpy(code + i * PLACE_BYTES, place, sizeof place);
  pthread_t thread;
  if (pthread_create(&thread, NULL, count_questions, NULL))
    abort();
  stop_questions();
  for (int i = 0; i < PLACES; i++)
    free(((void *(*)(void))(code + i * PLACE_BYTES))());
  printf(questions > 0 && questions < PLACES ? "few questions\n" : "%d questions\n", (int)questions);
  return 0;
}
