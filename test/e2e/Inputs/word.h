/* What the programs of word.test share: hot nodes and cold payloads of one list; each program has its own ways to one
 * allocation call. */
#ifndef WORD_H
#define WORD_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PLACED
#include <hearth/hotcold.h>
#endif

#define NOINLINE __attribute__((noinline))

struct node {
  struct node *next;
  char *payload;
  long key;
};

static inline struct node *add(struct node *list, struct node *node, char *payload, long key) {
  payload[0] = (char)key;
  *node = (struct node){list, payload, key};
  return node;
}

/* Walk the list until a while has passed, and tell where its first node and payload are. */
static inline void use(const char *what, const struct node *list) {
  long sum = 0;
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (const struct node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
#ifdef PLACED
  static const char *const names[] = {
      [HEARTH_HOTCOLD_OTHER] = "other", [HEARTH_HOTCOLD_COLD] = "cold", [HEARTH_HOTCOLD_HOT] = "hot"};
  printf("%s: node %s payload %s%s\n", what, names[hearth_hotcold_class(list)],
         names[hearth_hotcold_class(list->payload)], sum < 0 ? "?" : "");
#else
  printf("%s%s\n", what, sum < 0 ? "?" : "");
#endif
}

#endif
