/* mlockall locks the program's memory and has it there at once, but does not fill the runtime's tables. Counts and freed
 * blocks are as ever.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof.* %t.record*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t | FileCheck %s
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount | FileCheck %s --check-prefix=RECORD
 * RUN: %clang -O1 -fno-builtin %s -o %t.plain && %hearth record -o %t.record -- %t.plain | FileCheck %s
 *
 * CHECK: locked: 0
 * CHECK: 4 MiB of its own are there: 1
 * CHECK: less than 1 GiB in all: 1
 * RECORD: AllocCount=2 MaxSize=67108864 MaxAccessCount=2
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char own[4 << 20] __attribute__((aligned(4096)));

static int are_there(char *memory, size_t size) {
  static unsigned char pages[1024];

  if (mincore(memory, size, pages) != 0)
    return 0;
  for (size_t i = 0; i < size / 4096; i++)
    if (!(pages[i] & 1))
      return 0;
  return 1;
}

static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");

  while (file && fgets(line, sizeof line, file))
    sscanf(line, "VmRSS: %ld", &kib);
  return kib;
}

int main(void) {
  /* Should the tables be filled after all, the kernel is to end this program and no other. */
  FILE *file = fopen("/proc/self/oom_score_adj", "w");
  if (file && fputs("1000", file) != EOF)
    fclose(file);
  printf("locked: %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
  printf("4 MiB of its own are there: %d\n", are_there(own, sizeof own));
  for (int i = 0; i < 2; i++) {
    volatile char *block = malloc((size_t)64 << 20);
    block[5] = block[1 << 20] = 1;
    free((void *)block);
  }
  long kib = resident_kib();
  printf("less than 1 GiB in all: %d\n", kib > 0 && kib < 1 << 20);
  return 0;
}
