/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A dictionary, for the how-to's: its nodes are visited all the time, the texts behind them hardly ever, and each question
 * is a block that soon ends. All blocks come from one helper. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
  unsigned key;
  struct node *next;
  char *text;
} node;

enum { BUCKETS = 1 << 11, TEXT = 200 };
static node *buckets[BUCKETS];

static void *need(size_t bytes) {
  void *memory = malloc(bytes);
  if (!memory)
    exit(1);
  return memory;
}

static void add(unsigned key) {
  node *added = need(sizeof *added), **bucket = &buckets[key % BUCKETS];
  added->key = key;
  added->text = strcpy(need(TEXT), "a text");
  added->next = *bucket;
  *bucket = added;
}

static const node *find(unsigned key) {
  const node *at = buckets[key % BUCKETS];
  while (at && at->key != key)
    at = at->next;
  return at;
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? atoi(argv[1]) : 20000, questions = argc > 2 ? atoi(argv[2]) : 1000000, found = 0, key = 1;
  for (unsigned i = 0; i < count; i++)
    add(i * 7);
  for (unsigned i = 0; i < questions; i++) {
    char *question = need(16);
    snprintf(question, 16, "%u", (key = key * 1664525 + 1013904223) % count * 7);
    found += find(strtoul(question, NULL, 10)) != NULL;
    free(question);
  }
  printf("%u of %u found\n", found, questions);
  return 0;
}
