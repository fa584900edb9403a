/* A list whose nodes are hot and whose payloads are cold; both are made by a function of another file. */
#include <stdio.h>
#include <time.h>

#ifdef PLACED
#include <hearth/malloc.h>
#endif

#ifdef LATER /* a library, loaded when the program runs */
#include <dlfcn.h>
static void *(*allocate)(size_t size);
__attribute__((constructor)) static void load(void) {
  allocate = (void *(*)(size_t))dlsym(dlopen(LATER, RTLD_NOW), "library_alloc");
}
#else
void *allocate(size_t size);
#endif

struct node {
  struct node *next;
  char *payload;
  long key;
};

static struct node *list;

static void add(long key) {
  struct node *node = allocate(sizeof *node);
  char *payload = allocate(200);
  payload[0] = (char)key;
  *node = (struct node){list, payload, key};
  list = node;
}

int main(void) {
  long sum = 0;
  for (long i = 0; i < 1000; i++)
    add(i);
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (struct node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
  printf("sum %d\n", sum > 0);
#ifdef PLACED
  static const char *const names[] = {
      [HEARTH_MALLOC_OTHER] = "other", [HEARTH_MALLOC_COLD] = "cold", [HEARTH_MALLOC_HOT] = "hot"};
  printf("node %s payload %s\n", names[hearth_malloc_class(list)], names[hearth_malloc_class(list->payload)]);
#endif
  return 0;
}
