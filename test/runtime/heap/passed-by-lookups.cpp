/* One allocator, whatever way its functions are found: by a plug-in that is loaded with RTLD_DEEPBIND and so looks into the C
 * and C++ libraries first, in a library by its handle, and by the C library's own names. Blocks go from one to the other; each
 * has a record.
 *
 * RUN: %clangxx -DPLUGIN -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -fPIC -shared %s -o %t.so
 * RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.archive -rdynamic -ldl
 * RUN: %clangxx $(%hearth flags instrument --clang=%clang) -g -O1 -fno-builtin %s -o %t.shared -ldl
 * RUN: %clangxx -g -O1 -fno-omit-frame-pointer -fno-builtin %s -o %t.plain -ldl
 * RUN: rm -rf %t.dir && mkdir %t.dir && %t.plain %t.so | FileCheck %s
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/archive %t.archive %t.so | FileCheck %s
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/shared %t.shared %t.so | FileCheck %s
 * RUN: %hearth record -o %t.dir/record -- %t.plain %t.so | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/archive.* MaxSize AllocCount | FileCheck %s --check-prefix=RECORDS
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/shared.* MaxSize AllocCount | FileCheck %s --check-prefix=RECORDS
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/record MaxSize AllocCount | FileCheck %s --check-prefix=RECORDS
 *
 * CHECK: {{^}}good{{$}}
 * RECORDS: MaxSize=1001 AllocCount=100 | passed-by-lookups.cpp.tmp.so+0x
 * RECORDS: MaxSize=1002 AllocCount=100 | passed-by-lookups.cpp.tmp.so+0x
 * RECORDS: MaxSize=1003 AllocCount=1 | passed-by-lookups.cpp.tmp.{{[a-z]+}}+0x
 * RECORDS: MaxSize=1004 AllocCount=1 | passed-by-lookups.cpp.tmp.{{[a-z]+}}+0x
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <new>
#include <stdlib.h>

#ifdef PLUGIN

extern "C" {
char *give(size_t size) { return (char *)malloc(size); }
char *give_new(size_t size) { return (char *)::operator new(size); }
void take(void *block) { free(block); }
void take_new(void *block) { ::operator delete(block); }
char *grow(char *block, size_t size) { return (char *)realloc(block, size); }
}

#else

extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
}

template <typename F> static F *find(void *library, const char *name) {
  F *found = (F *)dlsym(library, name);
  if (!found)
    exit((puts(name), 1));
  return found;
}

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_DEEPBIND);
  if (!plugin)
    return puts(dlerror()), 1;
  auto *give = find<char *(size_t)>(plugin, "give"), *give_new = find<char *(size_t)>(plugin, "give_new");
  auto *take = find<void(void *)>(plugin, "take"), *take_new = find<void(void *)>(plugin, "take_new");
  auto *grow = find<char *(char *, size_t)>(plugin, "grow");
  for (int i = 0; i < 100; i++) {
    free(give(1001));
    ::operator delete(give_new(1002));
    take(malloc(50 + i));
    take_new(::operator new(50 + i));
    free(grow((char *)calloc(1, 50 + i), 4000));
  }
  void *library = dlopen("libc.so.6", RTLD_NOW);
  free(find<void *(size_t)>(library, "malloc")(1003));
  find<void(void *)>(library, "free")(malloc(10));
  free(__libc_malloc(1004));
  free(__libc_realloc(__libc_calloc(10, 10), 1000));
  __libc_free(realloc(__libc_memalign(64, 10), 1000));
  puts("good");
  return 0;
}
#endif
