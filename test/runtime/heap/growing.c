/* Large blocks that grow by small steps are moved a few times, not at each step, also if two of them grow in turns. Where it
 * lies, a block goes on with all its accesses; what another call makes larger is a block of its own.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && HEARTH_OPTIONS=log_path=%t.dir/counted %t > %t.dir/moves
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/counted.* AllocCount MaxSize TotalAccessCount | FileCheck %s -DMOVES=$(cat %t.dir/moves)
 * RUN: %clang -O1 -fno-builtin %s -o %t.plain && %hearth record -o %t.dir/record -- %t.plain
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/record AllocCount MaxSize | FileCheck %s --check-prefix=RECORD
 *
 * CHECK: AllocCount=[[MOVES]] MaxSize=6553600 TotalAccessCount=1000 | growing.c.tmp
 * CHECK-NEXT: AllocCount=[[MOVES]] MaxSize=6553600 TotalAccessCount=1000 | growing.c.tmp
 * CHECK-NEXT: AllocCount=1 MaxSize=6553601 TotalAccessCount=101 | growing.c.tmp
 *
 * Where nothing is counted, each step is an allocation.
 * RECORD: AllocCount=100 MaxSize=6553600 | growing.c.tmp
 */
#include <stdio.h>
#include <stdlib.h>

#define STEP  65536
#define STEPS 100
#define MOVES 20 /* 64 KiB grow to 6400 KiB in 12 steps of a half */

typedef struct growing {
  volatile char *memory;
  size_t size;
  int moves;
} growing;

static volatile char *use(growing *block, volatile char *memory) {
  block->moves += memory != block->memory;
  block->memory = memory;
  block->size += STEP;
  for (int i = 1; i <= 10; i++)
    memory[block->size - i] = (char)i;
  return memory;
}

int main(void) {
  growing one = {0}, other = {0};

  for (int i = 0; i < STEPS; i++) {
    use(&one, realloc((void *)one.memory, one.size + STEP));
    use(&other, realloc((void *)other.memory, other.size + STEP));
  }
  one.memory = realloc((void *)one.memory, one.size + 1); /* what the next lines access is of other blocks */
  one.memory[one.size] = 1;
  other.memory = realloc((void *)other.memory, other.size);
  for (size_t at = STEP; at <= one.size; at += STEP)
    if (one.memory[at - 7] != 7 || other.memory[at - 3] != 3)
      return puts("lost bytes"), 1;
  free((void *)one.memory);
  free((void *)other.memory);
  if (one.moves > MOVES || other.moves > MOVES)
    return printf("moved %d and %d times\n", one.moves, other.moves), 1;
  if (one.moves != other.moves)
    return puts("not the same moves"), 1;
  return printf("%d\n", one.moves) < 0;
}
