/* Uses the hot blocks, and prints for each kind where its blocks are. */
#include "allocate.h"
#include <stdio.h>
#include <time.h>
#ifdef LOADED
#include <dlfcn.h>
/* The helpers come from a library that is loaded by hand. */
static void *(*loaded_helper)(size_t), *(*loaded_build)(size_t);
void *helper(size_t n) { return loaded_helper(n); }
void *build(size_t n) { return loaded_build(n); }
static int load(void) {
  void *library = dlopen("./libhelper.so", RTLD_NOW);
  if (!library) {
    puts(dlerror());
    return 1;
  }
  loaded_helper = (void *(*)(size_t))dlsym(library, "helper");
  loaded_build = (void *(*)(size_t))dlsym(library, "build");
  return 0;
}
#else
static int load(void) { return 0; }
#endif

extern int hearth_malloc_class(const void *) __attribute__((weak));

static void count(char *const *blocks, const char *name) {
  int where[3] = {0};
  for (int i = 0; i < BLOCKS; i++)
    if (blocks[i])
      where[hearth_malloc_class(blocks[i])]++;
  printf(" %s %d/%d/%d", name, where[0], where[1], where[2]);
}

#ifdef FRESH
/* Callers that the profile never saw. */
static char *fresh[2][BLOCKS];
static __attribute__((noinline)) void fill_fresh(int i) {
  fresh[0][i] = helper(50);
  fresh[1][i] = build(51);
}
#endif

int main(void) {
  static const char *const names[] = {"lines", "one-line", "one-column", "loops", "wrapped", "levels"};
  if (load())
    return 1;
  fill();
#ifdef FRESH
  for (int i = 0; i < BLOCKS; i++)
    fill_fresh(i);
#endif
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  for (int round = 0; round < 2000 || clock() < end; round++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int i = 0; i < BLOCKS; i++)
        ((volatile char *)hot[kind][i])[round & 15]++;
  if (!hearth_malloc_class)
    return 0;
  for (int kind = 0; kind < KINDS; kind++) {
    printf("%s", names[kind]);
    count(cold[kind], "cold");
    count(hot[kind], "hot");
    count(more[kind], "fresh");
    printf("\n");
  }
#ifdef FRESH
  for (int kind = 0; kind < 2; kind++) {
    printf("fresh");
    count(fresh[kind], "fresh");
    printf("\n");
  }
#endif
  return 0;
}
