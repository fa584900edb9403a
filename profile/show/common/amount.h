/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Quantities as people read them. */
#ifndef HEARTH_AMOUNT_H
#define HEARTH_AMOUNT_H

#include <stdint.h>

#include "hearth/view.h"

typedef struct hearth_amount_text {
  char c[32];
} hearth_amount_text;

/* "64.0 MiB": powers of 1024. */
hearth_amount_text hearth_amount_bytes(uint64_t bytes);
/* A quantity of contexts: bytes, byte-seconds as "1.7 GiB s", or a number. */
hearth_amount_text hearth_amount_of(hearth_quantity quantity, uint64_t value);
/* "3.68 us", "5.42 s". */
hearth_amount_text hearth_amount_time(double ns);

#endif
