/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages go to the standard error that the program was started with. Programs close it before they end (ls, sort,
 * grep and all others that look whether their output could be written), or replace it; another file with its number is
 * no place for messages. */
#ifndef HEARTH_RUNTIME_MESSAGE_FILE_H
#define HEARTH_RUNTIME_MESSAGE_FILE_H

/* Call this at the start, while standard error is still the one that the program was given. */
void hearth_message_file_begin(void);

/* In a forked child. */
void hearth_message_file_begin_child(void);

/* A descriptor of the standard error of the start; before that call, 2. -1: there is none any more, or was none. */
int hearth_message_file(void);

#endif
