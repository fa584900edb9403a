/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Preloaded into a program with a profile, for idle.sh: gives its cold blocks addresses that are never used again, in the file
 * hearth-cold-blocks of the folder HEARTH_COLD_LIVES, and notes in its file lives when each began and ended. So a page that is
 * touched was touched for the sake of these blocks. The program must be compiled without the allocator's fast path, which frees
 * blocks in place. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { COLD_BELOW = 64, LIVES_MOST = 1 << 26 };
static const size_t room = (size_t)2 << 30;

typedef struct life {
  uint64_t begin, size; /* since the start of the memory; bytes */
  uint64_t birth_ns, death_ns;
} life;

static char *memory;
static life *lives;
static size_t used, count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (!function)
    abort();
  return function;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *map(const char *folder, const char *name, size_t size) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    abort();
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
    abort();
  void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED)
    abort();
  return mapped;
}

static void open_files(void) {
  const char *folder = getenv("HEARTH_COLD_LIVES");
  if (!folder)
    abort();
  lives = map(folder, "lives", LIVES_MOST * sizeof *lives);
  memory = map(folder, "hearth-cold-blocks", room);
}

static void *make(size_t size) {
  pthread_mutex_lock(&lock);
  if (!memory)
    open_files();
  size_t at = used;
  used += (size + 16) / 16 * 16;
  if (used > room || count == LIVES_MOST)
    abort();
  lives[count++] = (life){.begin = at, .size = size, .birth_ns = now_ns()};
  pthread_mutex_unlock(&lock);
  return memory + at;
}

static life *find(const void *block) {
  size_t low = 0, high = count, at = (size_t)((const char *)block - memory);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (lives[middle].begin < at)
      low = middle + 1;
    else
      high = middle;
  }
  return &lives[low];
}

static int is_ours(const void *block) {
  return memory && (const char *)block >= memory && (const char *)block < memory + room;
}

void *malloc_hot_cold(size_t size, uint8_t hint) {
  static void *(*other)(size_t, uint8_t);
  if (hint < COLD_BELOW)
    return make(size);
  if (!other)
    other = (void *(*)(size_t, uint8_t))next("malloc_hot_cold");
  return other(size, hint);
}

void *calloc_hot_cold(size_t number, size_t size, uint8_t hint) {
  static void *(*other)(size_t, size_t, uint8_t);
  if (hint < COLD_BELOW && number < room && size < room)
    return make(number * size);
  if (!other)
    other = (void *(*)(size_t, size_t, uint8_t))next("calloc_hot_cold");
  return other(number, size, hint);
}

static void end(void *block) { find(block)->death_ns = now_ns(); }

static void *copy(void *block, size_t size, void *to) {
  size_t before = find(block)->size;
  memcpy(to, block, before < size ? before : size);
  end(block);
  return to;
}

void *realloc_hot_cold(void *block, size_t size, uint8_t hint) {
  static void *(*other)(void *, size_t, uint8_t);
  if (is_ours(block))
    return copy(block, size, malloc_hot_cold(size, hint));
  if (!block && hint < COLD_BELOW)
    return make(size);
  if (!other)
    other = (void *(*)(void *, size_t, uint8_t))next("realloc_hot_cold");
  return other(block, size, hint);
}

void *realloc(void *block, size_t size) {
  static void *(*other)(void *, size_t);
  if (is_ours(block))
    return copy(block, size, malloc(size));
  if (!other)
    other = (void *(*)(void *, size_t))next("realloc");
  return other(block, size);
}

size_t malloc_usable_size(void *block) {
  static size_t (*other)(void *);
  if (is_ours(block))
    return find(block)->size;
  if (!other)
    other = (size_t (*)(void *))next("malloc_usable_size");
  return other(block);
}

void free(void *block) {
  static void (*other)(void *);
  if (is_ours(block)) {
    end(block);
    return;
  }
  if (!other)
    other = (void (*)(void *))next("free");
  other(block);
}

/* C++'s functions, by their linkage names. */
void *_Znwm12__hot_cold_t(size_t size, uint8_t hint) {
  static void *(*other)(size_t, uint8_t);
  if (hint < COLD_BELOW)
    return make(size);
  if (!other)
    other = (void *(*)(size_t, uint8_t))next("_Znwm12__hot_cold_t");
  return other(size, hint);
}
void *_Znam12__hot_cold_t(size_t size, uint8_t hint) { return _Znwm12__hot_cold_t(size, hint); }
void _ZdlPv(void *block) { free(block); }
void _ZdaPv(void *block) { free(block); }
void _ZdlPvm(void *block, size_t size) {
  (void)size;
  free(block);
}
void _ZdaPvm(void *block, size_t size) {
  (void)size;
  free(block);
}
