/* Two wrappers, each with hot nodes and cold payloads: the smaller one's payloads are small, the larger one's large. */
#include "list.h"

static volatile int counter;

#define FIVE  counter = 1, counter = 2, counter = 3, counter = 4, counter = 5
#define FIFTY FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE, FIVE

NOINLINE static void *allocate_small(size_t size) {
  FIFTY;
  return malloc(size);
}

NOINLINE static void *allocate_large(size_t size) {
  FIFTY, FIVE;
  return malloc(size);
}

static struct node *small, *large;

NOINLINE static void add(void) {
  struct node *node = allocate_small(sizeof *node);
  small = prepend(small, node, allocate_small(40), 1);
  node = allocate_large(sizeof *node);
  large = prepend(large, node, allocate_large(400), 1);
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 1000; i++)
    add();
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do {
    for (struct node *node = small; node; node = node->next)
      sum += node->key;
    for (struct node *node = large; node; node = node->next)
      sum += node->key;
  } while (clock() < end);
  printf("sum %d\n", sum > 0);
#ifdef PLACED
  printf("small payload %s, large payload %s\n", names[hearth_malloc_class(small->payload)],
         names[hearth_malloc_class(large->payload)]);
#endif
  return 0;
}
