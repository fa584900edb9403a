/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of text output. */
#ifndef HEARTH_VIEW_PRINT_H
#define HEARTH_VIEW_PRINT_H

#include <stdio.h>

#include "hearth/histogram.h"
#include "selection.h"

static inline const char *hearth_plural(uint64_t n) { return n == 1 ? "" : "s"; }
static inline double hearth_ratio(double part, double whole) { return whole != 0 ? part / whole : 0; }

/* Padded with blanks to `width`. Names come from a file: no control character reaches the terminal. */
void hearth_print_name(const char *name, int width, FILE *stream);
/* A line for each frame, leaf first: "      name  file:line:column"; wrappers that call each other have one together. */
hearth_status hearth_print_stack(hearth_profile *profile, hearth_names *names, uint32_t node, FILE *stream,
                                 hearth_error *err);

/* One line for neighbouring places that were accessed equally often, and one for accesses that are in no place. */
void hearth_print_histogram(const hearth_histogram *histogram, uint64_t total_accesses, FILE *stream);

#endif
