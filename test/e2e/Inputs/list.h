/* A list whose nodes are walked while payloads are not, and what tells where these blocks are. */
#ifndef LIST_H
#define LIST_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PLACED
#include <hearth/malloc.h>
static const char *const names[] = {
    [HEARTH_MALLOC_OTHER] = "other", [HEARTH_MALLOC_COLD] = "cold", [HEARTH_MALLOC_HOT] = "hot"};
#endif

#define NOINLINE __attribute__((noinline))

struct node {
  struct node *next;
  char *payload;
  long key;
};

static inline struct node *prepend(struct node *list, struct node *node, char *payload, long key) {
  payload[0] = (char)key;
  *node = (struct node){list, payload, key};
  return node;
}

#endif
