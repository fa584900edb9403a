/* What the programs of word.test share: hot nodes and cold payloads of one list; each program has its own ways to one
 * allocation call. */
#ifndef WORD_H
#define WORD_H

#include "list.h"

/* Walk the list until a while has passed, and tell where its first node and payload are. */
static inline void use(const char *what, const struct node *list) {
  long sum = 0;
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (const struct node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
#ifdef PLACED
  printf("%s: node %s payload %s%s\n", what, names[hearth_malloc_class(list)],
         names[hearth_malloc_class(list->payload)], sum < 0 ? "?" : "");
#else
  printf("%s%s\n", what, sum < 0 ? "?" : "");
#endif
}

#endif
