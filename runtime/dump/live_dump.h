/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps: the live blocks at one moment, each dump in a file of its own. In live mode they take the place of
 * profiles. */
#ifndef HEARTH_RUNTIME_LIVE_DUMP_H
#define HEARTH_RUNTIME_LIVE_DUMP_H

#include "snapshot.h"

#include "hearth/raw.h"

/* Write one to the next file: NAME.1, NAME.2 ...; those of peaks replace NAME.peak. A message names the error. The
 * caller has the lock of dumps, and has blocked signals. Returns whether it was written. */
bool hearth_live_dump(enum hearth_raw_occasion occasion);

/* Call this at the start of the run: with option residency, it starts to watch pages for the first dump. */
void hearth_live_begin(void);

/* A forked child's dumps have names of their own. */
void hearth_live_forget_files(void);

#endif
