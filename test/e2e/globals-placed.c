/* Hot and untouched globals lie apart in programs, for GNU ld and lld, but between the symbols that programs know (what scans its
 * own data does so from one to another); the program does the same.
 *
 * REQUIRES: lld
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -g %s $(%hearth flags instrument --globals) -o profiled && HEARTH_OPTIONS=log_path=raw ./profiled > profiled.out
 * RUN: %hearth index -q raw.* -o p.prof
 * RUN: %clang -O1 %s -o plain && ./plain > plain.out && cmp plain.out profiled.out
 * RUN: for linker in bfd lld; do for how in -fPIE -no-pie -static '-fPIE -fdata-sections -Wl,--gc-sections'; do \
 * RUN:   static= && case $how in *static*) static=--static ;; esac; \
 * RUN:   %clang -O1 -g %s -fuse-ld=$linker $how $(%hearth flags use p.prof --globals $static) -o placed && ./placed > placed.out && \
 * RUN:   cmp plain.out placed.out && readelf -SW placed > sections && readelf -sW placed > symbols && \
 * RUN:   awk -v want=.bss.unlikely -v name=cold -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.bss.hot -v name=hot -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.data.unlikely -v name=cold_data -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.data.hot -v name=hot_data -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.rodata.unlikely -v name=cold_table -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.rodata.hot -v name=hot_table -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   awk -v want=.bss -v name=chosen_not -f %S/Inputs/section-of.awk sections symbols && \
 * RUN:   readelf -lW placed | grep -q GNU_RELRO || exit 1; done; done
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

volatile int hot[100], cold[5000], chosen_not[2];
volatile int hot_data[10] = {1}, cold_data[5000] = {1};
const volatile int hot_table[8] = {1, 2, 3}, cold_table[3000] = {1};
extern char __data_start[], _edata[], _end[];
static void *volatile kept;

static void check_between(const char *from, const volatile void *global, const char *to) {
  if ((uintptr_t)global < (uintptr_t)from || (uintptr_t)global >= (uintptr_t)to)
    abort();
}

int main(int argc, char **argv) {
  int sum = 0;
  kept = malloc(100);
  check_between(__data_start, hot_data, _edata);
  check_between(__data_start, cold_data, _edata);
  check_between(_edata, hot, _end);
  check_between(_edata, cold, _end);
  for (int i = 0; i < 100000; i++) {
    hot[i % 100] += hot_data[i % 10] + hot_table[i % 8];
    sum += hot[(i + 1) % 100];
  }
  sum += chosen_not[0];
  if (argc > 5)
    sum += cold[argc] + cold_data[argc] + cold_table[argc];
  printf("%d %s\n", sum, argv[1] ? argv[1] : "");
  return 0;
}
