/* A list whose nodes are hot and whose texts are cold, all allocated through pointers, as in libxml2. With an argument, these
 * lead to functions of the program's own from the middle of the list on. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void *(*lib_malloc)(size_t size) = malloc;
void *(*lib_calloc)(size_t count, size_t size) = calloc;
void *(*lib_realloc)(void *block, size_t size) = realloc;
void (*lib_free)(void *block) = free;

struct node {
  struct node *next;
  char *payload, *text;
  long key;
};

static struct node *list;
static int own; /* calls of the functions below */

static void add(long key) {
  struct node *node = lib_calloc(1, sizeof *node);
  node->payload = lib_malloc(200);
  node->payload[0] = (char)key;
  node->text = lib_realloc(NULL, 24);
  node->text = lib_realloc(node->text, 300);
  node->text[0] = (char)key;
  node->key = key;
  node->next = list;
  list = node;
}

static void *own_malloc(size_t size) {
  own++;
  return malloc(size);
}

static void *own_calloc(size_t count, size_t size) {
  own++;
  return calloc(count, size);
}

static void *own_realloc(void *block, size_t size) {
  own++;
  return realloc(block, size);
}

void work(int changes) {
  long sum = 0;
  for (long i = 0; i < 1000; i++) {
    if (i == 500 && changes)
      lib_malloc = own_malloc, lib_calloc = own_calloc, lib_realloc = own_realloc;
    add(i);
  }
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (struct node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
  for (struct node *node = list, *next; node; node = next) {
    next = node->next;
    if (node->payload[0] != (char)node->key || node->text[0] != (char)node->key)
      abort();
    lib_free(node->payload);
    lib_free(node->text);
    lib_free(node);
  }
  printf("sum %d own %d\n", sum > 0, own);
}

#ifndef LIBRARY
int main(int argc, char **argv) {
  (void)argv;
  work(argc > 1);
  return 0;
}
#endif
