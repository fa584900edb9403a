/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bignum: continued fractions of the number e, with integers of any size.
 *
 * Every result of an operation is a new block, and most live for one operation: an allocation-heavy program whose blocks
 * are short-lived and whose call stacks are few. What is printed depends on the argument alone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Digits of base 2^32, the lowest first; the last one is not 0. */
typedef struct number {
  size_t size;
  uint32_t digits[];
} number;

static number *make(size_t size) {
  number *n = malloc(sizeof *n + size * sizeof n->digits[0]);
  if (!n) {
    fputs("bignum: out of memory\n", stderr);
    exit(1);
  }
  n->size = size;
  return n;
}

static number *trimmed(number *n) {
  while (n->size > 0 && n->digits[n->size - 1] == 0)
    n->size--;
  return n;
}

static number *from_digit(uint32_t digit) {
  number *n = make(1);
  n->digits[0] = digit;
  return trimmed(n);
}

static number *add(const number *a, const number *b) {
  if (a->size < b->size)
    return add(b, a);
  number *sum = make(a->size + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < a->size; i++) {
    carry += (uint64_t)a->digits[i] + (i < b->size ? b->digits[i] : 0);
    sum->digits[i] = (uint32_t)carry;
    carry >>= 32;
  }
  sum->digits[a->size] = (uint32_t)carry;
  return trimmed(sum);
}

static number *multiply(const number *a, uint32_t factor) {
  number *product = make(a->size + 1);
  uint64_t carry = 0;
  for (size_t i = 0; i < a->size; i++) {
    carry += (uint64_t)a->digits[i] * factor;
    product->digits[i] = (uint32_t)carry;
    carry >>= 32;
  }
  product->digits[a->size] = (uint32_t)carry;
  return trimmed(product);
}

/* factor * a + b */
static number *step(const number *a, uint32_t factor, const number *b) {
  number *product = multiply(a, factor), *sum = add(product, b);
  free(product);
  return sum;
}

/* e = [2; 1, 2, 1, 1, 4, 1, 1, 6, 1, ...] */
static uint32_t term(uint32_t i) { return i == 0 ? 2 : i % 3 == 2 ? (i + 1) / 3 * 2 : 1; }

/* The numerator of the fraction that ends after so many terms, from the last one on. */
static number *numerator(uint32_t terms) {
  number *last = from_digit(1), *current = from_digit(term(terms - 1));
  for (uint32_t i = terms - 1; i-- > 0;) {
    number *next = step(current, term(i), last);
    free(last);
    last = current;
    current = next;
  }
  free(last);
  return current;
}

int main(int argc, char **argv) {
  char *end = NULL;
  errno = 0;
  unsigned long fractions = argc == 2 ? strtoul(argv[1], &end, 10) : 0;
  if (!fractions || errno || *end || argv[1][0] == '-' || fractions > 1000000) {
    fputs("usage: bignum FRACTIONS\n", stderr);
    return 2;
  }
  uint32_t check = 0;
  for (uint32_t terms = 1; terms <= fractions; terms++) {
    number *n = numerator(1 + terms % 200);
    for (size_t i = 0; i < n->size; i++)
      check = check * 31 + n->digits[i];
    free(n);
  }
  printf("%lu fractions, check %08" PRIx32 "\n", fractions, check);
}
