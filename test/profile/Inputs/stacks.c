/* A helper whose one malloc call is reached through inlined and real calls, through recursion, a macro and a pointer. */
#include <stdlib.h>
#include <string.h>

#define MAKE(type) ((type *)get(sizeof(type)))

struct node {
  struct node *left, *right;
  int key;
};

static inline void *get(size_t size) {
  void *block = malloc(size);
  if (!block)
    abort();
  return block;
}

static struct node *make(int key) {
  struct node *n = MAKE(struct node);
  n->left = n->right = NULL;
  n->key = key;
  return n;
}

__attribute__((noinline)) static void insert(struct node **at, int key) {
  if (!*at)
    *at = make(key);
  else if (key < (*at)->key)
    insert(&(*at)->left, key);
  else
    insert(&(*at)->right, key);
}

__attribute__((noinline)) char *copy(const char *text) {
  char *block = get(strlen(text) + 1);
  return strcpy(block, text);
}

__attribute__((noinline)) static void *twice(void *(*allocate)(size_t), size_t size) {
  free(allocate(size));
  return allocate(size);
}

int main(void) {
  static const int keys[] = {5, 2, 8, 1, 9, 3};
  struct node *root = NULL;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    insert(&root, keys[i]);
  char *a = copy("a"), *b = copy("bb"); char *c = copy("ccc");
  void *d = twice(get, 40), *e = twice(malloc, 50);
  free(a);
  free(b);
  return c == d || d == e || root->key != 5;
}
