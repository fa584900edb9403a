/* Calls each allocating function, once, as a library: in functions of its own, of which a list of library calls can speak. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *_Znwm(size_t bytes) __attribute__((weak));
void *_ZnamSt11align_val_t(size_t bytes, size_t alignment) __attribute__((weak));

/* Something is done behind the call, so that it is no jump. */
static void *used(char *block) {
  if (block)
    block[0] = 'x';
  return block;
}

void *call_malloc(void *block) { return used(malloc(100)); }
void *call_calloc(void *block) { return used(calloc(2, 50)); }
void *call_realloc(void *block) { return used(realloc(block, 100)); }
void *call_reallocarray(void *block) { return used(reallocarray(block, 2, 50)); }
void *call_aligned_alloc(void *block) { return used(aligned_alloc(64, 128)); }
void *call_memalign(void *block) { return used(memalign(64, 128)); }
void *call_posix_memalign(void *block) { return posix_memalign(&block, 64, 128) ? NULL : used(block); }
void *call_valloc(void *block) { return used(valloc(100)); }
void *call_strdup(void *block) { return used(strdup("text")); }
void *call_strndup(void *block) { return used(strndup("text", 2)); }
void *call_new(void *block) { return used(_Znwm(100)); }
void *call_new_aligned(void *block) { return used(_ZnamSt11align_val_t(128, 64)); }
