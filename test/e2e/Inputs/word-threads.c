/* A thread each for nodes and payloads, at the same time. */
#include <pthread.h>

#include "word.h"

enum { COUNT = 300 };

void *allocate(size_t size);

static void *nodes[COUNT], *payloads[COUNT];
static pthread_barrier_t start;

NOINLINE static void fill_nodes(void) {
  for (int i = 0; i < COUNT; i++)
    nodes[i] = allocate(sizeof(struct node));
}
NOINLINE static void fill_payloads(void) {
  for (int i = 0; i < COUNT; i++)
    payloads[i] = allocate(200);
}
static void *run(void *fill) {
  pthread_barrier_wait(&start);
  ((void (*)(void))fill)();
  return NULL;
}

int main(void) {
  pthread_t thread;
  struct node *list = NULL;
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&thread, NULL, run, (void *)fill_payloads);
  run((void *)fill_nodes);
  pthread_join(thread, NULL);
  for (long i = 0; i < COUNT; i++)
    list = prepend(list, nodes[i], payloads[i], i);
  use("threads", list);
  return 0;
}
