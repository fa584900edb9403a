// Frames in several shared libraries, one of which was closed before the profile was written, agree with llvm-symbolizer
// in every context.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: echo "-O2 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -fPIC -Wl,--build-id" > flags
// RUN: for name in one two closed; do %clang @flags -shared -DNAME=$name %s -o $name.so || exit 1; done
// RUN: %clang @flags %s %rt -rdynamic -lpthread -ldl -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw ./program ./one.so ./two.so ./closed.so
// RUN: %hearth index raw.* -o prof && %hearth show --text prof > text
// RUN: python3 %S/../Inputs/compare_symbolizer.py %symbolizer_22 program,one.so,two.so,closed.so raw.* < text | FileCheck %s
// RUN: FileCheck %s --check-prefix=CLOSED < text && FileCheck %s --check-prefix=BOTH < text
// CHECK: {{^[1-9][0-9]*}} contexts, equal
// CLOSED: frame closed_allocate
// CLOSED-NEXT: frame main
// BOTH: frame two_allocate
// BOTH-NEXT: frame main
//
// A profile in which two of them are at the same addresses, one after the other: the frames of both are left out, which
// is said; the others stay.
// RUN: env HEARTH_OPTIONS=log_path=%t/llvm:format=llvm ./program ./one.so ./two.so ./closed.so
// RUN: python3 %S/../Inputs/overlap_segments.py llvm.* one.so two.so > overlap
// RUN: %hearth index overlap --binary program --binary one.so --binary two.so --binary closed.so -o left 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TOLD
// TOLD: hearth: warning: overlap: 2 mappings ({{.*}}) are at the same addresses, one after the other: their frames are left out
// RUN: %hearth show --text left | FileCheck %s --check-prefix=LEFT --implicit-check-not=one_ --implicit-check-not=two_
// LEFT: frame closed_allocate
// LEFT: frame main
#include <stdlib.h>

static inline void *get(size_t size) { return malloc(size); }

#ifdef NAME

#define JOIN(a, b)  JOIN2(a, b)
#define JOIN2(a, b) a##b

void *JOIN(NAME, _allocate)(size_t size, void *(*next)(size_t, void *));
void *JOIN(NAME, _allocate)(size_t size, void *(*next)(size_t, void *)) {
  return next ? next(size, NULL) : get(size);
}

#else

#include <dlfcn.h>
#include <stdio.h>

typedef void *allocate(size_t size, void *next);

static allocate *load(const char *path, const char *name, void **ret_library) {
  *ret_library = dlopen(path, RTLD_NOW);
  allocate *found = *ret_library ? (allocate *)dlsym(*ret_library, name) : NULL;
  if (!found)
    exit(fprintf(stderr, "%s\n", dlerror()));
  return found;
}

int main(int argc, char **argv) {
  void *one, *two, *closed;
  if (argc != 4)
    return 2;
  allocate *in_one = load(argv[1], "one_allocate", &one), *in_two = load(argv[2], "two_allocate", &two);
  free(load(argv[3], "closed_allocate", &closed)(10, NULL));
  dlclose(closed);
  free(in_two(20, (void *)in_one));
  free(in_one(30, NULL));
  free(get(40));
  return 0;
}
#endif
