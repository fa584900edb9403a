/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define _GNU_SOURCE
#include "counts.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* COUNTS_OUT: the file to which each process appends its line. COUNTS_TIMES: one with the microseconds of processor time
 * that each of them takes, in order; written if it is not there, and then nothing else is. */

#define ADDRESS_SPACE ((size_t)1 << 47)

uint64_t *counts;
uintptr_t __memprof_shadow_memory_dynamic_address;
static bool is_first_run;

void __memprof_init(void);
void __memprof_version_mismatch_check_v1(void) {}

static void die(const char *what) {
  dprintf(STDERR_FILENO, "counts: %s\n", what);
  _exit(3);
}

void *reserve(size_t limit) {
  void *memory = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    die("cannot reserve address space");
  madvise(memory, limit, MADV_NOHUGEPAGE);
  return memory;
}

/* Whole pages of counters. */
void counts_clear(uintptr_t start, uintptr_t end) {
  char *first = (char *)(counts + start / GRANULE_BYTES), *last = (char *)(counts + end / GRANULE_BYTES);
  madvise((char *)((uintptr_t)first & -(uintptr_t)PAGE_BYTES), (size_t)(last - first) + PAGE_BYTES, MADV_DONTNEED);
}

static void count_range(const void *start, size_t bytes) {
  if (bytes)
    for (uintptr_t i = (uintptr_t)start / GRANULE_BYTES; i <= ((uintptr_t)start + bytes - 1) / GRANULE_BYTES; i++)
      counts[i]++;
}

void *__memprof_memcpy(void *to, const void *from, size_t bytes) {
  count_range(from, bytes);
  count_range(to, bytes);
  return memcpy(to, from, bytes);
}

void *__memprof_memmove(void *to, const void *from, size_t bytes) {
  count_range(from, bytes);
  count_range(to, bytes);
  return memmove(to, from, bytes);
}

void *__memprof_memset(void *to, int value, size_t bytes) {
  count_range(to, bytes);
  return memset(to, value, bytes);
}

static void on_half_time(int signal) {
  (void)signal;
  window_begins();
}

static long lines_of(const char *path) {
  FILE *file = fopen(path, "r");
  long lines = 0;
  for (int c; file && (c = getc(file)) != EOF;)
    lines += c == '\n';
  if (file)
    fclose(file);
  return lines;
}

/* 0: unknown. */
static long microseconds_of_process(const char *path, long number) {
  FILE *file = fopen(path, "r");
  long microseconds = 0;
  for (; file && number >= 0; number--)
    if (fscanf(file, "%ld", &microseconds) != 1)
      microseconds = 0;
  if (file)
    fclose(file);
  return microseconds;
}

static void begin(void) {
  const char *times = getenv("COUNTS_TIMES"), *out = getenv("COUNTS_OUT");
  if (!times || !out)
    die("COUNTS_TIMES and COUNTS_OUT are to be set");
  long microseconds = microseconds_of_process(times, lines_of(out));
  is_first_run = !microseconds;
  if (is_first_run)
    return;
  struct itimerval half = {.it_value = {.tv_sec = microseconds / 2 / 1000000, .tv_usec = microseconds / 2 % 1000000}};
  signal(SIGPROF, on_half_time);
  setitimer(ITIMER_PROF, &half, NULL);
}

__attribute__((destructor(102))) static void end(void) {
  struct timespec now;
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  int output = open(getenv(is_first_run ? "COUNTS_TIMES" : "COUNTS_OUT"), O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (is_first_run)
    dprintf(output, "%ld\n", (long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
  else
    window_ends(output);
  close(output);
}

/* Modules call it before anything else of theirs runs. */
void __memprof_init(void) {
  if (counts)
    return;
  counts = reserve(ADDRESS_SPACE / GRANULE_BYTES * sizeof *counts);
  __memprof_shadow_memory_dynamic_address = (uintptr_t)counts;
  begin();
}
