/* The C allocation functions keep glibc's promises: alignment, zeroing, contents, errors.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: HEARTH_OPTIONS=log_path=%t.sampled:sample=1000000000 %t sampled
 * RUN: HEARTH_OPTIONS=log_path=%t.watched:accesses=pages:sample=1 %t sampled
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize MaxSize LiveAtExit | FileCheck %s
 *
 * A small block that grows is a new one each time, in place or not; a large one may go on in its place.
 * CHECK: AllocCount={{[0-9]+}} MinSize=1 MaxSize=89700 LiveAtExit=0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                                             \
  do                                                                                                                   \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  while (0)

static int sampled; /* sizes of blocks that are not recorded are rounded up */

static int has_size(void *block, size_t size) {
  size_t usable = malloc_usable_size(block);

  return usable == size || (sampled && usable > size && usable <= size + 16);
}

static int is_aligned(const void *block, size_t alignment) { return (uintptr_t)block % alignment == 0; }

static void test_alignment(void) {
  for (size_t alignment = 8; alignment <= (size_t)1 << 21; alignment *= 2) {
    void *block = NULL, *other = memalign(alignment, 100);
    REQUIRE(other && is_aligned(other, alignment) && has_size(other, 100));
    REQUIRE(posix_memalign(&block, alignment, 1000) == 0 && is_aligned(block, alignment));
    free(block);
    block = aligned_alloc(alignment, alignment * 3);
    REQUIRE(block && is_aligned(block, alignment));
    memset(block, 1, alignment * 3);
    free(other);
    block = realloc(block, 5);
    REQUIRE(block && *(char *)block == 1);
    free(block);
  }
  void *page = valloc(10), *pages = pvalloc(4097), *odd = memalign(100, 1);
  REQUIRE(is_aligned(page, 4096) && is_aligned(pages, 4096) && has_size(pages, 8192));
  REQUIRE(is_aligned(odd, 128)); /* rounded up */
  free(page);
  free(pages);
  free(odd);
}

static void test_arguments(void) {
  void *untouched = &errno, *block = untouched;
  volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers know these functions */

  REQUIRE(posix_memalign(&block, 3, 1) == EINVAL && posix_memalign(&block, 4, 1) == EINVAL);
  REQUIRE(posix_memalign(&block, 0, 1) == EINVAL && posix_memalign(&block, 24, 1) == EINVAL);
  REQUIRE(posix_memalign(&block, 64, huge * 2) == ENOMEM && block == untouched);
  errno = 0;
  REQUIRE(!aligned_alloc(24, 24) && errno == EINVAL);
  errno = 0;
  REQUIRE(!malloc(huge) && errno == ENOMEM);
  errno = 0;
  REQUIRE(!calloc(huge, 3) && errno == ENOMEM);
  errno = 0;
  REQUIRE(!reallocarray(NULL, huge, 3) && errno == ENOMEM);
  errno = 0;
  REQUIRE(!pvalloc(huge * 2) && errno == ENOMEM);
  block = strdup("kept");
  errno = 0;
  REQUIRE(!realloc(block, huge) && errno == ENOMEM && strcmp(block, "kept") == 0);
  errno = 7;
  free(block);
  free(NULL);
  REQUIRE(errno == 7);
}

static void test_zero(void) {
  void *first = malloc(0), *second = calloc(0, 8);

  REQUIRE(first && second && first != second && has_size(first, 0));
  REQUIRE(realloc(first, 0) == NULL); /* freed */
  free(second);
  first = realloc(NULL, 0);
  REQUIRE(first);
  free(first);
  REQUIRE(malloc_usable_size(NULL) == 0);
}

static void test_calloc(void) {
  for (size_t size = 1; size < 300000; size += size / 3 + 1)
    for (int round = 0; round < 3; ++round) {
      unsigned char *block = calloc(size, 1);
      for (size_t i = 0; i < size; ++i)
        REQUIRE(block[i] == 0);
      memset(block, 0xff, size); /* the next one may get this memory */
      free(block);
    }
}

static void test_realloc(void) {
  unsigned char *block = NULL;
  size_t size = 0;

  for (size_t i = 0; i < 300; ++i) {
    size_t new_size = i * 300 > 0 ? i * 300 : 1;
    block = realloc(block, new_size);
    for (size_t k = 0; k < size; ++k)
      REQUIRE(block[k] == (unsigned char)(k * 7));
    for (size_t k = size; k < new_size; ++k)
      block[k] = (unsigned char)(k * 7);
    size = new_size;
  }
  block = realloc(block, 10);
  for (size_t k = 0; k < 10; ++k)
    REQUIRE(block[k] == (unsigned char)(k * 7));
  free(block);
}

int main(int argc, char **argv) {
  (void)argv;
  sampled = argc > 1;
  test_alignment();
  test_arguments();
  test_zero();
  test_calloc();
  test_realloc();
  return 0;
}
