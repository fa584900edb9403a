/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Is memory of a program not malloc's? Freestanding. */
#ifndef HEARTH_OTHER_HEAPS_H
#define HEARTH_OTHER_HEAPS_H

#include <stddef.h>

/* The memory that a recording lacks if the program runs this file; NULL: none is known. The path need not end with NUL. */
static inline const char *hearth_other_heap(const char *path, size_t size) {
  static const struct {
    const char *name, *text;
  } rows[] = {
#define HEARTH_OTHER_HEAP(name, text) {name, text},
#include "hearth/other_heaps.def"
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
