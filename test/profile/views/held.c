/* Memory that is kept long after its last access, memory that is used to the end, and blocks that are passed over once, from begin
 * to end: half of them is not accessed in the last half of their lives. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -fno-builtin $(%hearth flags instrument --clang=%clang) -g %s -o app
 * RUN: HEARTH_OPTIONS=log_path=raw ./app && %hearth index -q raw.* --binary app -o prof
 * RUN: %hearth advise prof | FileCheck %s --implicit-check-not=use_often --implicit-check-not=pass_over
 * CHECK: memory that is kept long after its last access (held): up to
 * CHECK-NEXT: read_input held.c:
 * CHECK-NEXT: {{[89][0-9]|100}}% of this memory is not accessed in the last half of its life; 128 blocks of 65536 bytes, which live
 * CHECK-NEXT: remedy: free the blocks once they have served
 * CHECK-NOT: not looked for: held
 *
 *
 * A run too short, or without picks, tells nothing of it.
 * RUN: rm -f raw.* && HEARTH_OPTIONS=log_path=raw:own_thread=off ./app && %hearth index -q raw.* --binary app -o short
 * RUN: %hearth advise short | FileCheck %s --check-prefix=SHORT
 * SHORT-NOT: (held)
 * SHORT: not looked for: held (needs the same for some seconds, with 4 MiB of heap or more)
 */
#include <stdlib.h>

enum { BLOCKS = 128, SIZE = 65536, OFTEN = 1 << 20, PASSED = 1 << 18, ROUNDS = 500, STEPS = 64 };

static long *volatile input[BLOCKS];
static volatile long *often;

static long read_input(int i) {
  long sum = 0;
  input[i] = malloc(SIZE);
  for (int k = 0; k < SIZE / 8; k++)
    ((volatile long *)input[i])[k] = k;
  for (int k = 0; k < SIZE / 8; k++)
    sum += ((volatile long *)input[i])[k];
  return sum;
}

static void use_often(void) {
  often = malloc(OFTEN * sizeof *often);
  for (int i = 0; i < OFTEN; i++)
    often[i] = i;
}

static void pass_over(unsigned *seed) {
  volatile long *passed = malloc(PASSED * sizeof *passed);
  for (int i = 0; i < PASSED; i++)
    passed[i] = i;
  for (int i = 0; i < PASSED; i += 8) {
    passed[i]++;
    for (int k = 0; k < STEPS; k++) {
      *seed = *seed * 1664525 + 1013904223;
      often[*seed >> 12]++;
    }
  }
  free((void *)passed);
}

int main(void) {
  long sum = 0;
  unsigned seed = 1;
  for (int i = 0; i < BLOCKS; i++)
    sum += read_input(i);
  use_often();
  for (int i = 0; i < ROUNDS; i++)
    pass_over(&seed);
  for (int i = 0; i < BLOCKS; i++)
    free(input[i]);
  return sum == 0;
}
