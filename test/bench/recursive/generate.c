/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "generate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct generator {
  FILE *text;
  uint64_t random; /* state of xorshift64*, never 0 */
};

/* A number in [0, limit); limit >= 1. */
static unsigned below(struct generator *g, unsigned limit) {
  g->random ^= g->random >> 12;
  g->random ^= g->random << 25;
  g->random ^= g->random >> 27;
  return (unsigned)((g->random * 0x2545f4914f6cdd1du) >> 40) % limit;
}

static void write_expression(struct generator *g, int nesting);

static void write_name(struct generator *g) {
  unsigned letter = below(g, 26);
  fprintf(g->text, "%c%u", 'a' + letter, below(g, VARIABLES));
}

static void write_operand(struct generator *g, int nesting) {
  if (below(g, 8) == 0)
    putc('-', g->text);
  bool leaf = nesting == NESTING_MOST || (nesting >= NESTING_LEAST && below(g, 6) == 0);
  if (leaf && below(g, 2) == 0) {
    fprintf(g->text, "%u", below(g, 1000));
  } else if (leaf) {
    write_name(g);
  } else {
    bool call = below(g, 2) == 0;
    if (call)
      write_name(g);
    putc('(', g->text);
    write_expression(g, nesting + 1);
    if (call && below(g, 3) == 0) {
      fputs(", ", g->text);
      write_expression(g, nesting + 1);
    }
    putc(')', g->text);
  }
}

static void write_expression(struct generator *g, int nesting) {
  static const char *const operators[] = {" + ", " - ", " * ", " < "};
  write_operand(g, nesting);
  while (below(g, 2) == 0) {
    fputs(operators[below(g, 4)], g->text);
    write_operand(g, nesting);
  }
  if (below(g, 10) == 0) {
    fputs(" ? ", g->text);
    write_operand(g, nesting);
    fputs(" : ", g->text);
    write_operand(g, nesting);
  }
}

static void write_statement(struct generator *g, int blocks) {
  if (blocks == BLOCKS_MOST || below(g, 3) == 0) {
    write_name(g);
    fputs(" = ", g->text);
    write_expression(g, 0);
    fputs(";\n", g->text);
    return;
  }
  fputs("if (", g->text);
  write_expression(g, NESTING_MOST - 1);
  fputs(") {\n", g->text);
  write_statement(g, blocks + 1);
  fputs("} else {\n", g->text);
  write_statement(g, blocks + 1);
  fputs("}\n", g->text);
}

char *generate(size_t statements, uint64_t seed) {
  char *text;
  size_t length;
  struct generator g = {.text = open_memstream(&text, &length), .random = seed * 0x9e3779b97f4a7c15u | 1};
  if (!g.text)
    return NULL;
  for (size_t i = 0; i < statements; i++)
    write_statement(&g, 0);
  bool written = !ferror(g.text);
  if (fclose(g.text) == 0 && written)
    return text;
  free(text);
  return NULL;
}
