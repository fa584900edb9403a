/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs for the calculator to run: the same text for the same arguments, on every machine. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stddef.h>
#include <stdint.h>

enum {
  VARIABLES = 100,   /* names are a letter and a number below this */
  NESTING_LEAST = 2, /* brackets around the shallowest number or name of an expression */
  NESTING_MOST = 5,  /* and around the deepest; the parser needs five calls for each */
  BLOCKS_MOST = 3,   /* blocks in each other */
};

/* The text of a program of this many statements, zero-terminated; the caller frees it. NULL without memory. */
char *generate(size_t statements, uint64_t seed);

#endif
