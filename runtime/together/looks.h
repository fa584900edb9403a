/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two looks at the access counters of a random sample of the heap's pages. No lock is taken: the program goes on, and a
 * page that leaves the heap between the looks only has counters that changed. */
#ifndef HEARTH_RUNTIME_LOOKS_H
#define HEARTH_RUNTIME_LOOKS_H

#include "heap.h"
#include "sample.h"

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_LOOKS_MOST  256 /* pages of a sample */
#define HEARTH_LOOKS_LINES 64  /* of a page */

typedef struct hearth_looks {
  uint32_t count;          /* pages of the sample */
  uint64_t pages, sampled; /* the sample stands for `pages` pages where it has `sampled` */
  char *page[HEARTH_LOOKS_MOST];
  hearth_page_bits touched[HEARTH_LOOKS_MOST];              /* after the second look: the granules that were accessed */
  uint64_t counters[HEARTH_LOOKS_MOST][HEARTH_LOOKS_LINES]; /* four of granules, or what else the line has */
} hearth_looks;

/* Draw a sample of at most `most` pages; all there are, if they are fewer. */
void hearth_looks_choose(hearth_looks *looks, uint32_t most, hearth_sampler *random);
void hearth_looks_first(hearth_looks *looks);
/* Returns whether anything was touched. */
bool hearth_looks_second(hearth_looks *looks);

#endif
