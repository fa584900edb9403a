/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* calculate: generates a program of nested expressions, parses it by recursive descent and runs it.
 *
 * The parser allocates a node for each construct, at the depth of calls that the construct is nested in. Nearly every
 * node is reached on a way of its own, so nearly every allocation has a call stack of its own: a hard case for
 * whatever keeps numbers per call stack. What is printed depends on the arguments alone. */
#include "generate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3 }; /* how often the program is run */

enum kind { NUMBER, VARIABLE, CALL, NEGATE, ADD, SUBTRACT, MULTIPLY, LESS, CHOOSE, ASSIGN, IF };

struct node {
  enum kind kind;
  uint32_t value; /* of a NUMBER; else the index of a variable */
  char *name;     /* of VARIABLE, CALL and ASSIGN, for messages; owned */
  struct node *child, *next;
};

struct parser {
  const char *start, *at;
  size_t nodes;
};

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "calculate: %s\n", what);
  exit(1);
}

static void *allocate(size_t size) {
  void *block = malloc(size);
  if (!block)
    fail("out of memory");
  return block;
}

static struct node *new_node(struct parser *p, enum kind kind, struct node *child) {
  struct node *node = allocate(sizeof *node);
  *node = (struct node){.kind = kind, .child = child};
  p->nodes++;
  return node;
}

static char *new_name(const char *start, size_t length) {
  char *name = allocate(length + 1);
  memcpy(name, start, length);
  name[length] = '\0';
  return name;
}

static char peek(struct parser *p) {
  while (isspace((unsigned char)*p->at))
    p->at++;
  return *p->at;
}

static bool accept(struct parser *p, char symbol) {
  if (peek(p) != symbol)
    return false;
  p->at++;
  return true;
}

static void expect(struct parser *p, char symbol) {
  if (accept(p, symbol))
    return;
  fprintf(stderr, "calculate: '%c' expected at offset %td\n", symbol, p->at - p->start);
  exit(1);
}

static struct node *parse_expression(struct parser *p);

/* A letter and a number: a variable. */
static struct node *parse_name(struct parser *p, enum kind kind) {
  const char *start = p->at;
  char *end;
  struct node *node = new_node(p, kind, NULL);
  node->value = (uint32_t)(strtoul(start + 1, &end, 10) % VARIABLES);
  node->name = new_name(start, (size_t)(end - start));
  p->at = end;
  return node;
}

static struct node *parse_number(struct parser *p) {
  char *end;
  struct node *node = new_node(p, NUMBER, NULL);
  node->value = (uint32_t)strtoul(p->at, &end, 10);
  p->at = end;
  return node;
}

static struct node *parse_arguments(struct parser *p) {
  struct node *first = parse_expression(p);
  if (accept(p, ','))
    first->next = parse_expression(p);
  expect(p, ')');
  return first;
}

static struct node *parse_primary(struct parser *p) {
  char symbol = peek(p);
  if (isdigit((unsigned char)symbol))
    return parse_number(p);
  if (isalpha((unsigned char)symbol)) {
    struct node *node = parse_name(p, VARIABLE);
    if (accept(p, '(')) {
      node->kind = CALL;
      node->child = parse_arguments(p);
    }
    return node;
  }
  expect(p, '(');
  struct node *inner = parse_expression(p);
  expect(p, ')');
  return inner;
}

static struct node *parse_factor(struct parser *p) {
  if (accept(p, '-'))
    return new_node(p, NEGATE, parse_factor(p));
  return parse_primary(p);
}

static struct node *parse_product(struct parser *p) {
  struct node *left = parse_factor(p);
  while (accept(p, '*')) {
    left->next = parse_factor(p);
    left = new_node(p, MULTIPLY, left);
  }
  return left;
}

static struct node *parse_sum(struct parser *p) {
  struct node *left = parse_product(p);
  for (;;) {
    enum kind kind = accept(p, '+') ? ADD : accept(p, '-') ? SUBTRACT : NUMBER;
    if (kind == NUMBER)
      return left;
    left->next = parse_product(p);
    left = new_node(p, kind, left);
  }
}

