/* malloc and free, with all their slow ways, on stacks of 4 KiB between pages without access.
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -Wl,-z,now -o %t -pthread
 * RUN: %t | FileCheck %s
 *
 * CHECK: 50 fibers well
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, FIBERS = 50, BLOCKS = 30000 };
static ucontext_t back, fiber;
static void *kept[BLOCKS];
static int well;

static void work(void) {
  for (int i = 0; i < BLOCKS; i++) {
    kept[i] = i % 3000 ? malloc((size_t)i % 700) : malloc((size_t)i * 50);
    if (i % 100 == 0)
      kept[i] = realloc(kept[i], 3000);
    if (i % 1000 == 0)
      kept[i] = realloc(kept[i], 3000000);
  }
  for (int i = 0; i < BLOCKS; i += 2)
    free(kept[i]);
  for (int i = 0; i < BLOCKS; i += 2)
    kept[i] = memalign(64, (size_t)i % 500);
  for (int i = 0; i < BLOCKS; i++)
    free(kept[i]);
  malloc_trim(0);
  well++;
}

int main(void) {
  for (int i = 0; i < FIBERS; i++) {
    char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = pages + PAGE;
    fiber.uc_stack.ss_size = PAGE;
    fiber.uc_link = &back;
    makecontext(&fiber, work, 0);
    swapcontext(&back, &fiber);
  }
  printf("%d fibers well\n", well);
}
