/* A coroutine's stack is unmapped, and a smaller one takes its place: a frame pointer into what is no longer mapped ends
 * the call stack.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -I%S/../Inputs
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:recursion=full %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize | FileCheck %s
 *
 * The stack is read across pages as long as they are there.
 * CHECK: AllocCount=1 MaxSize=1001 | changed-stack.c.tmp+{{0x[0-9a-f]+}} changed-stack.c.tmp+{{0x[0-9a-f]+}} changed-stack.c.tmp+[[DEEP:0x[0-9a-f]+]] changed-stack.c.tmp+[[DEEP]] changed-stack.c.tmp+[[DEEP]] changed-stack.c.tmp+
 * CHECK: AllocCount=1 MaxSize=1005 | changed-stack.c.tmp+{{0x[0-9a-f]+$}}
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "wild.h"

#define OLD_SIZE ((size_t)1 << 20)
#define NEW_SIZE ((size_t)1 << 16)

static char *stack;
static ucontext_t main_context, coroutine_context;

__attribute__((noinline)) static void make(size_t size) { free(malloc(size)); }

__attribute__((noinline)) static int deep(int depth) {
  volatile char frame[5000];

  frame[depth] = 1;
  if (depth == 0)
    make(1001);
  return depth ? deep(depth - 1) + frame[depth] : 0;
}

static void in_old(void) { deep(3); }

static void in_new(void) { wild((uintptr_t)stack + OLD_SIZE / 2); }

static void run(void (*body)(void), size_t size) {
  getcontext(&coroutine_context);
  coroutine_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = size};
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, body, 0);
  swapcontext(&main_context, &coroutine_context);
}

int main(void) {
  stack = mmap(NULL, OLD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  run(in_old, OLD_SIZE);
  munmap(stack, OLD_SIZE);
  if (mmap(stack, NEW_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != stack)
    return 1;
  run(in_new, NEW_SIZE);
  return 0;
}
