/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where profiling starts and ends in a program that the runtime is linked into. Each object of the archive needs the
 * state below, so a program that needs any of them gets this object. */
#include "os.h"
#include "process.h"
#include "running_profile.h"
#include "thread_state.h"

#include <signal.h>

hearth_runtime hearth_rt = {.next_due_ns = UINT64_MAX};

/* References to the objects that define functions of the C and C++ libraries, and those that instrumented code
 * calls: whichever object of the archive a program needs first, it gets all of them, and so one allocator, one set
 * of counters for its libraries, too, and a profile whatever way it ends. */
extern void _ZdlPv(void *pointer);
extern void free(void *pointer);
extern void _exit(int status);
extern int execve(const char *path, char *const argv[], char *const environment[]);
extern int malloc_trim(size_t pad);
extern int mlockall(int flags);
extern void __hearth_exact_init(void);
__attribute__((used)) static void *const all_or_nothing[] = {__hearth_exact_init, free,        _ZdlPv,  _exit, execve,
                                                             sigaction,           malloc_trim, mlockall};

static void program_start(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  hearth_start(environment);
}

/* Called by the C library before all constructors. */
__attribute__((section(".preinit_array"), used)) static void (*const start_entry)(int, char **,
                                                                                  char **) = program_start;

/* The C library calls constructors from where it calls main from. */
__attribute__((constructor)) static void note_root(void) { hearth_this_thread.root = HEARTH_ROOT_OF_THIS; }

/* Entries run backwards, those with numbers last: after all destructors of the program, before those of its libraries.
 */
__attribute__((section(".fini_array.00000"), used)) static void (*const finish_entry)(void) = hearth_finish;
