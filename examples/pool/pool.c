/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An allocator of the program's own that the profiler knows about: a pool hands out nodes from chunks of 1,000, and takes
 * them back one by one or all at once. It includes headers only: this file links and runs with nothing of Hearth's. */
#include <hearth/allocator.h>
#include <hearth/context.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct node {
  struct node *next;
  int key;
} node;

enum { CHUNK_NODES = 1000 };

typedef struct chunk {
  struct chunk *before;
  node nodes[CHUNK_NODES];
} chunk;

typedef struct pool {
  chunk *newest;
  size_t used; /* nodes of the newest chunk */
  node *unused;
} pool;

/* 1. The pool has a name: contexts of its blocks begin with it. */
static hearth_allocator nodes = HEARTH_ALLOCATOR("pool of nodes");

static node *pool_take(pool *p) {
  node *taken = p->unused;
  if (taken) {
    p->unused = taken->next;
  } else {
    if (!p->newest || p->used == CHUNK_NODES) {
      chunk *more = malloc(sizeof *more); /* the profile has the chunks, too */
      if (!more)
        abort();
      more->before = p->newest;
      p->newest = more;
      p->used = 0;
    }
    taken = &p->newest->nodes[p->used++];
  }
  /* 2. It tells what it hands out, */
  hearth_allocator_allocated(&nodes, taken, sizeof *taken, NULL);
  return taken;
}

static void pool_give(pool *p, node *given) {
  /* 3. what it gets back, */
  hearth_allocator_freed(&nodes, given);
  given->next = p->unused;
  p->unused = given;
}

static void pool_clear(pool *p) {
  /* 4. and that all is gone at once. */
  hearth_allocator_cleared(&nodes);
  for (chunk *c = p->newest, *before; c; c = before) {
    before = c->before;
    free(c);
  }
  *p = (pool){0};
}

static node *push(pool *p, node *list, int key) {
  node *first = pool_take(p);
  first->next = list;
  first->key = key;
  return first;
}

/* Kept until the end. */
static node *build_index(pool *p, int count) {
  HEARTH_SCOPE("pool", "index"); /* 5. What the program is doing, in front of its contexts. */
  node *list = NULL;
  for (int i = 0; i < count; ++i) {
    list = push(p, list, i);
    hearth_allocator_set_type(&nodes, list, "index entry"); /* 6. What a block is, once that is known. */
  }
  return list;
}

/* Given back at once. */
static int answer_query(pool *p, const node *index, int wanted) {
  HEARTH_SCOPE("pool", "query");
  node *found = NULL;
  int count = 0;
  for (const node *n = index; n; n = n->next)
    if (n->key % wanted == 0) {
      found = push(p, found, n->key);
      hearth_allocator_set_type(&nodes, found, "result");
    }
  while (found) {
    node *next = found->next;
    pool_give(p, found);
    found = next;
    ++count;
  }
  return count;
}

int main(void) {
  pool p = {0};
  int count = 0;
  node *index = build_index(&p, 2500);
  for (int wanted = 1; wanted <= 10; ++wanted)
    count += answer_query(&p, index, wanted);
  printf("%d results\n", count);
  pool_clear(&p);
  return 0;
}
