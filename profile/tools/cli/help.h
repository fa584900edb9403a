/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The help of a subcommand, made from its table of options. */
#ifndef HEARTH_HELP_H
#define HEARTH_HELP_H

#include <stdio.h>

typedef struct hearth_option hearth_option;

/* The parts of a help text that the table does not hold. Texts here and in the table are wrapped; '\n' begins a new
 * line. The blanks that a line begins with stay, and lines that go on are indented as far; those of a line
 * "name  meaning" as far as the meaning. */
typedef struct hearth_help {
  const char *usage; /* the forms of the command, without "hearth"; one a line */
  const char *about; /* the purpose of the command */
  const char *end;   /* text behind the options; NULL: none */
} hearth_help;

void hearth_help_print(const hearth_help *help, const hearth_option *options, FILE *stream);

#endif
