/* The C library's other names of malloc's functions are the allocator's, too: blocks pass freely between all of them.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 *
 * CHECK: well
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void *__libc_valloc(size_t), *__libc_pvalloc(size_t);
void __libc_free(void *);

int main(void) {
  for (int i = 0; i < 10000; i++) {
    size_t bytes = (size_t)i % 100 ? (size_t)i : (size_t)i * 100;
    free(__libc_malloc(bytes));
    free(__libc_calloc(1, bytes));
    free(__libc_memalign(64, bytes));
    free(__libc_valloc(bytes));
    free(__libc_pvalloc(bytes));
    __libc_free(malloc(bytes));
    free(__libc_realloc(malloc(bytes), bytes + 100));
    free(realloc(__libc_malloc(bytes), 10));
    free(strdup("of the C library"));
    char *text;
    if (asprintf(&text, "%d", i) < 0)
      return 1;
    __libc_free(text);
  }
  puts("well");
}
