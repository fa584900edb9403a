/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The version that reader and printer of the text form share. The grammar is in
 * docs/formats/indexed.md, "Text". */
#ifndef HEARTH_TEXT_INTERNAL_H
#define HEARTH_TEXT_INTERNAL_H

#define HEARTH_TEXT_VERSION 1u

/* Names of the sums of hearth_variance, in order. */
#define HEARTH_TEXT_VARIANCE_NAMES                                                                                     \
  "runs", "squares", "density", "density_squares", "lifetime", "lifetime_squares", "bytes", "bytes_squares"

#endif
