/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hinted functions as an oracle has them: linked with the profiling runtime, which records the whole call stack of each
 * allocation, they show as frames what placement the program asked for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hints.h>
#include <hearth/hotcold.h>

#define NOINLINE __attribute__((noinline))

/* realloc serves all: a new block where there is none, and with `count` the zeroed kind. */
static inline void *allocate(void *block, size_t count, size_t bytes) {
  return count ? calloc(count, bytes) : block ? realloc(block, bytes) : malloc(bytes);
}

/* Whatever follows the allocation keeps these frames on the stack. */
#define GIVEN(placement)                                                                                               \
  NOINLINE static void *given_##placement(void *block, size_t count, size_t bytes) {                                   \
    void *result = allocate(block, count, bytes);                                                                      \
    __asm__ volatile("" : "+r"(result));                                                                               \
    return result;                                                                                                     \
  }
GIVEN(cold)
GIVEN(other)
GIVEN(hot)

/* given_pool_0 and so on: P(0) ... P(30). */
#define POOLS(P)                                                                                                       \
  P(0)                                                                                                                 \
  P(1)                                                                                                                 \
  P(2)                                                                                                                 \
  P(3)                                                                                                                 \
  P(4)                                                                                                                 \
  P(5)                                                                                                                 \
  P(6)                                                                                                                 \
  P(7)                                                                                                                 \
  P(8)                                                                                                                 \
  P(9)                                                                                                                 \
  P(10)                                                                                                                \
  P(11)                                                                                                                \
  P(12)                                                                                                                \
  P(13)                                                                                                                \
  P(14)                                                                                                                \
  P(15)                                                                                                                \
  P(16)                                                                                                                \
  P(17)                                                                                                                \
  P(18)                                                                                                                \
  P(19)                                                                                                                \
  P(20)                                                                                                                \
  P(21)                                                                                                                \
  P(22)                                                                                                                \
  P(23)                                                                                                                \
  P(24)                                                                                                                \
  P(25)                                                                                                                \
  P(26)                                                                                                                \
  P(27)                                                                                                                \
  P(28)                                                                                                                \
  P(29)                                                                                                                \
  P(30)
#define GIVEN_POOL(number) GIVEN(pool_##number)
POOLS(GIVEN_POOL)

static void *(*const given_pool[])(void *block, size_t count, size_t bytes) = {
#define GIVEN_POOL_NAME(number) given_pool_##number,
    POOLS(GIVEN_POOL_NAME)};

enum { COLD_BELOW = 64 }; /* the adapter's */

static void *give(void *block, size_t count, size_t bytes, uint8_t hint) {
  if (hint < COLD_BELOW)
    return given_cold(block, count, bytes);
  if (hint < HEARTH_HINT_POOL)
    return given_other(block, count, bytes);
  return hint < HEARTH_HINT_HOT ? given_pool[hint - HEARTH_HINT_POOL](block, count, bytes)
                                : given_hot(block, count, bytes);
}

void *malloc_hot_cold(size_t bytes, uint8_t hint) { return give(NULL, 0, bytes, hint); }
void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) { return give(NULL, count, bytes, hint); }
void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) { return give(block, 0, bytes, hint); }

char *strdup_hot_cold(const char *string, uint8_t hint) {
  size_t size = strlen(string) + 1;
  char *copy = give(NULL, 0, size, hint);
  return copy ? memcpy(copy, string, size) : NULL;
}