static struct node *parse_comparison(struct parser *p) {
  struct node *left = parse_sum(p);
  while (accept(p, '<')) {
    left->next = parse_sum(p);
    left = new_node(p, LESS, left);
  }
  return left;
}

static struct node *parse_expression(struct parser *p) {
  struct node *first = parse_comparison(p);
  if (!accept(p, '?'))
    return first;
  first->next = parse_expression(p);
  expect(p, ':');
  first->next->next = parse_expression(p);
  return new_node(p, CHOOSE, first);
}

static struct node *parse_statement(struct parser *p);

static struct node *parse_block(struct parser *p) {
  expect(p, '{');
  struct node *statement = parse_statement(p);
  expect(p, '}');
  return statement;
}

static struct node *parse_statement(struct parser *p) {
  peek(p);
  if (strncmp(p->at, "if ", 3) == 0) {
    p->at += 3;
    expect(p, '(');
    struct node *condition = parse_expression(p);
    expect(p, ')');
    condition->next = parse_block(p);
    peek(p);
    if (strncmp(p->at, "else", 4) == 0) {
      p->at += 4;
      condition->next->next = parse_block(p);
    }
    return new_node(p, IF, condition);
  }
  struct node *node = parse_name(p, ASSIGN);
  expect(p, '=');
  node->child = parse_expression(p);
  expect(p, ';');
  return node;
}

static struct node *parse_program(struct parser *p) {
  struct node *first = NULL, **end = &first;
  while (peek(p)) {
    *end = parse_statement(p);
    end = &(*end)->next;
  }
  return first;
}

static uint32_t run(const struct node *node, uint32_t *variables);

static uint32_t run_call(const struct node *node, uint32_t *variables) {
  uint32_t result = variables[node->value];
  for (const struct node *argument = node->child; argument; argument = argument->next)
    result = result * 31 + run(argument, variables);
  return result;
}

static uint32_t run(const struct node *node, uint32_t *variables) {
  const struct node *a = node->child, *b = a ? a->next : NULL;
  switch (node->kind) {
  case NUMBER:
    return node->value;
  case VARIABLE:
    return variables[node->value];
  case CALL:
    return run_call(node, variables);
  case NEGATE:
    return -run(a, variables);
  case ADD:
    return run(a, variables) + run(b, variables);
  case SUBTRACT:
    return run(a, variables) - run(b, variables);
  case MULTIPLY:
    return run(a, variables) * run(b, variables);
  case LESS:
    return run(a, variables) < run(b, variables);
  case CHOOSE:
    return run(run(a, variables) % 2 ? b : b->next, variables);
  case ASSIGN:
    return variables[node->value] = run(a, variables);
  case IF:
    b = run(a, variables) % 2 ? b : b->next;
    return b ? run(b, variables) : 0;
  }
  fail("a node of unknown kind");
}

static void destroy(struct node *node) {
  while (node) {
    struct node *next = node->next;
    destroy(node->child);
    free(node->name);
    free(node);
    node = next;
  }
}

int main(int argc, char **argv) {
  char *end = NULL;
  errno = 0;
  unsigned long statements = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
  if (!statements || errno || *end || argv[1][0] == '-') {
    fputs("usage: calculate STATEMENTS\n", stderr);
    return 2;
  }
  char *text = generate(statements, 1);
  if (!text)
    fail("out of memory");
  struct parser parser = {.start = text, .at = text};
  struct node *program = parse_program(&parser);
  uint32_t variables[VARIABLES];
  for (uint32_t i = 0; i < VARIABLES; i++)
    variables[i] = i;
  uint32_t result = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (const struct node *node = program; node; node = node->next)
      result = result * 31 + run(node, variables);
  printf("%zu bytes, %zu nodes, result %08" PRIx32 "\n", strlen(text), parser.nodes, result);
  destroy(program);
  free(text);
}
