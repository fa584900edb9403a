/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bursts: code compiled with -memprof-burst counts in some of its stretches (annotate/instrument/versions.h) only, each of
 * them with the same chance, and counts are multiplied so that sums keep their expectation. */
#ifndef HEARTH_RUNTIME_BURSTS_H
#define HEARTH_RUNTIME_BURSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "exported.h"

/* The stretches that a counted one stands for; 1: all are counted. */
extern uint64_t hearth_burst_factor __attribute__((visibility("hidden")));

/* From now on there is code with bursts; `percent` of the stretches are counted, as the option says. */
void hearth_bursts_begin(uint32_t percent);

/* Whether only some accesses are counted. */
static inline bool hearth_bursts_leave_out(void) { return hearth_burst_factor > 1; }

/* Stretches that this thread is to pass before it takes a turn: instrumented code subtracts 1 where a stretch starts, and asks
 * below 0. */
extern HEARTH_EXPORT _Thread_local int64_t __hearth_burst_left __attribute__((tls_model("initial-exec")));

/* Is the stretch that starts counted? Afterwards __hearth_burst_left is 0 or more. */
bool hearth_burst_turn(void) __attribute__((visibility("hidden"), used));

/* The same for code of the runtime that counts. */
static inline bool hearth_burst_counts(void) { return --__hearth_burst_left < 0 && hearth_burst_turn(); }

#endif
