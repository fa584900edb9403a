/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* watch OUTPUT COMMAND...: run the command; to OUTPUT is appended its resident memory in KiB: the median of the second half
 * of its time, looked at every 2 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SAMPLES = 1 << 20, PERIOD_NS = 2000000 };

static long resident_kib(pid_t pid) {
  char path[64];
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *file = fopen(path, "r");
  if (file) {
    if (fscanf(file, "%*d %ld", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int ascending(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static long samples[MOST_SAMPLES];
  size_t count = 0;
  int status;
  if (argc < 3)
    return 2;
  pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  while (waitpid(pid, &status, WNOHANG) == 0) {
    long kib = resident_kib(pid);
    if (kib && count < MOST_SAMPLES)
      samples[count++] = kib;
    nanosleep(&(struct timespec){.tv_nsec = PERIOD_NS}, NULL);
  }
  FILE *output = fopen(argv[1], "a");
  qsort(samples + count / 2, count - count / 2, sizeof *samples, ascending);
  if (!output || !count || fprintf(output, "%ld\n", samples[count / 2 + (count - count / 2) / 2]) < 0 || fclose(output))
    return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
