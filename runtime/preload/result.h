/* What `hearth record` says when the program ends: where the result is, and which command shows it. */
#ifndef HEARTH_RUNTIME_RESULT_H
#define HEARTH_RUNTIME_RESULT_H

/* At the start, while standard error is what the program was given. */
void hearth_result_begin(void);

/* The last profile, trace or heap dump was written. Says nothing in other processes than option tell_pid's, and where
 * standard error is no more what it was: a file of the program's own may have its number. */
void hearth_result_tell(void);

#endif
