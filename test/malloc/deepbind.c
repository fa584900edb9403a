/* One allocator, whatever way its functions are found: by a plug-in that is opened with RTLD_DEEPBIND and so looks into the C
 * library first, and in the C library by its handle. Blocks go from one to the other, in both directions.
 *
 * RUN: %clang -DPLUGIN -O1 -fno-builtin -fPIC -shared %s -o %t.so
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: %t %t.so | FileCheck %s --check-prefix=PLAIN
 * RUN: env LD_PRELOAD=%malloc %t %t.so | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t %t.so | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t.archive -pthread
 * RUN: %t.archive %t.so | FileCheck %s
 * RUN: %clang -O1 -fno-builtin -no-pie %s %malloc_a -o %t.fixed -pthread
 * RUN: %t.fixed %t.so | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s -Wl,--no-as-needed -L$(dirname %malloc) -lhearth_malloc -Wl,-rpath,$(dirname %malloc) -o %t.shared
 * RUN: %t.shared %t.so | FileCheck %s
 *
 * PLAIN: well, in one heap, which is not Hearth's
 * CHECK: well, in one heap, which is Hearth's
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN

char *give(size_t bytes) { return memset(malloc(bytes), 1, bytes); }
char *give_text(int number) {
  char *text;
  return asprintf(&text, "text %d", number) < 0 ? NULL : text;
}
char *give_aligned(size_t alignment, size_t bytes) {
  void *block;
  return posix_memalign(&block, alignment, bytes) ? NULL : memset(block, 1, bytes);
}
void take(void *block) { free(block); }
char *grow(char *block, size_t bytes) { return realloc(block, bytes); }
size_t usable(void *block) { return malloc_usable_size(block); }

#else

static void *plugin;
static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    puts(name);
    exit(1);
  }
  return found;
}

int main(int count, char **arguments) {
  plugin = dlopen(arguments[count - 1], RTLD_NOW | RTLD_DEEPBIND);
  if (!plugin) {
    puts(dlerror());
    return 1;
  }
  char *(*give)(size_t) = find(plugin, "give"), *(*give_text)(int) = find(plugin, "give_text");
  char *(*give_aligned)(size_t, size_t) = find(plugin, "give_aligned"), *(*grow)(char *, size_t) = find(plugin, "grow");
  void (*take)(void *) = find(plugin, "take");
  size_t (*usable)(void *) = find(plugin, "usable");
  for (int i = 0; i < 20000; i++) {
    size_t bytes = i % 100 ? (size_t)i % 700 + 1 : (size_t)i * 40 + 1;
    free(give(bytes));
    take(memset(malloc(bytes), 1, bytes));
    char *text = give_text(i);
    if (strncmp(text, "text ", 5) || usable(text) != malloc_usable_size(text))
      return 1;
    take(realloc(text, 100));
    free(give_aligned(256, bytes));
    take(memalign(64, bytes));
    char *grown = grow(calloc(1, bytes), bytes + 4000);
    if (grown[0] || !(grown = realloc(grown, 10)))
      return 1;
    free(grown);
  }
  void *library = dlopen("libc.so.6", RTLD_NOW);
  void *(*libc_malloc)(size_t) = find(library, "malloc");
  void (*libc_free)(void *) = find(library, "__libc_free");
  free(libc_malloc(1000));
  libc_free(malloc(1000));
  FILE *statistics = tmpfile();
  char line[100] = "";
  if (!statistics || malloc_info(0, statistics))
    return 1;
  rewind(statistics);
  while (fgets(line, sizeof line, statistics) && !strstr(line, "<heap nr"))
    ;
  printf("well, in one heap, which is %s\n", strstr(line, "<heap nr") ? "not Hearth's" : "Hearth's");
}

#endif
