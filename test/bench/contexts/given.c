/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hinted functions as an oracle has them: linked with the profiling runtime, which records the whole call stack of each
 * allocation, they show as frames what placement the program asked for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

enum { COLD_BELOW = 64, HOT_FROM = 254 }; /* the adapter's */

static void *give(void *block, size_t count, size_t bytes, uint8_t hint) {
  return hint < COLD_BELOW  ? given_cold(block, count, bytes)
         : hint >= HOT_FROM ? given_hot(block, count, bytes)
                            : given_other(block, count, bytes);
}

void *malloc_hot_cold(size_t bytes, uint8_t hint) { return give(NULL, 0, bytes, hint); }
void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) { return give(NULL, count, bytes, hint); }
void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) { return give(block, 0, bytes, hint); }

char *strdup_hot_cold(const char *string, uint8_t hint) {
  size_t size = strlen(string) + 1;
  char *copy = give(NULL, 0, size, hint);
  return copy ? memcpy(copy, string, size) : NULL;
}
