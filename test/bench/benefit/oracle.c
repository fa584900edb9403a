/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many pages would do if blocks were placed by what will happen to them? The program's whole allocator, which keeps a
 * list of all blocks: when each began and ended, and how often it was accessed in the window. A line for each process:
 *
 *   PAGES  filled by the blocks that are accessed in the window, at the time when most such bytes are live
 *   BUSY   the same for those with most accesses for a byte that together take 99 % of them
 */
#define _GNU_SOURCE
#include "counts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In the granule before a block. */
struct header {
  uint32_t room_log2; /* bytes of header and block are 1 << room_log2; also of the free list that it goes to */
  uint32_t born;      /* number of the allocation or release */
  uint64_t bytes;     /* granules of the block; 0: free */
};

struct life {
  uint32_t born, ended;
  uint64_t bytes, accesses;
};

#define ARENA_BYTES ((size_t)1 << 38)
#define MOST_LIVES  ((size_t)1 << 27)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *arena, *arena_end;
static struct header *free_lists[48];
static struct life *lives;
static size_t life_count;
static uint32_t now;

static uint64_t accesses_of(const struct header *header) {
  uint64_t sum = 0, *first = counts + (uintptr_t)(header + 1) / GRANULE_BYTES;
  for (size_t i = 0; i < header->bytes / GRANULE_BYTES; i++)
    sum += first[i];
  return sum;
}

static void forget_accesses(const struct header *header) {
  memset(counts + (uintptr_t)(header + 1) / GRANULE_BYTES, 0, header->bytes / GRANULE_BYTES * sizeof *counts);
}

static void note_life(const struct header *header) {
  uint64_t accesses = counts ? accesses_of(header) : 0;
  if (accesses && life_count < MOST_LIVES)
    lives[life_count++] = (struct life){header->born, now, header->bytes, accesses};
}

static struct header *new_room(unsigned room_log2) {
  if (!arena) {
    arena = arena_end = reserve(ARENA_BYTES);
    lives = reserve(MOST_LIVES * sizeof *lives);
  }
  struct header *header = (struct header *)arena_end;
  arena_end += (size_t)1 << room_log2;
  header->room_log2 = room_log2;
  return header;
}

void *malloc(size_t bytes) {
  uint64_t granules = (bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
  uint64_t room = ((granules ? granules : 1) + 1) * GRANULE_BYTES;
  if (bytes > ARENA_BYTES / 8)
    return NULL;
  unsigned room_log2 = 64 - (unsigned)__builtin_clzll(room - 1);
  pthread_mutex_lock(&lock);
  struct header *header = free_lists[room_log2];
  if (header)
    free_lists[room_log2] = *(struct header **)(header + 1);
  else
    header = new_room(room_log2);
  header->bytes = room - GRANULE_BYTES;
  header->born = now++;
  pthread_mutex_unlock(&lock);
  return header + 1;
}

void free(void *block) {
  struct header *header = (struct header *)block - 1;
  if (!block)
    return;
  pthread_mutex_lock(&lock);
  now++;
  note_life(header);
  if (counts)
    forget_accesses(header);
  header->bytes = 0;
  *(struct header **)block = free_lists[header->room_log2];
  free_lists[header->room_log2] = header;
  pthread_mutex_unlock(&lock);
}

size_t malloc_usable_size(void *block) { return block ? ((struct header *)block)[-1].bytes : 0; }

void *calloc(size_t count, size_t bytes) {
  size_t total;
  void *block = __builtin_mul_overflow(count, bytes, &total) ? NULL : malloc(total);
  return block ? memset(block, 0, total) : NULL;
}

/* Old and new are never counted as live together: an allocator that knows the future would have left the room. */
void *realloc(void *block, size_t bytes) {
  size_t old = malloc_usable_size(block);
  struct header *target = malloc(bytes);
  if (target && block) {
    memcpy(target, block, old < bytes ? old : bytes);
    free(block);
    target[-1].born = now;
  }
  return target;
}

/* Blocks begin a granule behind their rooms; the subjects ask for no larger alignment. */
int posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
  *ret_block = alignment <= GRANULE_BYTES ? malloc(bytes) : NULL;
  return *ret_block ? 0 : ENOMEM;
}

void *memalign(size_t alignment, size_t bytes) { return alignment <= GRANULE_BYTES ? malloc(bytes) : NULL; }

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

static void for_each_room(void (*visit)(const struct header *)) {
  for (char *at = arena; at && at < arena_end; at += (size_t)1 << ((struct header *)at)->room_log2)
    if (((struct header *)at)->bytes)
      visit((struct header *)at);
}

void window_begins(void) {
  counts_clear((uintptr_t)arena, (uintptr_t)arena_end);
  life_count = 0;
}

static int by_density(const void *a, const void *b) {
  const struct life *x = a, *y = b;
  __uint128_t left = (__uint128_t)x->accesses * y->bytes, right = (__uint128_t)y->accesses * x->bytes;
  return (left < right) - (left > right);
}

/* Pages for the first `count` lives, when most of their bytes are live. */
static uint64_t pages_for(size_t count, int64_t *change) {
  memset(change, 0, ((size_t)now + 2) * sizeof *change);
  for (size_t i = 0; i < count; i++) {
    change[lives[i].born] += (int64_t)lives[i].bytes;
    change[lives[i].ended + 1] -= (int64_t)lives[i].bytes;
  }
  int64_t live = 0, most = 0;
  for (size_t i = 0; i <= now; i++) {
    live += change[i];
    most = live > most ? live : most;
  }
  return ((uint64_t)most + PAGE_BYTES - 1) / PAGE_BYTES;
}

void window_ends(int output) {
  for_each_room(note_life);
  size_t count = life_count, busy = 0;
  uint64_t sum = 0, some = 0;
  for (size_t i = 0; i < count; i++)
    sum += lives[i].accesses;
  qsort(lives, count, sizeof *lives, by_density);
  while (busy < count && some * 100 < sum * BUSY_PERCENT)
    some += lives[busy++].accesses;
  int64_t *change = reserve(((size_t)now + 2) * sizeof *change); /* after qsort, which allocates */
  uint64_t all_pages = pages_for(count, change);
  dprintf(output, "%lu %lu\n", all_pages, pages_for(busy, change));
}
