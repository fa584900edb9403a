/* Prints where blocks of three hints lie; frees them in the library that stdio calls into, too. */
#include <hearth/malloc.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static const uint8_t hints[] = {0, 128, 253};
  static const char *const names[] = {"other", "cold", "hot"};
  for (int i = 0; i < 3; i++) {
    char *block = malloc_hot_cold(1000, hints[i]);
    const char *before = names[hearth_malloc_class(block)];
    block = realloc(block, 100000);
    printf("hint %d: %s, %s after realloc, %s\n", hints[i], before, names[hearth_malloc_class(block)],
           malloc_usable_size(block) >= 100000 ? "usable" : "too small");
    free(block);
  }
  /* A free whose address was taken is ours as well, also through the procedure linkage table of a fixed-address
   * program. */
  void (*release)(void *) = free;
  release(malloc_hot_cold(10, 0));
  return 0;
}
