/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* measure: run a command and append what it took to a file: "SECONDS PROCESSOR-SECONDS KIB USER-SECONDS", a line; processor
 * times are those of the processes that it waited for, too, user seconds without the system's part, the memory the peak of the
 * largest. Ends as the command does.
 *
 * MEASURE_TOUCH=MIB in the environment: writes to so much memory before. A virtual machine may have given its free memory
 * back to the host, and getting a page again takes up to twenty times as long as clearing it: that is no part of what a
 * command takes.
 *
 * usage: measure FILE COMMAND [ARGUMENT]... */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec * 1e-6; }

static _Noreturn void fail(const char *what, int error) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(error));
  exit(127);
}

/* In a process of its own: the command would inherit its peak. */
static void touch_memory(size_t bytes) {
  pid_t child = bytes ? fork() : -1;
  if (child > 0)
    waitpid(child, NULL, 0);
  if (child)
    return;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    _exit(1);
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096)
    memory[at] = 1;
  _exit(0);
}

int main(int argc, char **argv) {
  struct rusage usage;
  pid_t child;
  int status;
  if (argc < 3) {
    fputs("usage: measure FILE COMMAND [ARGUMENT]...\n", stderr);
    return 127;
  }
  FILE *file = fopen(argv[1], "ae");
  if (!file)
    fail(argv[1], errno);
  const char *mib = getenv("MEASURE_TOUCH");
  touch_memory(mib ? strtoul(mib, NULL, 10) << 20 : 0);
  double start = now();
  int error = posix_spawnp(&child, argv[2], NULL, NULL, argv + 2, environ);
  if (error)
    fail(argv[2], error);
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR)
      fail("wait4", errno);
  double end = now();
  double user = seconds(usage.ru_utime), system = seconds(usage.ru_stime);
  if (fprintf(file, "%.6f %.6f %ld %.6f\n", end - start, user + system, usage.ru_maxrss, user) < 0 || fclose(file) != 0)
    fail(argv[1], errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
