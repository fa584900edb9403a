/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions by which a program ends, or has another take its place: the profile is written before. exit() itself
 * calls hearth_finish (init.c): program_entry.c, library_entry.c. */
#define _GNU_SOURCE /* execvpe, execveat */
#include "dump.h"
#include "os.h"
#include "output.h"
#include "process.h"
#include "running_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The exec functions: the profile is written before the program is replaced. All of them are here, since inside the C
 * library they do not call each other by names that can be defined here. If none succeeds the program goes on, and the
 * profile is written again at its end. */

static int failed(int result) {
  errno = -result;
  return -1;
}

/* Another program is about to take this one's place: write the profile. A message says if that one is not recorded.
 * A child of vfork is no end of the program, though it runs in its memory. */
static void leave_for(const char *program) {
  hearth_dump_at_end();
  if (hearth_recorder && hearth_is_recording() && !hearth_rt.options.follow_children)
    hearth_message("the program goes on as '%s', which is not recorded without --follow-children", program);
}

HEARTH_EXPORT int execve(const char *path, char *const argv[], char *const environment[]) {
  leave_for(path);
  return failed(hearth_os_exec(path, argv, environment));
}

HEARTH_EXPORT int execv(const char *path, char *const argv[]) { return execve(path, argv, environ); }

HEARTH_EXPORT int fexecve(int fd, char *const argv[], char *const environment[]) {
  return execveat(fd, "", argv, environment, AT_EMPTY_PATH);
}

HEARTH_EXPORT int execveat(int directory, const char *path, char *const argv[], char *const environment[], int flags) {
  leave_for(*path ? path : argv[0]);
  return failed(hearth_os_exec_at(directory, path, argv, environment, flags));
}

/* Run `path` as a script of the shell. */
static int exec_script(const char *path, char *const argv[], char *const environment[]) {
  size_t count = 0;

  while (argv[count])
    ++count;
  const char *shell_argv[count + 3];
  shell_argv[0] = "/bin/sh";
  shell_argv[1] = path;
  for (size_t i = 1; i < count; ++i)
    shell_argv[i + 1] = argv[i];
  shell_argv[count > 0 ? count + 1 : 2] = NULL;
  return hearth_os_exec(shell_argv[0], (char *const *)shell_argv, environment);
}

static int try(const char *path, char *const argv[], char *const environment[]) {
  int result = hearth_os_exec(path, argv, environment);

  return result == -ENOEXEC ? exec_script(path, argv, environment) : result;
}

/* Does the search go on behind a directory that gave this? Other directories may have the file that this one lacks or
 * does not show. */
static bool is_passed_over(int result) {
  return result == -ENOENT || result == -ENOTDIR || result == -EACCES || result == -ESTALE || result == -ENODEV ||
         result == -ETIMEDOUT || result == -ENAMETOOLONG;
}

/* POSIX leaves open where programs are without PATH: as in glibc, /bin and /usr/bin. */
static int search_path(const char *file, char *const argv[], char *const environment[]) {
  const char *directories = hearth_environment_find(environ, "PATH");
  bool denied = false;
  int result = -ENOENT;

  for (const char *at = directories ? directories : "/bin:/usr/bin";; ++at) {
    char buffer[PATH_MAX];
    hearth_text path = hearth_text_begin(buffer, sizeof buffer);
    size_t length = strcspn(at, ":");
    hearth_text_add_bytes(&path, at, length); /* an empty one is the working directory */
    hearth_text_add(&path, length ? "/" : "");
    hearth_text_add(&path, file);
    result = path.cut ? -ENAMETOOLONG : try(buffer, argv, environment);
    denied |= result == -EACCES;
    if (!is_passed_over(result))
      return result;
    at += length;
    if (!*at)
      return denied ? -EACCES : result;
  }
}

HEARTH_EXPORT int execvpe(const char *file, char *const argv[], char *const environment[]) {
  if (!*file)
    return failed(-ENOENT);
  leave_for(file);
  return failed(strchr(file, '/') ? try(file, argv, environment) : search_path(file, argv, environment));
}

HEARTH_EXPORT int execvp(const char *file, char *const argv[]) { return execvpe(file, argv, environ); }

/* The arguments from `first` to NULL. */
static size_t count_arguments(va_list *arguments) {
  size_t count = 1;

  while (va_arg(*arguments, const char *))
    ++count;
  return count;
}

/* Put them in an array of one element more. */
static void collect_arguments(char **argv, const char *first, va_list *arguments) {
  argv[0] = (char *)first;
  for (size_t i = 0; argv[i];)
    argv[++i] = va_arg(*arguments, char *);
}

/* A macro, because the array must live in the function that was called. */
#define COLLECT(argv, first, arguments)                                                                                \
  va_list arguments;                                                                                                   \
  va_start(arguments, first);                                                                                          \
  size_t argv##_count = count_arguments(&(arguments));                                                                 \
  va_end(arguments);                                                                                                   \
  char *argv[argv##_count + 1];                                                                                        \
  va_start(arguments, first);                                                                                          \
  collect_arguments(argv, first, &(arguments))

HEARTH_EXPORT int execl(const char *path, const char *first, ...) {
  COLLECT(argv, first, arguments);
  va_end(arguments);
  return execve(path, argv, environ);
}

HEARTH_EXPORT int execlp(const char *file, const char *first, ...) {
  COLLECT(argv, first, arguments);
  va_end(arguments);
  return execvpe(file, argv, environ);
}

HEARTH_EXPORT int execle(const char *path, const char *first, ...) {
  COLLECT(argv, first, arguments);
  char *const *environment = va_arg(arguments, char *const *);
  va_end(arguments);
  return execve(path, argv, environment);
}

/* Ends without exit(): functions that leave the program at once. */

static _Noreturn void leave_program(int status) {
  hearth_dump_at_end();
  hearth_os_exit(status);
}

HEARTH_EXPORT _Noreturn void _exit(int status) { leave_program(status); }

HEARTH_EXPORT _Noreturn void _Exit(int status) { leave_program(status); }

/* SIGABRT may be ignored, or its handler jump out. Weak, because a static C library has something else that it needs in
 * the object that defines this; there, the handler of SIGABRT does. */
HEARTH_EXPORT __attribute__((weak)) _Noreturn void abort(void) {
  hearth_dump_at_end();
  hearth_os_abort();
}

/* The C library's ends the parent without calling _exit by its name. */
HEARTH_EXPORT int daemon(int keep_directory, int keep_streams) {
  pid_t child = fork();

  if (child > 0)
    leave_program(0);
  if (child < 0 || setsid() < 0 || (!keep_directory && chdir("/") < 0))
    return -1;
  if (keep_streams)
    return 0;
  int null = open("/dev/null", O_RDWR);
  if (null < 0)
    return -1;
  for (int stream = 0; stream <= 2; ++stream)
    dup2(null, stream);
  if (null > 2)
    close(null);
  return 0;
}

/* quick_exit() runs these last of all, then leaves by a call within the C library. */
__attribute__((constructor)) static void watch_quick_exit(void) { at_quick_exit(hearth_dump_at_end); }
