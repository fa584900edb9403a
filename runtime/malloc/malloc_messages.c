/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages are put together on the stack and written by one system call. No descriptor is kept for them, as a profiled
 * program does: daemons close theirs so that nobody waits for the end of a pipe.
 *
 * Some are of plans whose bits nothing sets: constructors that the plugin emits call functions here, each of which says its message
 * once. */
#define _GNU_SOURCE
#include "malloc_messages.h"

#include "hints.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct stat at_start; /* st_nlink 0: there was no standard error */

/* Before code of the program can close or replace it. */
__attribute__((constructor(101))) static void look_at_standard_error(void) {
  if (fstat(STDERR_FILENO, &at_start))
    at_start.st_nlink = 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_nlink && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_for_messages(void) {
  struct stat now, output;
  if (fstat(STDERR_FILENO, &now))
    return false;
  return is_same(&at_start, &now) || (fstat(STDOUT_FILENO, &output) == 0 && is_same(&output, &now)) ||
         (S_ISREG(now.st_mode) && fcntl(STDERR_FILENO, F_GETFL) & O_APPEND);
}

/* Where nobody reads a pipe, or a file may not become larger, the system sends a signal that would end the program. It is taken
 * back. Nobody is left to tell when standard error cannot be written. */
static void write_to_standard_error(const struct iovec *parts, int count) {
  sigset_t sent, blocked, pending;
  const struct timespec at_once = {0};
  sigemptyset(&sent);
  sigaddset(&sent, SIGPIPE);
  sigaddset(&sent, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &sent, &blocked);
  sigpending(&pending);
  if (writev(STDERR_FILENO, parts, count) < 0 && !sigismember(&pending, errno == EPIPE ? SIGPIPE : SIGXFSZ))
    sigtimedwait(&sent, NULL, &at_once);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void hearth_malloc_warn(const char *what, const char *detail) {
  static const char prefix[] = "hearth malloc: ";
  int saved_errno = errno;
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1},
                          {(char *)what, strlen(what)},
                          {(char *)detail, strlen(detail)},
                          {(char *)"\n", 1}};
  if (is_for_messages())
    write_to_standard_error(parts, sizeof parts / sizeof *parts);
  errno = saved_errno;
}

_Noreturn void hearth_fatal(const char *what, const void *address) {
  char digits[2 + 16 + 1] = "0x";
  for (int i = 0; i < 16; i++)
    digits[2 + i] = "0123456789abcdef"[(uintptr_t)address >> (60 - 4 * i) & 15];
  hearth_malloc_warn(what, digits);
  abort();
}

/* Plans. */

static bool is_wanted;

void hearth_missing_sites_open(bool warn) { is_wanted = warn; }

/* If there are hints to lose and nothing like it was said before. */
static void say(atomic_bool *is_said, const char *message) {
  char text[480];
  const hearth_hints *hints = &hearth_hints_of_process;
  bool gives_hints = hints->cold_below || hints->hot_from <= UINT8_MAX;
  if (!gives_hints || hints->is_foreign_free || !is_wanted || atomic_exchange(is_said, true))
    return;
  snprintf(text, sizeof text, "%s. HEARTH_MALLOC=sites-warning=off silences this", message);
  hearth_malloc_warn(text, "");
}

static void tell(atomic_bool *is_said, const char *before, uint64_t plan, const char *behind) {
  char text[400];
  snprintf(text, sizeof text, "%s%016" PRIx64 "%s", before, plan, behind);
  say(is_said, text);
}

static void tell_of_no_sites(uint64_t plan) {
  static atomic_bool is_said;
  tell(&is_said, "no decision site of plan ", plan,
       " so far: cold and hot blocks that their callers tell apart are placed as without a profile. Compile all files "
       "with that profile, from -O1 on, and profile again after large changes; if dlopen loads the library that "
       "allocates, link the program with -rdynamic");
}

static void tell_of_own_word(uint64_t plan) {
  static atomic_bool is_said;
  tell(&is_said, "a library keeps the contexts of plan ", plan,
       " to itself: its blocks are placed as without a profile where the program's callers tell blocks apart. Its "
       "version script, or -Bsymbolic, hides them: add 'global: __hearth_contexts.*;' to the script");
}

/* A program or library calls this as it starts if its allocations heed the bits of a plan and it has files without
 * decision sites. It passes the function that the loader found for it where decision sites are (NULL: none), and the
 * word that it reads. */

HEARTH_EXPORT void hearth_malloc_need_sites(uint64_t plan, void *(*word_of_sites)(void), void *word) {
  if (!word_of_sites)
    tell_of_no_sites(plan);
  else if (word_of_sites() != word)
    tell_of_own_word(plan);
}

/* A program, and each library, calls this as it starts, for each plan of its files, with the pool of each of the plan's ids. The
 * first one's layout counts. */

HEARTH_EXPORT void hearth_malloc_plan(uint64_t plan, const uint8_t *layout) {
  static atomic_bool is_said;
  uint64_t known = 0;
  if (atomic_compare_exchange_strong_explicit(&hearth_hints_of_process.plan, &known, plan, memory_order_relaxed,
                                              memory_order_relaxed))
    hearth_hints_set_layout(layout);
  if (!known || known == plan)
    return;
  tell(&is_said, "files that were compiled with plan ", plan,
       " are in one process with files of another one: where a context goes through both, blocks are placed as without "
       "a profile. Compile all with one profile (make clean), libraries too");
}

/* A program, and each library, calls this as it starts that was compiled for a link with the plugin, and linked without it. */

HEARTH_EXPORT void hearth_malloc_no_plugin(void) {
  static atomic_bool is_said;
  say(&is_said,
      "the link-time optimiser was run without Hearth's plugin: cold and hot blocks that contexts tell apart are "
      "placed as without a profile. Compile and link with the flags of 'hearth flags use --lto=thin' (or full)");
}
