/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pointers: programs that follow pointers through a large heap, in the manner of the Olden benchmarks.
 *
 * usage: pointers tree|quarters|lists
 *   tree      a binary tree of 8 million nodes is built, and summed four times; 256 MiB
 *   quarters  a tree of squares, each split into four at random, is built and walked eight times; 100 MiB
 *   lists     thousands of lists of visitors, who arrive, move to other lists and leave, at random; 70 MiB
 *
 * Prints seconds of processor time, of it those for building, and MiB of peak memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#ifdef HINTED
#include <hearth/malloc.h>
#define TAKE(bytes) malloc_hot_cold(bytes, 223)
#else
#define TAKE(bytes) malloc(bytes)
#endif

static double build_seconds;
static volatile long result; /* so that it is computed */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint32_t next_random(void) {
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(state >> 33);
}

struct node {
  long value;
  struct node *left, *right;
};

static struct node *node_create(int depth) {
  struct node *node = TAKE(sizeof *node);
  *node = (struct node){.value = 1};
  if (depth > 1) {
    node->left = node_create(depth - 1);
    node->right = node_create(depth - 1);
  }
  return node;
}

static long node_sum(const struct node *node) {
  return node ? node->value + node_sum(node->left) + node_sum(node->right) : 0;
}

static void tree(void) {
  struct node *root = node_create(23);
  build_seconds = seconds();
  for (int i = 0; i < 4; i++)
    result += node_sum(root);
}

struct square {
  int colour, level;
  struct square *quarter[4], *parent;
};

static struct square *square_create(int level, struct square *parent) {
  struct square *square = TAKE(sizeof *square);
  *square = (struct square){.colour = (int)(next_random() % 3), .level = level, .parent = parent};
  for (int i = 0; i < 4 && level > 0 && (square->colour || level > 6); i++)
    square->quarter[i] = square_create(level - 1, square);
  return square;
}

static long square_sum(const struct square *square) {
  long sum = square->colour + (square->parent ? square->parent->level & 1 : 0);
  for (int i = 0; i < 4; i++)
    if (square->quarter[i])
      sum += square_sum(square->quarter[i]);
  return sum;
}

static void quarters(void) {
  struct square *root = square_create(12, NULL);
  build_seconds = seconds();
  for (int i = 0; i < 8; i++)
    result += square_sum(root);
}

struct visitor {
  int steps, home;
  long reserved;
};

struct place {
  struct place *next, *previous;
  struct visitor *visitor;
};

enum { LISTS = 5460, STEPS = 150, ARRIVALS = 3, SEEN = 40 };
static struct place *lists[LISTS];

static void insert(struct place *place, int list) {
  place->previous = NULL;
  place->next = lists[list];
  if (place->next)
    place->next->previous = place;
  lists[list] = place;
}

static void unlink_place(struct place *place, int list) {
  if (place->next)
    place->next->previous = place->previous;
  if (place->previous)
    place->previous->next = place->next;
  else
    lists[list] = place->next;
}

static void arrive(int list, int step) {
  struct place *place = TAKE(sizeof *place);
  place->visitor = TAKE(sizeof *place->visitor);
  *place->visitor = (struct visitor){.steps = step, .home = list};
  insert(place, list);
}

static void look_at(struct place *place, int list) {
  result += ++place->visitor->steps;
  if (next_random() % 16)
    return;
  unlink_place(place, list);
  if (next_random() % 2) {
    free(place->visitor);
    free(place);
  } else {
    insert(place, (int)(next_random() % LISTS));
  }
}

static void visit(int list, int step) {
  struct place *next;
  int seen = 0;
  for (int i = 0; i < ARRIVALS; i++)
    arrive(list, step);
  for (struct place *place = lists[list]; place && seen < SEEN; place = next, seen++) {
    next = place->next;
    look_at(place, list);
  }
}

static void all_lists(void) {
  for (int step = 0; step < STEPS; step++)
    for (int list = 0; list < LISTS; list++)
      visit(list, step);
}

int main(int argc, char **argv) {
  struct rusage usage;
  if (argc != 2)
    return 2;
  if (!strcmp(argv[1], "tree"))
    tree();
  else if (!strcmp(argv[1], "quarters"))
    quarters();
  else
    all_lists();
  double all = seconds();
  getrusage(RUSAGE_SELF, &usage);
  printf("%.3f %.3f %.1f\n", all, build_seconds, (double)usage.ru_maxrss / 1024);
  return 0;
}
