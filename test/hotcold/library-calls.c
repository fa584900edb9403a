/* Every plain function gives a call in a library the hint that a list has for it and the bits of the thread, and is what it
 * always was for others: by archive, linked as shared object, and preloaded; threads have bits of their own. The list is the one
 * that the program comes with, or that the user names.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -fno-builtin -w -fPIC -shared %S/Inputs/library.c -o liblibrary.so
 * RUN: echo hearth-library-calls 1 > list && echo plan 77 >> list
 * RUN: for f in malloc calloc realloc reallocarray aligned_alloc memalign posix_memalign valloc strdup strndup new \
 * RUN:   new_aligned; do echo "call_$f 6 0=0 2=128 6=255" >> list; done
 * RUN: %clang -g -O1 -Wall -Wextra -fno-builtin -I%include %s -Wl,--whole-archive %hotcold_calls_a \
 * RUN:   -Wl,--no-whole-archive -L. -llibrary -Wl,-rpath,. -lstdc++ -pthread -o archive
 * RUN: ./archive | FileCheck %s
 * RUN: env HEARTH_HOTCOLD=library-calls=off ./archive | FileCheck %s --check-prefix=OFF
 * OFF: bits 0: other other other other other other other other other other other other
 * OFF: bits 6: other other
 * RUN: sed 's/6=255/6=128/' list > named && env HEARTH_HOTCOLD=library-calls=named ./archive | FileCheck %s --check-prefix=NAMED
 * NAMED: bits 0: cold cold
 * NAMED: bits 6: other other
 * RUN: env HEARTH_HOTCOLD=library-calls=list ./archive | FileCheck %s
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %hotcold_calls_so -L. -llibrary -lstdc++ -pthread -o shared \
 * RUN:   -Wl,-rpath,.
 * RUN: env LD_PRELOAD=%hotcold_calls_so HEARTH_HOTCOLD=library-calls=list ./shared | FileCheck %s
 *
 * A statically linked C++ library has no next operator new.
 * RUN: %clang -g -O1 -fno-builtin -I%include -c %s -o main.o
 * RUN: %clangxx main.o -Wl,--whole-archive %hotcold_calls_a -Wl,--no-whole-archive -L. -llibrary -Wl,-rpath,. \
 * RUN:   -static-libstdc++ -pthread -o static-cxx
 * RUN: env HEARTH_HOTCOLD=library-calls=list ./static-cxx | FileCheck %s
 *
 * CHECK: no contexts: other other other other other other other other other other other other
 * CHECK: bits 0: cold cold cold cold cold cold cold cold cold cold cold cold
 * CHECK: bits 2: other other other other other other other other other other other other
 * CHECK: bits 4: other other other other other other other other other other other other
 * CHECK: bits 6: hot hot hot hot hot hot hot hot hot hot hot hot
 * CHECK: bits ffffffffffffffff: hot hot hot hot hot hot hot hot hot hot hot hot
 * CHECK: another thread: cold cold cold cold cold cold cold cold cold cold cold cold
 * CHECK: the program's own: other, moved to hot, other
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/hotcold.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                   \
  X(malloc)                                                                                                            \
  X(calloc) X(realloc) X(reallocarray) X(aligned_alloc) X(memalign) X(posix_memalign) X(valloc) X(strdup) X(strndup)   \
      X(new) X(new_aligned)

#define DECLARE(name) void *call_##name(void *block);
FUNCTIONS(DECLARE)

/* What compiled programs do: the word as in their modules, and its announcement (annotate/separate/announcement.h). */
static _Thread_local uint64_t word __attribute__((tls_model("initial-exec")));
void hearth_hotcold_library_calls(uint64_t plan, uint64_t *contexts, const char *list, uint64_t bytes);

#define LINE(name) "call_" #name " 6 0=0 2=128 6=255\n"
static const char list[] = "hearth-library-calls 1\nplan 77\n" FUNCTIONS(LINE);

static const char *place_of(const void *block) {
  static const char *const names[] = {"other", "cold", "hot"};
  return names[hearth_hotcold_class(block)];
}

static void *all_functions(void *title) {
  printf("%s:", (const char *)title);
#define CALL(name)                                                                                                     \
  {                                                                                                                    \
    void *block = call_##name(NULL);                                                                                   \
    printf(" %s", place_of(block));                                                                                    \
    free(block);                                                                                                       \
  }
  FUNCTIONS(CALL)
  putchar('\n');
  return NULL;
}

int main(void) {
  static const uint64_t words[] = {0, 2, 4, 6, UINT64_MAX};
  char title[64];
  pthread_t thread;
  all_functions("no contexts");
  hearth_hotcold_library_calls(0x77, &word, list, sizeof list - 1);
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
    word = words[i];
    snprintf(title, sizeof title, "bits %llx", (unsigned long long)words[i]);
    all_functions(title);
  }
  assert(!pthread_create(&thread, NULL, all_functions, "another thread") && !pthread_join(thread, NULL));

  char *block = malloc(50);
  strcpy(block, "kept");
  printf("the program's own: %s, ", place_of(block));
  block = call_realloc(block);
  assert(!strcmp(block + 1, "ept"));
  printf("moved to %s, ", place_of(block));
  void *other = strdup("other");
  printf("%s\n", place_of(other));
  free(other);
  free(block);
  return 0;
}
