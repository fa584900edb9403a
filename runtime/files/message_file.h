/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where messages go: standard error as the program was started with it. Programs close that before they end (ls, sort, grep and
 * all others that look whether their output could be written), or replace it; and what else has its number is no place for
 * messages. */
#ifndef HEARTH_RUNTIME_MESSAGE_FILE_H
#define HEARTH_RUNTIME_MESSAGE_FILE_H

/* At the start, while standard error is what the program was given. */
void hearth_message_file_begin(void);

/* In a forked child. */
void hearth_message_file_begin_child(void);

/* A descriptor of standard error as it was at the start; before that, 2. -1: there is none any more, or was none. */
int hearth_message_file(void);

#endif
