/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that only a shared object can stand in for, as they go on with the C library's own of the same name: the
 * start and the end of the program, and the giving up of rights. The shared object is preloaded by `hearth record`, or is
 * libhearth_rt.so, which instrumented programs and libraries are linked to. It is the first to be initialised (-z
 * initfirst), and its handlers for the end run last. */
#define _GNU_SOURCE /* RTLD_NEXT, setresuid */

#include "dump.h"
#include "os.h"
#include "process.h"
#include "running_profile.h"
#include "thread_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <unistd.h>

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

/* Programs that give up rights: the runtime's own thread gives them up, too. */

/* dlsym may allocate. */
static void *find_next_function(const char *name) {
  bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime);
  void *function = dlsym(RTLD_NEXT, name);

  hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
  return function;
}

static int note_result(int result) {
  int error = errno;

  if (result == 0 && hearth_is_recording())
    hearth_os_note_rights();
  errno = error;
  return result;
}

#define CHECKED(name, parameters, arguments)                                                                           \
  HEARTH_EXPORT int name parameters;                                                                                   \
  int name parameters {                                                                                                \
    int(*next) parameters = (int(*) parameters)find_next_function(#name);                                              \
    return note_result(next arguments);                                                                                \
  }

CHECKED(setuid, (uid_t id), (id))
CHECKED(setgid, (gid_t id), (id))
CHECKED(seteuid, (uid_t id), (id))
CHECKED(setegid, (gid_t id), (id))
CHECKED(setreuid, (uid_t real, uid_t effective), (real, effective))
CHECKED(setregid, (gid_t real, gid_t effective), (real, effective))
CHECKED(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
CHECKED(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
CHECKED(setgroups, (size_t count, const gid_t *groups), (count, groups))
CHECKED(initgroups, (const char *user, gid_t group), (user, group))
