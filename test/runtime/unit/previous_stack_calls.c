/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "previous_stack_calls.h"

#include <alloca.h>
#include <string.h>

static unsigned (*draw)(unsigned below);
static void (*capture)(void);

static int plain(unsigned depth);
static int aligned(unsigned depth);
static int of_any_size(unsigned depth);
static int of_many_registers(unsigned depth, unsigned a, unsigned b, unsigned c, unsigned d);

static int call(unsigned depth) {
  switch (draw(17)) {
  case 0:
  case 1:
    return plain(depth);
  case 2:
    return plain(depth) + 1;
  case 3:
    return of_any_size(depth) + 1;
  case 4:
    return of_many_registers(depth, draw(2), draw(3), draw(4), draw(5)) + 1;
  case 5:
    return aligned(depth) + 1;
  default:
    capture();
    return 1;
  }
}

__attribute__((noinline)) static int plain(unsigned depth) {
  int sum = 0;

  for (unsigned i = 0; depth > 0 && i < 3; ++i)
    sum += call(depth - 1);
  return sum;
}

__attribute__((noinline)) static int give(unsigned depth) {
  capture();
  return (int)depth;
}

/* One call instruction, in a frame that does not save rbp: who is called does, in different places. */
__attribute__((noinline)) static int relay(unsigned depth) {
  static int (*const called[])(unsigned) = {plain, give, aligned, give};

  return called[draw(4)](depth) + 1;
}

/* Its frame is found by rbp. */
__attribute__((noinline)) static int of_any_size(unsigned depth) {
  size_t size = 1 + draw(100);
  volatile char *room = alloca(size);
  int sum = 0;

  for (unsigned i = 0; depth > 0 && i < 2; ++i) {
    room[draw((unsigned)size)] = (char)depth;
    sum += relay(depth - 1) + room[0];
  }
  return sum;
}

/* GCC finds the frame by a saved register, clang by rbp. */
__attribute__((noinline)) static int aligned(unsigned depth) {
  _Alignas(64) volatile char room[64];
  int sum = 0;

  memset((char *)room, (int)depth, sizeof room);
  for (unsigned i = 0; depth > 0 && i < 2; ++i)
    sum += call(depth - 1) + room[i];
  return sum;
}

/* rbp is one more register, and changes between calls. */
__attribute__((noinline)) static int of_many_registers(unsigned depth, unsigned a, unsigned b, unsigned c, unsigned d) {
  int sum = 0;

  for (unsigned i = 0; depth > 0 && i < 3; ++i) {
    sum += call(depth - 1);
    a += b ^ i, b += c ^ a, c += d ^ b, d += a ^ c;
  }
  return sum + (int)(a ^ b ^ c ^ d);
}

int previous_stack_calls(unsigned depth, unsigned (*give_number)(unsigned below), void (*give_stack)(void)) {
  draw = give_number;
  capture = give_stack;
  return call(depth) + plain(depth);
}
