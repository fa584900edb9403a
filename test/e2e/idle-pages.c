/* Cold is memory that is left alone, whatever the rest of the program does: not a table whose pages are all in use though each entry
 * rarely is, beside temporaries that are busier by far; but entries that are made with much work and then rest, until the program
 * reads and frees them all at its end, as destructors do. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -gmlt -fdebug-info-for-profiling %s -Wl,--build-id %rt -lpthread %given_time -o app
 * RUN: HEARTH_OPTIONS=log_path=raw ./app
 * RUN: %hearth index -q raw.* -o prof && %hearth show prof | FileCheck %s --implicit-check-not=' cold: '
 * CHECK-DAG: {{^ *}}cold: 40000 allocations{{.*}}
 * CHECK-DAG: {{^ *}}notcold: 60000 allocations{{.*}}
 */
#include "given_time.h"

#include <stdint.h>
#include <stdlib.h>

enum { RESTING = 40000, USED = 60000, BYTES = 160, RUN_MS = 1200, USES_OF_MS = 200 };

static volatile uint32_t *resting[RESTING], *used[USED];

__attribute__((noinline)) static volatile uint32_t *make_resting(void) {
  volatile uint32_t *block = malloc(BYTES);
  for (int round = 0; round < 8; round++)
    for (size_t i = 0; i < BYTES / sizeof *block; i++)
      block[i] = (uint32_t)i + (round ? block[i] : 0);
  return block;
}

__attribute__((noinline)) static volatile uint32_t *make_used(void) {
  volatile uint32_t *block = malloc(BYTES);
  block[0] = 1;
  return block;
}

__attribute__((noinline)) static volatile uint32_t *make_temporary(void) { return malloc(64); }

int main(void) {
  uint32_t sum = 0, random = 1;

  for (int i = 0; i < RESTING; i++)
    resting[i] = make_resting();
  for (int i = 0; i < USED; i++)
    used[i] = make_used();
  for (int ms = 0; ms < RUN_MS; ms++, pass(MS))
    for (int k = 0; k < USES_OF_MS; k++) {
      random = random * 1664525 + 1013904223;
      sum += used[(random >> 8) % USED][0];
      volatile uint32_t *temporary = make_temporary();
      for (int i = 0; i < 800; i++)
        temporary[i % 16] = sum + (uint32_t)i;
      free((void *)temporary);
    }
  for (int i = 0; i < RESTING; i++) {
    sum += resting[i][1];
    free((void *)resting[i]);
  }
  return sum == 1;
}
