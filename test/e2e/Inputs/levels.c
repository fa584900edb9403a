/* Hot nodes and cold payloads from one call two levels down, and others from within a function that jumps by a table of
 * labels: a copy of it would jump into the original. */
#include "list.h"

static struct node *list, *other_list;

NOINLINE static void *checked(size_t size) {
  void *block = malloc(size);
  if (!block)
    exit(1);
  return block;
}

NOINLINE static void *allocate(size_t size) {
  char *block = checked(size + 1);
  block[size] = 0;
  return block;
}

/* Allocates once for each 'a' of the program and counts them. */
NOINLINE static void *interpret(const char *program, long *count) {
  static const void *const table[] = {&&end, &&once};
  void *block = NULL;
  goto *table[*program == 'a'];
once:
  block = malloc(48);
  ++*count;
  goto *table[*++program == 'a'];
end:
  return block;
}

static void add(long key, long *count) {
  struct node *node = allocate(sizeof *node);
  char *payload = allocate(200);
  list = prepend(list, node, payload, key);
  struct node *other = interpret("a", count);
  char *other_payload = interpret("a", count);
  other_list = prepend(other_list, other, other_payload, key);
}

int main(void) {
  long sum = 0, count = 0;
  for (long i = 0; i < 500; i++)
    add(i, &count);
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do {
    for (struct node *node = list; node; node = node->next)
      sum += node->key & 1;
    for (struct node *node = other_list; node; node = node->next)
      sum += node->key & 1;
  } while (clock() < end);
  printf("sum %d\n", sum > 0);
#ifdef PLACED
  printf("node %s payload %s\n", names[hearth_malloc_class(list)], names[hearth_malloc_class(list->payload)]);
  printf("interpreted %ld: %s %s\n", count, names[hearth_malloc_class(other_list)],
         names[hearth_malloc_class(other_list->payload)]);
#endif
  return 0;
}
