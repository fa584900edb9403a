/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builds and days of runs, as views print them; "" if unknown. */
#ifndef HEARTH_VIEW_ORIGIN_NAMES_H
#define HEARTH_VIEW_ORIGIN_NAMES_H

#include "hearth/origin.h"

typedef struct hearth_origin_text {
  char c[72];
} hearth_origin_text;

/* In hexadecimal. */
hearth_origin_text hearth_origin_build_text(const hearth_origin *row);
/* "2026-11-23". */
hearth_origin_text hearth_origin_day_text(uint32_t day);

#endif
