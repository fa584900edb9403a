/* Under an address-space limit the ranges are smaller; a full range falls back to the program's own allocator, counted.
 *
 * RUN: %clang -I%include %s %hotcold_a -o %t
 * RUN: %t | FileCheck %s
 *
 * CHECK: reserved 1023 MiB
 * CHECK: 600 MiB: class 1, fallbacks 0
 * CHECK: 600 MiB: class 0, fallbacks 1
 * CHECK: small: class 1, fallbacks 1
 * CHECK: grown: class 0, fallbacks 2, contents kept
 */
#include <hearth/hotcold.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct hearth_hotcold_stats stats;

static void print_state(const char *name, const void *block) {
  hearth_hotcold_stats(&stats);
  printf("%s: class %d, fallbacks %d", name, hearth_hotcold_class(block), (int)stats.cold.fallbacks);
}

int main(void) {
  const struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
  if (setrlimit(RLIMIT_AS, &limit))
    return 1;
  char *first = malloc_hot_cold((size_t)600 << 20, 0);
  hearth_hotcold_stats(&stats);
  printf("reserved %d MiB\n", (int)(stats.cold.reserved_bytes >> 20));
  print_state("600 MiB", first);
  char *second = malloc_hot_cold((size_t)600 << 20, 0);
  print_state("\n600 MiB", second);
  char *small = malloc_hot_cold(100, 0);
  print_state("\nsmall", small);
  strcpy(small, "contents");
  small = realloc(small, (size_t)500 << 20);
  print_state("\ngrown", small);
  puts(strcmp(small, "contents") ? ", contents lost" : ", contents kept");
  free(first);
  free(second);
  free(small);
  return 0;
}
