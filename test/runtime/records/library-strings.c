/* Functions that stop where they find something count up to there; formats count their strings, vectors the bytes that came.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -g -fno-builtin -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize TotalAccessCount | FileCheck %s
 *
 * strcpy of 21 bytes: 3; strcmp to the 20th: 3; strncmp of 6: 1; strcasecmp of all 21: 3.
 * CHECK: AllocCount=1 MinSize=101 TotalAccessCount=10
 * memset of 200: 25; strchr that finds nothing in 201: 26; memchr that finds the first: 1; 10 characters of a format: 2, twice.
 * CHECK: AllocCount=1 MinSize=202 TotalAccessCount=56
 * readv of 20, in 16 and 4: 3; snprintf of 15: 2.
 * CHECK: AllocCount=1 MinSize=303 TotalAccessCount=5
 * memset of 400: 50; qsort reads and writes them: 100.
 * CHECK: AllocCount=1 MinSize=404 TotalAccessCount=150
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>
#include <unistd.h>

static void check(int holds) {
  if (!holds)
    abort();
}

static int all_are_equal(const void *a, const void *b) {
  (void)a;
  (void)b;
  return 0;
}

int main(void) {
  int ends[2];
  char text[50];

  char *string = malloc(101);
  strcpy(string, "twenty characters, 2");
  check(strcmp(string, "twenty characters, 3") < 0);
  check(strncmp(string, "twenty", 6) == 0);
  check(strcasecmp(string, "TWENTY CHARACTERS, 2") == 0);

  char *letters = calloc(1, 202);
  memset(letters, 'x', 200);
  check(!strchr(letters, 'y'));
  check(memchr(letters, 'x', 200) == letters);
  check(snprintf(text, sizeof text, "%*d %.10s", 3, 1, letters) == 14);

  char *parts = malloc(303);
  struct iovec ranges[] = {{parts, 16}, {parts + 16, 200}};
  check(pipe(ends) == 0 && write(ends[1], text, 20) == 20);
  check(readv(ends[0], ranges, 2) == 20);
  check(snprintf(parts + 96, 50, "%s", "fourteen chars") == 14);

  int *numbers = malloc(404);
  memset(numbers, 1, 400);
  qsort(numbers, 100, sizeof *numbers, all_are_equal);
  free(string);
  free(letters);
  free(parts);
  free(numbers);
  return 0;
}
