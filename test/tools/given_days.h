/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time as a test gives it, to a program that is recorded as it is: it stands still but for pass_days(). Days are so long that they
 * give no rate of the processor's ticks, however slow the machine is, so that the recorder asks for the time each time. It finds
 * this clock before the C library's if the program is linked with -rdynamic. */
#ifndef HEARTH_TEST_GIVEN_DAYS_H
#define HEARTH_TEST_GIVEN_DAYS_H

#include <time.h>

static _Atomic time_t day = 20000;

int clock_gettime(clockid_t clock, struct timespec *ret) {
  (void)clock;
  *ret = (struct timespec){day * 86400, 0};
  return 0;
}

static void pass_days(int count) { day += count; }

#endif
