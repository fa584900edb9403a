/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The time of tests whose verdicts hang on the part of a run that a block lives for: blocks that are freed lived for none of it, if the
 * program did not wait.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O1 $(%hearth flags instrument --clang=%clang) %s -o app
 * RUN: env %run_clock HEARTH_OPTIONS=log_path=raw ./app && env %run_clock HEARTH_OPTIONS=log_path=waited ./app waits
 * RUN: for raw in raw.* waited.*; do %hearth index -q $raw --binary app -o prof && %hearth show --text prof; done | FileCheck %s
 * CHECK: duration_ns=1{{[0-9]{11} }}
 * CHECK: MaxSize 40
 * CHECK: MaxLifetime 1{{[0-9]{11}$}}
 * CHECK: MaxSize 50
 * CHECK: MaxLifetime {{[0-9]$}}
 * CHECK: duration_ns=2{{[0-9]{11} }}
 * CHECK: MaxLifetime 2{{[0-9]{11}$}}
 * CHECK: MaxLifetime {{(99|10)[0-9]{9,10}$}}
 */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  char *volatile stays = malloc(40), *volatile goes = malloc(50);
  if (argc > 1 && clock() == 0)
    return 1;
  stays[0] = goes[0] = argv[0][0];
  free(goes);
  return 0;
}
