/* Bytes and blocks of each call stack are those that valgrind's DHAT counts, of the aggregate and of a trace. Without
 * realloc, which DHAT counts as one block that grows. */
/* REQUIRES: valgrind, views
 * RUN: %clang -O1 -fno-inline -fno-optimize-sibling-calls -gdwarf-4 -gmlt -fdebug-info-for-profiling %s -o %t
 * RUN: valgrind --tool=dhat --num-callers=60 --dhat-out-file=%t.theirs -q %t
 * RUN: rm -f %t.raw* %t.trace* && env HEARTH_OPTIONS=recursion=full %hearth record -o %t.raw -- %t
 * RUN: env HEARTH_OPTIONS=recursion=full %hearth record --mode=trace -o %t.trace -- %t
 * RUN: %hearth index --recursion=full -o %t.prof %t.raw && %hearth export --format=dhat %t.prof -o %t.ours
 * RUN: python3 %S/Inputs/compare-dhat.py %t.ours %t.theirs | FileCheck %s
 * RUN: %hearth index --recursion=full -o %t.prof %t.trace && %hearth export --format=dhat %t.prof -o %t.ours
 * RUN: python3 %S/Inputs/compare-dhat.py %t.ours %t.theirs | FileCheck %s
 * CHECK: 43 stacks, 33105 bytes
 */
#define _POSIX_C_SOURCE 200112L
#include <stdlib.h>
#include <string.h>

typedef struct node {
  struct node *next;
  char *name;
} node;

static char *copy(const char *string) {
  char *to = malloc(strlen(string) + 1);
  return to ? strcpy(to, string) : to;
}

static node *push(node *list, int number) {
  char text[32];
  node *made = calloc(1, sizeof *made);
  memset(text, 'a' + number % 26, 31);
  text[number % 31] = '\0';
  made->name = copy(text);
  made->next = list;
  return made;
}

static node *nest(int depth) {
  if (depth == 0)
    return NULL;
  node *made = malloc(sizeof *made);
  made->next = nest(depth - 1);
  made->name = copy("leaf");
  return made;
}

static void drop(node *list) {
  while (list) {
    node *next = list->next;
    free(list->name);
    free(list);
    list = next;
  }
}

static node *volatile kept;

int main(void) {
  node *list = NULL;
  void *aligned;
  for (int i = 0; i < 1000; ++i)
    list = push(list, i);
  kept = nest(20);
  if (posix_memalign(&aligned, 64, 777) == 0)
    free(aligned);
  drop(list);
  return 0;
}
