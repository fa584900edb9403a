/* A program that replaces mmap, madvise, getenv and their like by functions of its own, which allocate.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t.archive -pthread
 * RUN: %t.archive | FileCheck %s
 *
 * CHECK: well
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static void allocate(void) {
  char *text = strdup("a note about the call that was made");
  text[0] = 'A';
  free(text);
  free(malloc(200000));
}

#define REPLACED(result, name, parameters, ...)                                                                        \
  result name parameters {                                                                                             \
    static result(*real) parameters;                                                                                   \
    if (!real)                                                                                                         \
      *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                       \
    allocate();                                                                                                        \
    return real(__VA_ARGS__);                                                                                          \
  }
REPLACED(void *, mmap, (void *at, size_t bytes, int access, int flags, int file, off_t offset), at, bytes, access, flags, file, offset)
REPLACED(int, munmap, (void *at, size_t bytes), at, bytes)
REPLACED(int, mprotect, (void *at, size_t bytes, int access), at, bytes, access)
REPLACED(int, madvise, (void *at, size_t bytes, int advice), at, bytes, advice)
REPLACED(char *, getenv, (const char *name), name)
REPLACED(char *, secure_getenv, (const char *name), name)
REPLACED(ssize_t, write, (int file, const void *bytes, size_t count), file, bytes, count)
REPLACED(unsigned long, getauxval, (unsigned long type), type)

static void *work(void *unused) {
  static _Thread_local char *blocks[2000];
  for (int i = 0; i < 2000; i++)
    memset((blocks[i] = malloc((size_t)i * 211)), 1, (size_t)i * 211);
  for (int i = 0; i < 2000; i++)
    free(blocks[i]);
  malloc_trim(0);
  return unused;
}

int main(void) {
  pthread_t threads[10];
  for (int i = 0; i < 10; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 10; i++)
    pthread_join(threads[i], NULL);
  work(NULL);
  puts("well");
}
