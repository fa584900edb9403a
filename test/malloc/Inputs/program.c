/* Uses what the C library allocates by itself, threads and fork, and says whether malloc is the allocator's. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int compare(const void *a, const void *b) { return strcmp(a, b); }

static void *work(void *sum) {
  void *tree = NULL;
  for (int i = 0; i < 5000; i++) {
    char *text;
    if (asprintf(&text, "%d", i) < 0)
      abort();
    tsearch(text, &tree, compare);
    *(long *)sum += atol(text);
  }
  tdestroy(tree, free);
  return NULL;
}

int main(void) {
  long sum = 0;
  char *first = malloc(40), *second = malloc(33), *third = malloc(48); /* no headers between them */
  printf("segments: %s\n", second == first + 48 && third == second + 48 ? "yes" : "no");
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, work, &sum);
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (!child) {
    work(&sum);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  printf("child: %d\nsum %ld\n", status, sum);
}
