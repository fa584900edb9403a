/* HEARTH_MALLOC=secure=on: a freed block is not used again at once, guards stop overflows out of a segment, and who writes to a
 * freed block is found out.
 *
 * RUN: %clang -g -O1 -fno-builtin %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=secure=on %t reuse | FileCheck %s --check-prefix=LATER
 * RUN: %t reuse | FileCheck %s --check-prefix=ATONCE
 * RUN: env HEARTH_MALLOC=secure=on not --crash %t overflow
 * RUN: env HEARTH_MALLOC=secure=on not --crash %t underflow
 * RUN: env HEARTH_MALLOC=secure=on not --crash %t link 2>&1 | FileCheck %s --check-prefix=LINK
 * RUN: env HEARTH_MALLOC=secure=on not --crash %t twice 2>&1 | FileCheck %s --check-prefix=TWICE
 *
 * LATER: used again: no
 * ATONCE: used again: yes
 * LINK: hearth malloc: a freed block was written to: 0x
 * TWICE: hearth malloc: double free, or realloc of a freed block: 0x
 */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 100000, SEGMENT = 2 << 20, SLOT = 64 << 10 };

static char *block[BLOCKS];

static void fill(void) {
  for (int i = 0; i < BLOCKS; i++) {
    block[i] = malloc(48);
    assert(block[i]);
  }
}

/* The byte next to the memory of small blocks in this one's segment: up to here all may be mapped. */
static volatile char *border(char *in, int is_upper) {
  char *start = (char *)((uintptr_t)in & ~(uintptr_t)(SEGMENT - 1));
  return start + (is_upper ? SEGMENT - SLOT : 3 * SLOT - 1);
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  fill();
  if (!strcmp(what, "reuse")) {
    free(block[7]);
    printf("used again: %s\n", malloc(48) == block[7] ? "yes" : "no");
  } else if (!strcmp(what, "overflow")) {
    *border(block[BLOCKS / 2], 1) = 1;
  } else if (!strcmp(what, "underflow")) {
    *border(block[BLOCKS / 2], 0) = 1;
  } else if (!strcmp(what, "link")) { /* single blocks between live ones; after a sweep they wait in lists */
    for (int i = 0; i < BLOCKS; i += 2)
      free(block[i]);
    for (int i = 0; i < BLOCKS; i += 2)
      memset(block[i], 0x41, 48);
    for (int i = 0; i < BLOCKS; i++)
      memset(malloc(48), 1, 48);
  } else if (!strcmp(what, "twice")) {
    free(block[9]);
    free(block[9]);
  }
  return 0;
}
