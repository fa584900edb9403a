/* Cold and hot blocks of one helper in another file, made by two callers; where they are, counted block by block. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hearth/hotcold.h"
#pragma weak hearth_hotcold_class

#ifdef LOADED /* the helper's library, loaded when the program runs */
#include <dlfcn.h>
static void *(*allocate)(size_t size);
static void load(void) {
  void *library = dlopen(LOADED, RTLD_NOW);
  if (!library)
    puts(dlerror());
  allocate = (void *(*)(size_t))dlsym(library, "allocate");
}
#else
void *allocate(size_t size);
static void load(void) {}
#endif

enum { BLOCKS = 400 };
static char *cold[BLOCKS], *hot[BLOCKS], *unseen[BLOCKS];

static __attribute__((noinline)) void fill(int i) {
  /* edit */
  cold[i] = allocate(40);
  hot[i] = allocate(41);
}

static void print(const char *what, char *const *blocks) {
  int where[3] = {0};
  for (int i = 0; i < BLOCKS; i++)
    where[hearth_hotcold_class(blocks[i])]++;
  printf("%s: %d other %d cold %d hot\n", what, where[HEARTH_HOTCOLD_OTHER], where[HEARTH_HOTCOLD_COLD],
         where[HEARTH_HOTCOLD_HOT]);
}

int main(void) {
  load();
  for (int i = 0; i < BLOCKS; i++)
    fill(i);
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (int i = 0; i < BLOCKS; i++)
      ((volatile char *)hot[i])[0]++;
  while (clock() < end);
  if (hearth_hotcold_class) {
    print("cold", cold);
    print("hot", hot);
  }
#ifdef UNSEEN /* a caller that the profile never saw */
  for (int i = 0; i < BLOCKS; i++)
    unseen[i] = allocate(42);
  print("unseen", unseen);
#endif
  return unseen[0] == hot[0];
}
