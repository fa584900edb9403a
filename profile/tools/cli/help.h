/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The help of a subcommand, made from its table of options. */
#ifndef HEARTH_HELP_H
#define HEARTH_HELP_H

#include <stdio.h>

typedef struct hearth_option hearth_option;

/* What the table does not say. Texts here and in the table are wrapped; '\n' begins a new line. The blanks that a line begins
 * with stay, and lines that go on are indented as far; those of a line "name  meaning" as far as the meaning. */
typedef struct hearth_help {
  const char *usage; /* the forms of the command, without "hearth"; one a line */
  const char *about; /* what it does */
  const char *end;   /* what is to be said behind the options; NULL: nothing */
} hearth_help;

void hearth_help_print(const hearth_help *help, const hearth_option *options, FILE *stream);

#endif
