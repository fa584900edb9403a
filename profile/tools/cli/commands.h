/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The verbs of the `hearth` command. Each gets argv[0] = its own name and returns the exit code. */
#ifndef HEARTH_COMMANDS_H
#define HEARTH_COMMANDS_H

#include <stdio.h>

#include "command_line.h"

#define HEARTH_VERB(part, name, run, help, see, example) int run(int argc, char **argv);
#include "verbs.def"

/* What `hearth flags` prints, into a stream: words one a line, which may have blanks in them, or as the command prints them. On
 * error nothing is written but the message; returns the exit code. */
int hearth_flags_write(int argc, char **argv, bool lines, FILE *out);

#endif
