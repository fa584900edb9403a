/* `hearth top` ends soon, with an error, whatever the process says about itself: here a list of heaps that leads back into
 * itself, or goes on as long as there is memory, and segments at all addresses.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -I%format %s -o %t
 * RUN: for list in circle self long pieces; do (%t $list "%hearth top" 2>&1; test $? = 1) | FileCheck %s || exit 1; done
 * RUN: %t short "%hearth top" | FileCheck %s --check-prefix=SHORT
 * CHECK: error: {{[0-9]+}}: the tables of its allocator are damaged
 * SHORT: process {{[0-9]+}}: cold below 1, hot from 2; 3 hints passed on
 */
#include "hearth/running_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, HEAP_BYTES = 1 << 16, HEAPS = 1 << 16, STEP = 64, LEAVES = 1 << 13, LEAF_BYTES = 1 << 14 };

static uint64_t first;
static uint64_t counters[2];
static uint64_t leaves[LEAVES];

/* Heaps may overlap: each is little more than the pointer to the next one. */
static char *make_list(uint64_t count, uint64_t last) {
  char *memory =
      mmap(NULL, (size_t)HEAPS * STEP + HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  for (uint64_t i = 0; i < count; i++) {
    uint64_t next = i + 1 < count ? (uint64_t)(uintptr_t)memory + (i + 1) * STEP : last;
    memcpy(memory + i * STEP, &next, sizeof next);
  }
  return memory;
}

static void make_status(void) {
  char *pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct hearth_malloc_status *status = (struct hearth_malloc_status *)(pages + PAGE);

  mprotect(status, PAGE, PROT_READ | PROT_WRITE);
  *status = (struct hearth_malloc_status){.magic = HEARTH_MALLOC_STATUS_MAGIC,
                                          .version = HEARTH_MALLOC_STATUS_VERSION,
                                          .bytes = sizeof *status,
                                          .cold_below = 1,
                                          .hot_from = 2,
                                          .leaves = (uint64_t)(uintptr_t)leaves,
                                          .leaf_count = LEAVES,
                                          .leaf_bytes = LEAF_BYTES,
                                          .piece_bytes = 2 << 20,
                                          .used_offset = 0,
                                          .heaps = (uint64_t)(uintptr_t)&first,
                                          .heap_bytes = HEAP_BYTES,
                                          .next_offset = 0,
                                          .hinted_offset = 8,
                                          .passed_on = (uint64_t)(uintptr_t)counters,
                                          .fallbacks = (uint64_t)(uintptr_t)counters,
                                          .large = {(uint64_t)(uintptr_t)counters, (uint64_t)(uintptr_t)counters}};
}

/* As if all addresses were segments. */
static void fill_addresses(void) {
  static uint8_t leaf[LEAF_BYTES];
  memset(leaf, HEARTH_MALLOC_STATUS_MAIN, sizeof leaf);
  for (int i = 0; i < LEAVES; i++)
    leaves[i] = (uint64_t)(uintptr_t)leaf;
}

int main(int argc, char **argv) {
  char command[4096];
  int is_short = strcmp(argv[1], "short") == 0 || strcmp(argv[1], "pieces") == 0;
  char *list = make_list(is_short ? 3 : strcmp(argv[1], "self") == 0 ? 1 : HEAPS - 1, 0);

  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  first = (uint64_t)(uintptr_t)list;
  if (strcmp(argv[1], "circle") == 0) {
    uint64_t back = first + 1000 * STEP;
    memcpy(list + (HEAPS - 2) * STEP, &back, sizeof back);
  } else if (strcmp(argv[1], "self") == 0) {
    memcpy(list, &first, sizeof first);
  }
  if (strcmp(argv[1], "pieces") == 0)
    fill_addresses();
  for (int i = 0; i < 3; i++)
    list[i * STEP + 8] = 1; /* passed on */
  make_status();
  snprintf(command, sizeof command, "%s %d", argv[2], (int)getpid());
  int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
