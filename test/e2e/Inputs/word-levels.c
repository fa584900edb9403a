/* Three levels above the helper of another file; recursion; a table of functions. */
#include "word.h"

void *allocate(size_t size);

NOINLINE static void *named(size_t size) {
  char *block = allocate(size + 1);
  block[size] = 0;
  return block;
}
NOINLINE static void *make_node(void) { return named(sizeof(struct node)); }
NOINLINE static void *make_payload(void) { return named(200); }

/* `depth` calls of itself, then the allocation. */
NOINLINE static void *deep(int depth, size_t size) { /* NOLINT(misc-no-recursion) */
  if (depth == 0)
    return allocate(size);
  char *block = deep(depth - 1, size);
  block[size - 1] = (char)depth;
  return block;
}

struct methods {
  void *(*get)(size_t size);
};
NOINLINE static void *plain_get(size_t size) {
  char *block = allocate(size);
  block[0] = 0;
  return block;
}
static struct methods methods = {plain_get};
static struct methods *volatile current = &methods;

int main(void) {
  struct node *levels = NULL, *recursive = NULL, *pointers = NULL;
  for (long i = 0; i < 300; i++) {
    struct node *node = make_node();
    levels = prepend(levels, node, make_payload(), i);
    node = deep(5, sizeof *node);
    recursive = prepend(recursive, node, deep(3, 200), i);
    node = current->get(sizeof *node);
    pointers = prepend(pointers, node, current->get(200), i);
  }
  use("levels", levels);
  use("recursion", recursive);
  use("pointers", pointers);
  return 0;
}
