/* Cold and hot blocks of one helper in another file, made by two callers. */
#include "word-places.h"

#ifdef LOADED /* the helper's library, loaded when the program runs */
#include <dlfcn.h>
static void *(*helper)(size_t size);
static void load(void) {
  void *library = dlopen(LOADED, RTLD_NOW);
  if (!library)
    puts(dlerror());
  helper = (void *(*)(size_t))dlsym(library, "allocate");
}
#else
#define helper allocate
static void load(void) {}
#endif

static char *cold[BLOCKS], *hot[BLOCKS], *unseen[BLOCKS];

static __attribute__((noinline)) void fill(int i) {
  /* edit */
  cold[i] = helper(40);
  hot[i] = helper(41);
}

int main(void) {
  load();
  for (int i = 0; i < BLOCKS; i++)
    fill(i);
  heat(hot);
  print_places("cold", cold);
  print_places("hot", hot);
#ifdef UNSEEN /* a caller that the profile never saw */
  for (int i = 0; i < BLOCKS; i++)
    unseen[i] = helper(42);
  print_places("unseen", unseen);
#endif
  return unseen[0] == hot[0];
}
