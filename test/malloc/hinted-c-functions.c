/* Every hinted C function: placement by hint, alignment, contents, errors and errno as the plain function has them.
 *
 * RUN: %clang -g -O1 -Wall -Wextra -fno-builtin -I%include %s %malloc_a -o %t
 * RUN: %t | FileCheck %s
 *
 * CHECK: cold: 11 functions
 * CHECK: middle: 11 functions
 * CHECK: hot: 11 functions
 * CHECK: errors as usual
 */
#undef NDEBUG
#include <assert.h>
#include <errno.h>
#include <hearth/malloc.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_block(char *block, size_t bytes, size_t alignment, enum hearth_malloc_placement class) {
  assert(block);
  if (class == HEARTH_MALLOC_HOT && (bytes > 128 << 10 || alignment > 64 << 10)) /* large blocks lie in no pool */
    class = HEARTH_MALLOC_OTHER;
  assert(hearth_malloc_class(block) == class);
  assert((uintptr_t)block % alignment == 0);
  assert(malloc_usable_size(block) >= bytes);
  memset(block, 0x5a, bytes);
}

static void check_and_free(char *block, size_t bytes, size_t alignment, enum hearth_malloc_placement class) {
  check_block(block, bytes, alignment, class);
  free(block);
}

static void one_size(size_t bytes, uint8_t hint, enum hearth_malloc_placement class) {
  check_and_free(malloc_hot_cold(bytes, hint), bytes, 16, class);
  check_and_free(realloc_hot_cold(NULL, bytes, hint), bytes, 16, class);
  check_and_free(reallocarray_hot_cold(NULL, bytes, 1, hint), bytes, 16, class);
  check_and_free(valloc_hot_cold(bytes, hint), bytes, 4096, class);
  check_and_free(pvalloc_hot_cold(bytes, hint), (bytes + 4095) / 4096 * 4096, 4096, class);
  char *zero = calloc_hot_cold(1, bytes, hint);
  for (size_t i = 0; i < bytes; i++)
    assert(zero[i] == 0);
  check_and_free(zero, bytes, 16, class);
  for (size_t alignment = 16; alignment <= (4 << 20); alignment *= 2) {
    check_and_free(aligned_alloc_hot_cold(alignment, bytes, hint), bytes, alignment, class);
    check_and_free(memalign_hot_cold(alignment, bytes, hint), bytes, alignment, class);
    void *block = NULL;
    assert(posix_memalign_hot_cold(&block, alignment, bytes, hint) == 0);
    check_and_free(block, bytes, alignment, class);
  }
}

static void strings(uint8_t hint, enum hearth_malloc_placement class) {
  char *copy = strdup_hot_cold("hello", hint);
  assert(!strcmp(copy, "hello"));
  check_and_free(copy, 6, 1, class);
  copy = strndup_hot_cold("hello", 3, hint);
  assert(!strcmp(copy, "hel"));
  check_and_free(copy, 4, 1, class);
  char unterminated[3] = {'a', 'b', 'c'};
  copy = strndup_hot_cold(unterminated, 3, hint);
  assert(!strcmp(copy, "abc"));
  check_and_free(copy, 4, 1, class);
}

static void all(const char *name, uint8_t hint, enum hearth_malloc_placement class) {
  for (size_t bytes = 0; bytes < 300000; bytes += 1 + bytes / 3) {
    errno = EBUSY;
    one_size(bytes, hint, class);
    assert(errno == EBUSY);
  }
  strings(hint, class);
  printf("%s: 11 functions\n", name);
}

static void errors(uint8_t hint) {
  volatile size_t huge = SIZE_MAX / 2 + 1; /* hidden from the compiler's warnings */
  void *block = &huge;
  errno = 0;
  assert(!malloc_hot_cold(huge, hint) && errno == ENOMEM);
  errno = 0;
  assert(!calloc_hot_cold(huge, 4, hint) && errno == ENOMEM);
  errno = 0;
  assert(!reallocarray_hot_cold(NULL, huge, 4, hint) && errno == ENOMEM);
  assert(posix_memalign_hot_cold(&block, 3, 100, hint) == EINVAL);
  assert(posix_memalign_hot_cold(&block, sizeof(void *) / 2, 100, hint) == EINVAL);
  assert(posix_memalign_hot_cold(&block, 64, huge, hint) == ENOMEM);
  assert(block == &huge);
  /* A failed resize leaves the block as it was. */
  char *kept = malloc_hot_cold(100, hint);
  strcpy(kept, "kept");
  errno = 0;
  assert(!realloc_hot_cold(kept, huge, hint) && errno == ENOMEM);
  errno = 0;
  assert(!reallocarray_hot_cold(kept, huge, 4, hint) && errno == ENOMEM);
  assert(!strcmp(kept, "kept"));
  free(kept);
}

int main(void) {
  all("cold", 0, HEARTH_MALLOC_COLD);
  all("middle", 128, HEARTH_MALLOC_OTHER);
  all("hot", 253, HEARTH_MALLOC_HOT);
  errors(0);
  errors(128);
  errors(253);
  puts("errors as usual");
  return 0;
}
