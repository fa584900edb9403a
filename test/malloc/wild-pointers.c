/* free of pointers to the stack, to the program's data, to other mappings, and to nothing ends the program: with a message, or
 * by a signal where nothing is mapped at the start of the two MiB around the pointer.
 *
 * RUN: %clang -O1 -fno-builtin -Wno-free-nonheap-object %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 * RUN: %clang -O1 -fno-builtin -Wno-free-nonheap-object %s %malloc_a -no-pie -o %t.archive
 * RUN: %t.archive 2>&1 | FileCheck %s
 *
 * CHECK-NOT: silent
 * CHECK: nothing: {{message|signal}}
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(16) char data[100];

static void try(const char *name, void *pointer) {
  int status, out = memfd_create("messages", 0); /* written to as logs are */
  char text[200] = "";
  fcntl(out, F_SETFL, O_APPEND);
  pid_t child = fork();
  if (!child) {
    dup2(out, STDERR_FILENO);
    free(pointer);
    _exit(0);
  }
  waitpid(child, &status, 0);
  if (pread(out, text, sizeof text - 1, 0) < 0)
    abort();
  close(out);
  fprintf(stderr, "%s: %s\n", name, !WIFSIGNALED(status) ? "silent" : strstr(text, "no block's") ? "message" : "signal");
}

int main(void) {
  _Alignas(16) char local[100];
  free(malloc(10));
  try("stack", local);
  try("data", data);
  try("mapped", mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  try("nothing", (void *)0x123450);
}
