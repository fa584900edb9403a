/* The rest of malloc.h speaks of the heap that is in use, not of the C library's.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t 2>&1 | FileCheck %s
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -static && rm -f %t.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t 2>&1 | FileCheck %s
 *
 * CHECK: hearth: heap: {{[0-9]+}} bytes from the system, of these {{[0-9]+}} in live blocks' chunks; {{[0-9]+}} live blocks, 1 of them large
 * CHECK-NEXT: <malloc version="1">
 * CHECK: <total type="mmap" count="1" size="1048576"/>
 * CHECK: </malloc>
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                                             \
  do                                                                                                                   \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%d: %s\n", __LINE__, #condition);                                                               \
      return 1;                                                                                                        \
    }                                                                                                                  \
  while (0)

static void *volatile blocks[1000], *volatile large;

int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 1000; ++i)
    blocks[i] = malloc(90); /* chunks of 128 */
  large = malloc(1000000);  /* 16 units of 64 KiB */
  struct mallinfo2 after = mallinfo2();
  REQUIRE(after.uordblks - before.uordblks == 128000 + 1048576);
  REQUIRE(after.hblks - before.hblks == 1 && after.hblkhd - before.hblkhd == 1048576);
  REQUIRE(after.arena + after.hblkhd == after.uordblks + after.fordblks);
  REQUIRE((size_t)mallinfo().uordblks == after.uordblks);
  REQUIRE(mallopt(M_MMAP_THRESHOLD, 4096) == 1 && malloc_trim(0) == 0);
  malloc_stats();
  REQUIRE(malloc_info(1, stdout) != 0 && malloc_info(0, stdout) == 0);
  for (int i = 0; i < 1000; ++i)
    free(blocks[i]);
  free(large);
  REQUIRE(mallinfo2().uordblks == before.uordblks && mallinfo2().hblks == before.hblks);
  return 0;
}
