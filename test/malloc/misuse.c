/* A block that is freed or resized twice, and a pointer that is no block's, end the program with a message: at once, after
 * other calls, by another thread, long after. Small, medium and large blocks.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t 2>&1 | FileCheck %s
 *
 * CHECK: 65 cases are caught
 *
 * With the argument "table", for test/bench/misuse.sh: each case, these and further ones, under whatever allocator it runs with, and
 * how many of the sizes end the program, by whatever signal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[4000];
static char *before, *block, *behind;
static size_t bytes;

static void *free_block(void *freed) {
  free(freed);
  return NULL;
}
static void by_another_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, free_block, block);
  pthread_join(thread, NULL);
}
static void churn(size_t size) {
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4000; i++)
      kept[i] = malloc(size);
    for (int i = 0; i < 4000; i++)
      free(kept[i]);
  }
}

static void at_once(void) { free(block), free(block); }
static void interleaved(void) { free(block), free(behind), free(block); }
static void another_thread_second(void) { free(block), by_another_thread(); }
static void another_thread_first(void) { by_another_thread(), free(block); }
static void another_thread_twice(void) { by_another_thread(), by_another_thread(); }
/* Nothing that lies where the block was: a large one's addresses go back, and a heap that grew might take them. */
enum { LARGE = 100000 };
static void late(void) {
  free(before), free(block), free(behind);
  if (bytes < LARGE)
    churn(bytes < 1000 ? bytes + 64 : 300);
  else
    for (int i = 0; i < 12000; i++)
      free(kept[0] = malloc(300));
  free(block);
}
static void after_trim(void) {
  free(block);
  malloc_trim(0);
  free(block);
}
static void after_realloc(void) {
  void *volatile moved = realloc(block, bytes * 100);
  kept[0] = moved;
  free(block);
}
static void realloc_of_freed(void) { free(block), kept[0] = realloc(block, bytes * 2); }
static void interior(void) { free(block + 16); }
static void interior_far(void) { free(block + bytes / 32 * 16); }
static void misaligned(void) { free(block + 8); }
static void realloc_of_interior(void) { kept[0] = realloc(block + 16, 100); }

static void fill_many(void) {
  for (int i = 0; i < 4000; i++)
    if ((kept[i] = malloc(bytes)))
      memset(kept[i], i, bytes);
  for (int i = 0; i < 4000; i++)
    free(kept[i]);
}
static void written_after_free(void) {
  free(block);
  memset(block, 0x41, bytes < 64 ? bytes : 64);
  fill_many();
}
static void written_long_after_free(void) { /* many, once their memory has been looked at */
  fill_many();
  for (int i = 0; i < 4000; i++)
    kept[i] = malloc(bytes);
  for (int i = 0; i < 4000; i += 2)
    free(kept[i]);
  malloc_trim(0);
  for (int i = 0; i < 4000; i += 2)
    memset(kept[i], 0x41, bytes < 64 ? bytes : 64);
  fill_many();
}
static void overflow(void) {
  memset(block + malloc_usable_size(block), 0x41, 32);
  free(behind), free(block), free(before);
  fill_many();
}
static void underflow(void) {
  memset(block - 32, 0x41, 32);
  free(behind), free(block), free(before);
  fill_many();
}
static void overflow_far(void) { memset(block, 0x41, 8 << 20); }

typedef struct misuse {
  const char *name;
  void (*run)(void);
} misuse;
#define CASE(name) {#name, name}
static const misuse further[] = {CASE(written_after_free), CASE(written_long_after_free), CASE(overflow),
                                 CASE(underflow), CASE(overflow_far)};
static const misuse cases[] = {
    CASE(at_once),
    CASE(interleaved),
    CASE(another_thread_second),
    CASE(another_thread_first),
    CASE(another_thread_twice),
    CASE(late),
    CASE(after_trim),
    CASE(after_realloc),
    CASE(realloc_of_freed),
    CASE(interior),
    CASE(interior_far),
    CASE(misaligned),
    CASE(realloc_of_interior),
};

typedef enum outcome { SILENT, STOPPED, TOLD } outcome;

/* Of a child: stopped by a signal, or aborted with a message of this allocator's. */
static outcome outcome_of(void (*run)(void), size_t size) {
  int status, out = memfd_create("messages", 0); /* written to as logs are */
  char text[200];
  fcntl(out, F_SETFL, O_APPEND);
  pid_t child = fork();
  if (!child) {
    dup2(out, STDERR_FILENO);
    bytes = size;
    before = malloc(size), block = malloc(size), behind = malloc(size);
    memset(block, 1, size);
    run();
    _exit(0);
  }
  waitpid(child, &status, 0);
  ssize_t length = pread(out, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  close(out);
  if (!WIFSIGNALED(status))
    return SILENT;
  return WTERMSIG(status) == SIGABRT && strstr(text, "hearth malloc: ") == text ? TOLD : STOPPED;
}

static const size_t sizes[] = {32, 48, 1000, 5000, 200000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void print_row(const misuse *misuse) {
  int stopped = 0;
  for (size_t i = 0; i < SIZES; i++)
    stopped += outcome_of(misuse->run, sizes[i]) != SILENT;
  printf("%s %d\n", misuse->name, stopped);
}

/* Once a large block's segment has gone back, too, the system stops the program, as it does with glibc. */
static bool is_caught(void (*run)(void), size_t size) {
  outcome outcome = outcome_of(run, size);
  return outcome == TOLD || (outcome == STOPPED && run == late && size >= LARGE);
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "table")) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      print_row(&cases[i]);
    for (size_t i = 0; i < sizeof further / sizeof *further; i++)
      print_row(&further[i]);
    return 0;
  }
  int caught = 0;
  for (size_t i = 0; i < SIZES; i++)
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
      if (is_caught(cases[j].run, sizes[i]))
        caught++;
      else
        fprintf(stderr, "%s, %zu bytes: silent\n", cases[j].name, sizes[i]);
  fprintf(stderr, "%d cases are caught\n", caught);
}
