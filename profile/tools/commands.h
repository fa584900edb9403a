/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The subcommands of the `hearth` command. Each gets argv[0] = its own name and returns the exit code. */
#ifndef HEARTH_COMMANDS_H
#define HEARTH_COMMANDS_H

#include <stdio.h>

#include "messages.h"

int hearth_cmd_advise(int argc, char **argv);
int hearth_cmd_cc(int argc, char **argv); /* called c++, too */
int hearth_cmd_diff(int argc, char **argv);
int hearth_cmd_export(int argc, char **argv);
int hearth_cmd_heap(int argc, char **argv);
int hearth_cmd_index(int argc, char **argv); /* called merge, too */
int hearth_cmd_plan(int argc, char **argv);
int hearth_cmd_record(int argc, char **argv);
int hearth_cmd_run(int argc, char **argv);
int hearth_cmd_report(int argc, char **argv);
int hearth_cmd_show(int argc, char **argv);
int hearth_cmd_split(int argc, char **argv);
int hearth_cmd_strip(int argc, char **argv);
int hearth_cmd_dump(int argc, char **argv);
int hearth_cmd_trace(int argc, char **argv);
int hearth_cmd_verify(int argc, char **argv);
int hearth_cmd_top(int argc, char **argv);
int hearth_cmd_tune(int argc, char **argv);
int hearth_cmd_flags(int argc, char **argv);
int hearth_cmd_check(int argc, char **argv);

/* What `hearth flags` prints, into a stream: words one a line, which may have blanks in them, or as the command prints them. On
 * error nothing is written but the message; returns the exit code. */
int hearth_flags_write(int argc, char **argv, bool lines, FILE *out);

#endif
