/* Quantities as people read them. */
#ifndef HEARTH_UNITS_H
#define HEARTH_UNITS_H

#include <stdint.h>

typedef struct hearth_units_text {
  char c[32];
} hearth_units_text;

/* "64.0 MiB": powers of 1024. */
hearth_units_text hearth_units_bytes(uint64_t bytes);
/* "3.68 us", "5.42 s". */
hearth_units_text hearth_units_time(double ns);

#endif
