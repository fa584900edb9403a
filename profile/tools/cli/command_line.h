/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command line of a subcommand: one way of reading options for all of them.
 *
 *   --name=VALUE, --name VALUE    and, for options with a letter, -x VALUE, -xVALUE, -x=VALUE
 *   --help, -h                    prints the help and ends; --help=man the same as a manual page
 *   --                            all later arguments are operands
 *   -                             is an operand: standard input, where files are read
 *
 * Options and operands may stand in any order. */
#ifndef HEARTH_COMMAND_LINE_H
#define HEARTH_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/status.h"

/* The help of a subcommand, made from its table of options: as text, and as a manual page. */

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

/* Does the argument ask for help? --help, -h, --help=man. Then it is printed. */
bool hearth_help_asked(const char *argument, const hearth_help *help, const hearth_option *options, FILE *stream);

enum { HEARTH_OPTION_UNUSABLE = -1 };

/* Of an option, exactly one of `flag`, `text` and `take` is there. Rows without are for the help: an operand's name,
 * or, if the name is empty, a line of text between options. */
struct hearth_option {
  const char *name; /* with its dashes; NULL: the end of the table */
  char letter;      /* 0: there is none */
  const char *
      value; /* the value's name in the help, as FILE; NULL: the option takes none; [=FILE]: it may be left out (`take` gets NULL) */
  const char *expects; /* the name of the value, for messages */
  const char *help;    /* see hearth_help */
  bool *flag;          /* becomes true */
  const char **text;   /* becomes the value, which is not empty */
  /* Returns HEARTH_EXIT_OK; HEARTH_OPTION_UNUSABLE; or an exit code after an error that it printed. */
  int (*take)(void *target, const char *value);
  void *target;
};

/* Rows of the usual kinds; letter 0: none. A number's target is a hearth_number_option. */
#define HEARTH_FLAG(name_, letter_, flag_, help_) {.name = name_, .letter = letter_, .flag = flag_, .help = help_}
#define HEARTH_TEXT(name_, letter_, value_, expects_, text_, help_)                                                    \
  {.name = name_, .letter = letter_, .value = value_, .expects = expects_, .text = text_, .help = help_}
#define HEARTH_TAKE(name_, letter_, value_, expects_, take_, target_, help_)                                           \
  {.name = name_,                                                                                                      \
   .letter = letter_,                                                                                                  \
   .value = value_,                                                                                                    \
   .expects = expects_,                                                                                                \
   .take = take_,                                                                                                      \
   .target = target_,                                                                                                  \
   .help = help_}
#define HEARTH_NUMBER(name, letter, value, expects, target, help)                                                      \
  HEARTH_TAKE(name, letter, value, expects, hearth_tool_take_number, target, help)

/* Reads the arguments from argv[1] on. The operands are then argv[1] to argv[*ret_operands], in their order. Returns
 * false if the command is to end with *ret_code: after the help, or an error that was printed. */
bool hearth_tool_parse(const hearth_option *options, const hearth_help *help, int argc, char **argv, int *ret_operands,
                       int *ret_code);

/* Like hearth_tool_parse, but options end at the first operand, which is a command with arguments of its own. */
bool hearth_tool_parse_command(const hearth_option *options, const hearth_help *help, int argc, char **argv,
                               int *ret_operands, int *ret_code);

/* Which name was meant: {0} at first, then each that there is, compared with the `length` bytes that were given.
 * `name` stays NULL if none is near. */
typedef struct hearth_guess {
  const char *name;
  size_t distance; /* typing errors */
} hearth_guess;

void hearth_tool_guess(hearth_guess *guess, const char *name, const char *given, size_t length);

/* Decimal digits, and nothing else. */
bool hearth_tool_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret);

/* Seconds, as 30 or 0.4, as milliseconds. */
bool hearth_tool_parse_milliseconds(const char *text, uint64_t least, uint64_t most, uint64_t *ret);

/* Target of hearth_tool_take_number, and of hearth_tool_take_seconds, in milliseconds. */
typedef struct hearth_number_option {
  uint64_t least, most;
  uint64_t value;
  bool given;
} hearth_number_option;

int hearth_tool_take_number(void *target, const char *value);
int hearth_tool_take_seconds(void *target, const char *value);

/* Target of hearth_tool_take_one_more: the values of an option that may be given more than once. */
typedef struct hearth_list_option {
  const char **rows; /* free it */
  size_t count;
} hearth_list_option;

int hearth_tool_take_one_more(void *target, const char *value);

/* Give each line of a file to `take`, without blanks around it, but for empty ones and such that begin with '#'. An
 * exit code of an error, which was printed, ends it. */
int hearth_tool_each_line(const char *path, int (*take)(void *target, const char *line), void *target);

/* The path by which an operand is read: "-" is standard input. */
const char *hearth_tool_input_path(const char *operand);

/* ------------------------------------------------ messages ------------------------------------------------ */

/* Services for all subcommands: exit codes, messages. Results go to stdout, all else to stderr through the
 * functions below. */

enum hearth_exit_code { HEARTH_EXIT_OK = 0, HEARTH_EXIT_ERROR = 1, HEARTH_EXIT_USAGE = 2 };

/* Print "hearth: error: ..." as one line; returns HEARTH_EXIT_ERROR. */
int hearth_tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for an error of printing a view to `path`; views know their stream, but not where it leads. */
int hearth_tool_view_error(const char *path, const hearth_error *err);
/* What takes long, as a line of a terminal: none in files and pipes. The next one, or any message, takes its place;
 * "" takes it away. */
void hearth_tool_progress(const char *text);
/* Print "hearth: warning: ..." as one line. */
void hearth_tool_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print "hearth: error: ..." and where to find help; returns HEARTH_EXIT_USAGE. */
int hearth_tool_usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Flush stdout and return HEARTH_EXIT_OK; if the output could not be written, report it as an error. */
int hearth_tool_finish(void);

/* ------------------------------------------------ verbs ------------------------------------------------ */

/* Each gets argv[0] = its own name and returns the exit code. */
#define HEARTH_VERB(part, name, run, help, see, example) int run(int argc, char **argv);
#include "verbs.def"

/* What `hearth flags` prints, into a stream: words one a line, which may have blanks in them, or as the command
 * prints them. On error nothing is written but the message; returns the exit code. */
int hearth_flags_write(int argc, char **argv, bool lines, FILE *out);

#endif
