/* Counts accesses to heap blocks in the slowest and plainest way: instrumented by LLVM with callbacks (-memprof-use-callbacks),
 * a program calls these functions for each access, and each looks up the block. Prints a line for each size of blocks:
 * "SIZE BLOCKS ACCESSES". Shares nothing with the runtime. One thread; memory is never reused. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES ((size_t)1 << 32)
#define MOST_BLOCKS ((size_t)1 << 22)

typedef struct block {
  uintptr_t start;
  size_t size, accesses;
} block;

static char *arena;
static size_t used, n_blocks;
static block *blocks; /* by address, as the arena only grows */

static void *map(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  return memory;
}

static void *take(size_t size, size_t alignment) {
  if (!arena) {
    arena = map(ARENA_BYTES);
    blocks = map(MOST_BLOCKS * sizeof *blocks);
  }
  used = (used + alignment - 1) / alignment * alignment;
  if (n_blocks == MOST_BLOCKS || used + size + 1 > ARENA_BYTES)
    abort();
  blocks[n_blocks++] = (block){.start = (uintptr_t)arena + used, .size = size};
  void *memory = arena + used;
  used += size + 1; /* no two blocks begin at one address */
  return memory;
}

static block *find(uintptr_t address) {
  size_t low = 0, high = n_blocks;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && address - blocks[low - 1].start < blocks[low - 1].size ? &blocks[low - 1] : NULL;
}

static void count(uintptr_t address) {
  block *found = find(address);
  if (found)
    found->accesses++;
}

static void count_range(const void *memory, size_t size) {
  for (size_t at = 0; at < size; at += 8)
    count((uintptr_t)memory + at);
}

void *malloc(size_t size) { return take(size, 16); }
void *calloc(size_t n, size_t size) { return take(n * size, 16); }
void free(void *memory) { (void)memory; }
void *aligned_alloc(size_t alignment, size_t size) { return take(size, alignment); }

void *realloc(void *memory, size_t size) {
  char *to = take(size, 16);
  const char *from = memory;
  block *old = find((uintptr_t)from);
  for (size_t i = 0; old && i < old->size && i < size; i++)
    to[i] = from[i];
  return to;
}

void __memprof_init(void) {}
void __memprof_version_mismatch_check_v1(void) {}
void __memprof_load(uintptr_t address) { count(address); }
void __memprof_store(uintptr_t address) { count(address); }

void *__memprof_memcpy(void *to, const void *from, size_t size) {
  count_range(from, size);
  count_range(to, size);
  return memcpy(to, from, size);
}

void *__memprof_memmove(void *to, const void *from, size_t size) {
  count_range(from, size);
  count_range(to, size);
  return memmove(to, from, size);
}

void *__memprof_memset(void *to, int byte, size_t size) {
  count_range(to, size);
  return memset(to, byte, size);
}

static int by_size(const void *left, const void *right) {
  const block *a = left, *b = right;
  return a->size < b->size ? -1 : a->size > b->size;
}

__attribute__((destructor)) static void print(void) {
  FILE *file = fopen(getenv("ORACLE"), "w");
  size_t n = n_blocks;
  if (!file)
    abort();
  qsort(blocks, n, sizeof *blocks, by_size);
  for (size_t i = 0, k; i < n; i = k) {
    size_t accesses = 0;
    for (k = i; k < n && blocks[k].size == blocks[i].size; k++)
      accesses += blocks[k].accesses;
    fprintf(file, "%zu %zu %zu\n", blocks[i].size, k - i, accesses);
  }
  fclose(file);
}
