/* Wrong pointers end the program with a message, except those that are provably not ours.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: not --crash %t twice 2>&1 | FileCheck %s --check-prefix=TWICE
 * RUN: not --crash %t inside 2>&1 | FileCheck %s --check-prefix=INSIDE
 * RUN: not --crash %t large 2>&1 | FileCheck %s --check-prefix=INSIDE
 * RUN: not --crash %t resize 2>&1 | FileCheck %s --check-prefix=RESIZE
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t foreign
 *
 * So do those on pages of their own.
 * RUN: env HEARTH_OPTIONS=accesses=pages:sample=1 not --crash %t twice 2>&1 | FileCheck %s --check-prefix=TWICE
 * RUN: env HEARTH_OPTIONS=accesses=pages:sample=1 not --crash %t inside 2>&1 | FileCheck %s --check-prefix=INSIDE
 * RUN: env HEARTH_OPTIONS=accesses=pages:sample=1 not --crash %t resize 2>&1 | FileCheck %s --check-prefix=RESIZE
 *
 * Blocks that are not sampled take a way of their own:
 * RUN: env HEARTH_OPTIONS=sample=1000000000 not --crash %t twice 2>&1 | FileCheck %s --check-prefix=TWICE
 * RUN: env HEARTH_OPTIONS=sample=1000000000 not --crash %t inside 2>&1 | FileCheck %s --check-prefix=INSIDE
 * RUN: env HEARTH_OPTIONS=sample=1000000000 not --crash %t large 2>&1 | FileCheck %s --check-prefix=INSIDE
 * RUN: env HEARTH_OPTIONS=sample=1000000000 not --crash %t resize 2>&1 | FileCheck %s --check-prefix=RESIZE
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:sample=1000000000 %t foreign
 *
 * TWICE: hearth: free(0x{{[0-9a-f]+}}): the block was freed before
 * INSIDE: hearth: free(0x{{[0-9a-f]+}}): no block begins there; it may have been freed before
 * RESIZE: hearth: realloc(0x{{[0-9a-f]+}}): the block does not come from this heap
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
  char *block = malloc(100), *large = malloc(1000000);
  char *foreign = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (argc != 2)
    return 1;
  if (strcmp(argv[1], "twice") == 0) {
    free(block);
    free(block);
  } else if (strcmp(argv[1], "inside") == 0) {
    free(block + 32);
  } else if (strcmp(argv[1], "large") == 0) {
    free(large);
    free(large);
  } else if (strcmp(argv[1], "resize") == 0) {
    return realloc(foreign, 10) != NULL;
  } else {
    free(foreign);
    memset(foreign, 1, 4096); /* untouched by free */
  }
  return 0;
}
