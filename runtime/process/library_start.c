/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where recording starts and ends in a program that has the runtime as a shared object: preloaded by `hearth record`,
 * or libhearth_rt.so, which instrumented programs and libraries are linked to. The library is the first to be
 * initialised (-z initfirst), and its handlers for the end run last. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include "os.h"
#include "process.h"
#include "running_profile.h"
#include "thread_state.h"

#include <dlfcn.h>

hearth_runtime hearth_rt = {.next_due_ns = UINT64_MAX};

typedef int main_function(int argc, char **argv, char **environment);

/* The C library's; declared by none of its headers. */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static main_function *program_main;

/* The program runs inside this function: its stacks end here, without the C library's start code. */
__attribute__((used)) static int run_main(int argc, char **argv, char **environment) {
  hearth_this_thread.root = HEARTH_ROOT_OF_CALLED;
  return program_main(argc, argv, environment);
}

/* Returns the C library's __libc_start_main. */
__attribute__((used)) static void *replace_main(main_function *program) {
  program_main = program;
  return dlsym(RTLD_NEXT, "__libc_start_main");
}

/* It calls run_main in place of main, and is jumped to: no frame of ours is on the stacks of constructors. */
__asm__(".pushsection .text\n"
        ".globl __libc_start_main\n"
        ".type __libc_start_main,%function\n"
        "__libc_start_main:\n"
        ".cfi_startproc\n" HEARTH_CHOOSE_AND_JUMP("replace_main",
                                                  "run_main") ".cfi_endproc\n"
                                                              ".size __libc_start_main, .-__libc_start_main\n"
                                                              ".popsection");

static void end_library(void *unused) {
  (void)unused;
  hearth_finish();
}

/* Functions registered before the C library registers that of the dynamic loader, and for no library, run behind all
 * destructors. */
__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  if (!hearth_library_begins(environment))
    return;
  hearth_start(environment);
  hearth_library_has_begun(environment);
  bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime);
  __cxa_atexit(end_library, NULL, NULL);
  hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
}
