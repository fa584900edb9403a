/* A block that is freed or resized twice, and a pointer that is no block's, end the program with a message: at once, after
 * other calls, by another thread, long after. Small, medium and large blocks.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t 2>&1 | FileCheck %s
 *
 * CHECK: 65 cases end with a message
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
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
static void late(void) {
  free(before), free(block), free(behind);
  churn(bytes < 1000 ? bytes + 64 : 300); /* nothing that lies where the block was */
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

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(at_once),       CASE(interleaved), CASE(another_thread_second), CASE(another_thread_first), CASE(another_thread_twice),
    CASE(late),          CASE(after_trim),  CASE(after_realloc),         CASE(realloc_of_freed),     CASE(interior),
    CASE(interior_far),  CASE(misaligned),  CASE(realloc_of_interior),
};

/* Whether the child is aborted after a message. */
static int is_caught(void (*run)(void), size_t size) {
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
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && strstr(text, "hearth malloc: ") == text;
}

int main(void) {
  static const size_t sizes[] = {32, 48, 1000, 5000, 200000};
  int caught = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t j = 0; j < sizeof cases / sizeof *cases; j++)
      if (is_caught(cases[j].run, sizes[i]))
        caught++;
      else
        fprintf(stderr, "%s, %zu bytes: silent\n", cases[j].name, sizes[i]);
  fprintf(stderr, "%d cases end with a message\n", caught);
}
