/* A program with the C library's malloc opens a library that was linked with the allocator: the program's malloc stays in charge
 * of both, hints are ignored with a message, and the library can be closed.
 *
 * RUN: %clang -DPLUGIN -O1 -fno-builtin -fPIC -shared -I%include %s -L$(dirname %malloc) -lhearth_malloc -Wl,-rpath,$(dirname %malloc) -o %t.so
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: %t %t.so 2>&1 | FileCheck %s
 *
 * CHECK: hearth malloc: hints are ignored
 * CHECK-NOT: hearth malloc
 * CHECK: well
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN

#include <hearth/malloc.h>
char *give(size_t bytes, int hint) { return memset(malloc_hot_cold(bytes, (uint8_t)hint), 1, bytes); }
char *give_plain(size_t bytes) { return memset(malloc(bytes), 1, bytes); }
void take(void *block) { free(block); }

#else

#include <dlfcn.h>
#include <pthread.h>

static char *(*give)(size_t, int), *(*give_plain)(size_t);
static void (*take)(void *);

static void *work(void *unused) {
  for (int i = 0; i < 20000; i++) {
    size_t bytes = i % 100 ? (size_t)i % 700 + 1 : (size_t)i * 40 + 1;
    free(give(bytes, i));
    free(realloc(give(bytes, i), bytes + 100));
    free(give_plain(bytes));
    take(malloc(bytes));
    take(give(bytes, i));
  }
  return unused;
}

int main(int count, char **arguments) {
  pthread_t thread;
  for (int round = 0; round < 3; round++) {
    void *library = dlopen(arguments[count - 1], RTLD_NOW);
    if (!library) {
      puts(dlerror());
      return 1;
    }
    *(void **)&give = dlsym(library, "give");
    *(void **)&give_plain = dlsym(library, "give_plain");
    *(void **)&take = dlsym(library, "take");
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    dlclose(library);
  }
  puts("well");
}

#endif
