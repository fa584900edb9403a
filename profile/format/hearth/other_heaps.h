/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs and libraries whose objects do not come from malloc, or not each of them: a recording has their arenas at
 * most. Freestanding. */
#ifndef HEARTH_OTHER_HEAPS_H
#define HEARTH_OTHER_HEAPS_H

#include <stddef.h>

/* The memory that a recording lacks if the program runs this file; NULL: none is known. The path need not end with NUL. */
static inline const char *hearth_other_heap(const char *path, size_t size) {
  /* What the file is called in front of a version ("python3" is python3 and python3.11, not python3-config), and
   * what is not in the recording, with the remedy. */
  static const struct {
    const char *name, *text;
  } rows[] = {
      /* clang-format off */
      {"python3",    "Python's objects of up to 512 bytes, unless it runs with PYTHONMALLOC=malloc"},
      {"libpython3", "Python's objects of up to 512 bytes, unless it runs with PYTHONMALLOC=malloc"},
      {"libjvm.so",  "the objects of Java, which the VM's own heap has: 'jcmd PID GC.class_histogram' lists them"},
      {"node",       "the objects of JavaScript, which V8's own heap has: 'node --heap-prof' records them"},
      {"libnode.so", "the objects of JavaScript, which V8's own heap has: 'node --heap-prof' records them"},
      /* clang-format on */
  };
  size_t base = size;
  while (base > 0 && path[base - 1] != '/')
    base--;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    size_t at = base, k = 0;
    while (at < size && rows[i].name[k] && path[at] == rows[i].name[k])
      at++, k++;
    if (!rows[i].name[k] && (at == size || path[at] == '.'))
      return rows[i].text;
  }
  return NULL;
}

#endif
