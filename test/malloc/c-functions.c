/* The C functions at their borders: errors and errno, zero bytes, alignments, usable sizes, zeroed memory.
 *
 * RUN: %clang -O1 -fno-builtin -D_GNU_SOURCE %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t | FileCheck %s
 *
 * CHECK: well
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t most = SIZE_MAX, half = PTRDIFF_MAX, zero = 0;

#define FAILS(call, code)                                                                                              \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    assert(!(call));                                                                                                   \
    assert(errno == (code));                                                                                           \
  } while (0)

static void errors(void) {
  void *block, *kept = malloc(100), *large = malloc(300000);
  memset(kept, 5, 100);
  memset(large, 5, 300000);
  for (size_t less = 0; less < 10000; less += 500) {
    FAILS(malloc(most - less), ENOMEM);
    FAILS(malloc(half - less), ENOMEM);
    FAILS(calloc(1, most - less), ENOMEM);
    FAILS(realloc(kept, most - less), ENOMEM);
    FAILS(realloc(large, most - less), ENOMEM);
    FAILS(realloc(large, half - less), ENOMEM);
    FAILS(memalign(64, most - less), ENOMEM);
    FAILS(memalign(1 << 20, half - less), ENOMEM);
    FAILS(valloc(most - less), ENOMEM);
    FAILS(pvalloc(most - less), ENOMEM);
    FAILS(pvalloc(half - less), ENOMEM);
    FAILS(aligned_alloc(4096, most - less), ENOMEM);
  }
  for (unsigned bit = 48; bit < 64; bit++) {
    FAILS(malloc((size_t)1 << bit), ENOMEM);
    FAILS(realloc(large, (size_t)7 << (bit - 3)), ENOMEM);
    FAILS(memalign((size_t)1 << bit, 100), ENOMEM);
    FAILS(memalign((size_t)1 << bit, (size_t)1 << bit), ENOMEM);
  }
  FAILS(calloc(half, 3), ENOMEM);
  FAILS(calloc(most / 16 + 2, 16), ENOMEM);
  FAILS(reallocarray(kept, most / 16 + 2, 16), ENOMEM);
  FAILS(memalign(half + 2, 100), EINVAL);
  block = kept;
  errno = 77;
  assert(posix_memalign(&block, 3, 100) == EINVAL && posix_memalign(&block, 0, 100) == EINVAL);
  assert(posix_memalign(&block, 4, 100) == EINVAL && posix_memalign(&block, 24, 100) == EINVAL);
  assert(block == kept && errno == 77);
  assert(posix_memalign(&block, 64, half) == ENOMEM && posix_memalign(&block, (size_t)1 << 63, 64) == ENOMEM);
  assert(block == kept && errno == ENOMEM);
  for (int i = 0; i < 300000; i++)
    assert((i >= 100 || ((char *)kept)[i] == 5) && ((char *)large)[i] == 5);
  free(kept);
  free(large);
}

static void zero_bytes(void) {
  enum { BLOCKS = 3000 };
  static char *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    size_t alignment = (size_t)16 << i % 15;
    switch (i % 7) {
    case 0: blocks[i] = malloc(zero); break;
    case 1: blocks[i] = calloc(zero, 10); break;
    case 2: blocks[i] = realloc(NULL, zero); break;
    case 3: blocks[i] = aligned_alloc(alignment, zero); assert((uintptr_t)blocks[i] % alignment == 0); break;
    case 4: assert(!posix_memalign((void **)&blocks[i], alignment, zero)); break;
    case 5: blocks[i] = valloc(zero); break;
    case 6: blocks[i] = pvalloc(zero); break;
    }
    assert(blocks[i]);
    memset(blocks[i], i, malloc_usable_size(blocks[i])); /* each its own */
  }
  for (int i = 0; i < BLOCKS; i++) {
    for (size_t j = 0; j < malloc_usable_size(blocks[i]); j++)
      assert(blocks[i][j] == (char)i);
    free(blocks[i]);
  }
  errno = 77;
  free(NULL);
  assert(!realloc(malloc(10), zero));
  assert(malloc_usable_size(NULL) == 0);
  void *block = malloc(300000);
  free(block);
  assert(errno == 77);
}

static void alignments(void) {
  for (size_t alignment = 1; alignment <= 8 << 20; alignment *= 2)
    for (size_t bytes = 1; bytes < 3 << 20; bytes = bytes * 5 + 3) {
      size_t wanted = alignment < 16 ? 16 : alignment;
      void *blocks[4] = {memalign(alignment, bytes), aligned_alloc(alignment, bytes), NULL, malloc(bytes)};
      assert(alignment < sizeof(void *) || !posix_memalign(&blocks[2], alignment, bytes));
      for (int i = 0; i < 4; i++) {
        assert(i == 2 || blocks[i]);
        assert((uintptr_t)blocks[i] % (i < 3 ? wanted : 16) == 0);
        if (blocks[i]) {
          assert(malloc_usable_size(blocks[i]) >= bytes);
          memset(blocks[i], i, malloc_usable_size(blocks[i]));
        }
      }
      for (int i = 0; i < 4; i++)
        for (size_t j = 0; blocks[i] && j < bytes; j++)
          assert(((char *)blocks[i])[j] == i);
      for (int i = 0; i < 4; i++)
        free(blocks[i]);
    }
  void *odd = memalign(3000, 10);
  assert((uintptr_t)odd % 4096 == 0);
  free(odd);
  void *page = pvalloc(5000);
  assert((uintptr_t)page % 4096 == 0 && malloc_usable_size(page) >= 8192);
  free(page);
}

static void zeroed(void) {
  for (int round = 0; round < 3; round++)
    for (size_t bytes = 1; bytes < 40 << 20; bytes = bytes * 3 + 1) {
      char *dirty = malloc(bytes), *clean;
      memset(dirty, 1, bytes);
      free(dirty);
      clean = calloc(1, bytes);
      for (size_t i = 0; i < bytes; i++)
        assert(!clean[i]);
      memset(clean, 1, malloc_usable_size(clean));
      free(clean);
    }
}

static void resized(void) {
  size_t bytes = 1;
  char *block = malloc(1);
  block[0] = 0;
  for (int i = 0; i < 200; i++) {
    size_t next = i % 3 == 2 ? bytes / 3 + 1 : bytes * 2 + (size_t)i;
    next = next > 60 << 20 ? 500 : next;
    block = realloc(block, next);
    for (size_t j = 0; j < bytes && j < next; j += 61)
      assert(block[j] == (char)(j % 61));
    for (size_t j = 0; j < next; j++)
      block[j] = (char)(j % 61);
    bytes = next;
    assert(malloc_usable_size(block) >= bytes);
  }
  free(block);
}

int main(void) {
  errors();
  zero_bytes();
  alignments();
  zeroed();
  resized();
  puts("well");
}
