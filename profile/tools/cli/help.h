/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The help of a subcommand, made from its table of options: as text, as a manual page, and for the completion of shells. */
#ifndef HEARTH_HELP_H
#define HEARTH_HELP_H

#include <stdbool.h>
#include <stdio.h>

typedef struct hearth_option hearth_option;

/* The parts of a help text that the table does not hold. Texts here and in the table are wrapped; '\n' begins a new
 * line. The blanks that a line begins with stay, and lines that go on are indented as far; those of a line
 * "name  meaning" as far as the meaning. */
typedef struct hearth_help {
  const char *usage;   /* the forms of the command, without "hearth"; one a line */
  const char *about;   /* the purpose of the command; its first sentence names a manual page */
  const char *end;     /* text behind the options; NULL: none */
  const char *heading; /* of the options, in a manual page; NULL: OPTIONS */
} hearth_help;

/* Does the argument ask for help? --help, -h; --help=man, --help=words. Then it is printed. */
bool hearth_help_asked(const char *argument, const hearth_help *help, const hearth_option *options, FILE *stream);

void hearth_help_print(const hearth_help *help, const hearth_option *options, FILE *stream);
void hearth_help_print_manual(const hearth_help *help, const hearth_option *options, FILE *stream);
void hearth_help_print_completion(const hearth_option *options, FILE *stream);

#endif
