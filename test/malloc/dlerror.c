/* The loader's messages, which it frees at odd times: of failed calls, in threads that end.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t.archive -pthread
 * RUN: %t.archive | FileCheck %s
 *
 * CHECK: well
 */
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *fail(void *unused) {
  for (int i = 0; i < 300; i++) {
    assert(!dlopen("./no-such-library.so", RTLD_NOW));
    char *message = dlerror();
    assert(message && strstr(message, "no-such-library.so"));
    assert(!dlsym(RTLD_DEFAULT, "no_such_name"));
    free(malloc((size_t)i));
    message = dlerror();
    assert(message && strstr(message, "no_such_name"));
    void *library = dlopen("libm.so.6", RTLD_NOW);
    assert(library && !dlsym(library, "no_such_name_either"));
    if (i % 3)
      assert(dlerror());
    dlclose(library);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 30; i++) {
    pthread_t threads[2];
    for (int j = 0; j < 2; j++)
      pthread_create(&threads[j], NULL, fail, NULL);
    for (int j = 0; j < 2; j++)
      pthread_join(threads[j], NULL);
  }
  fail(NULL);
  puts("well");
}
