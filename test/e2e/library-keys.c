/* Keys that only strcmp reads are hot.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O2 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: %hearth index -q %t.prof.* -o %t.heap && %hearth show --classify=auto %t.heap | FileCheck %s
 * CHECK: cold 0 0
 * CHECK: hot 1 2000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 2000 };
static char *keys[KEYS];

static int find(const char *key) {
  int low = 0, high = KEYS;
  while (low < high) {
    int middle = (low + high) / 2, order = strcmp(keys[middle], key);
    if (order == 0)
      return 1;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

int main(void) {
  char text[64];
  int found = 0;
  for (int i = 0; i < KEYS; i++) {
    snprintf(text, sizeof text, "key-of-entry-number-%08d", i);
    keys[i] = strdup(text);
  }
  for (unsigned i = 0; i < 300000; i++) {
    snprintf(text, sizeof text, "key-of-entry-number-%08u", i * 7919 % KEYS);
    found += find(text);
  }
  return found != 300000;
}
