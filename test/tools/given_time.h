/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Time as a test gives it, to a program with the linked runtime: it stands still, however slow the machine is, but for
 * pass(). That returns when the runtime's own thread has done all that is due by then, and waits again.
 *
 * The program is linked with %given_time (lit.cfg.py), which wraps what the runtime has of the system. The program runs all the
 * time, as its processor time tells; the runtime takes none. */
#ifndef HEARTH_TEST_GIVEN_TIME_H
#define HEARTH_TEST_GIVEN_TIME_H

#define MS 1000000ull

void pass(unsigned long long ns);

/* From now on the thread waits by the machine's time, not the program's. */
void let_thread_go(void);

#endif
