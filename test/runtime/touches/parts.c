/* A service is asked twenty times to start and to stop sampling, and writes a part each time: the parts are together what one
 * profile would be, and nothing is left behind in the process.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -rf %t.parts && mkdir %t.parts
 * RUN: env HEARTH_OPTIONS=accesses=pages:sample=1:parts=1:paused=1:log_path=%t.parts/raw \
 * RUN:   python3 %S/../Inputs/in_turns.py %hearth %t
 * RUN: %hearth index -q %t.parts/raw* --binary %t -o %t.heap
 * RUN: %hearth show --json %t.heap | python3 %S/../Inputs/in_turns.py - work_recorded 4000 256000
 * RUN: %hearth show %t.heap | FileCheck %s
 * CHECK: of 1 run,
 * CHECK: accesses   some {{[0-9]+}} loads and stores, estimated from looks at pages
 *
 * In any grouping:
 * RUN: for i in $(seq 20); do %hearth index -q %t.parts/raw*.part$i --binary %t -o %t.$i.heap || exit; done
 * RUN: %hearth index -q $(ls %t.parts/raw* | grep -v '[.]part[0-9]*$') --binary %t -o %t.0.heap
 * RUN: %hearth merge -q $(for i in $(seq 0 9); do echo %t.$i.heap; done) -o %t.first
 * RUN: %hearth merge -q $(for i in $(seq 10 20); do echo %t.$i.heap; done) -o %t.second
 * RUN: %hearth merge -q %t.second %t.first -o %t.merged
 * RUN: %hearth merge -q $(for i in $(seq 0 20); do echo %t.$i.heap; done) -o %t.all && cmp %t.all %t.merged
 * RUN: %hearth show --json %t.merged | python3 %S/../Inputs/in_turns.py - work_recorded 4000 256000
 *
 * A program that records all blocks takes no sample that could be stopped.
 * RUN: env HEARTH_OPTIONS=log_path=%t.all.raw not python3 %S/../Inputs/in_turns.py %hearth %t 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=REFUSED
 * REFUSED: hearth: sampling cannot be stopped or started: this program does not sample (option sample)
 * REFUSED: hearth: error: {{[0-9]+}}: cannot do that; its standard error says why
 */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 200, SIZE = 64 };

static char *blocks[BLOCKS], *kept;

__attribute__((noinline)) static void work_recorded(int i) { blocks[i] = malloc(SIZE); }
__attribute__((noinline)) static void work_alone(int i) { blocks[i] = malloc(SIZE); }

static void work(void (*allocate)(int)) {
  for (int i = 0; i < BLOCKS; i++) {
    allocate(i);
    for (int k = 0; k < SIZE; k++)
      blocks[i][k] = (char)i;
  }
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
}

/* A letter is an order; the answer is the same letter. */
int main(void) {
  for (int order; (order = getchar()) != EOF;) {
    if (order == 'r')
      work(work_recorded);
    else if (order == 'a')
      work(work_alone);
    else if (order == 'k')
      kept = malloc(SIZE); /* for the last profile */
    else
      continue;
    putchar(order);
    fflush(stdout);
  }
  return 0;
}
