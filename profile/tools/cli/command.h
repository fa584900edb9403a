/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What subcommands share: the command line, messages, files that are written, the installation, programs that run with
 * a library of it.
 *
 * There is one way of reading options for all of them:
 *
 *   --name=VALUE, --name VALUE    and, for options with a letter, -x VALUE, -xVALUE, -x=VALUE
 *   --help, -h                    prints the help and ends; --help=man the same as a manual page
 *   --                            all later arguments are operands
 *   -                             is an operand: standard input, where files are read
 *
 * Options and operands may stand in any order. */
#ifndef HEARTH_COMMAND_H
#define HEARTH_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "hearth/plan.h"
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

/* ------------------------------------------------ written files ------------------------------------------------ */

/* Each is replaced whole at the end, or left unchanged. */

/* Half an output does not stay when the command is ended by a signal, or meets the limit of a file's size, which is an
 * ordinary error from then on. For commands that write files, whether as a stream or not. */
void hearth_output_guard(void);

/* "-" means standard output. */
bool hearth_output_is_standard(const char *path);

/* All of a file at once. E_IO. */
hearth_status hearth_output_write(const char *path, const void *data, size_t size, hearth_error *err);

/* Have a view written to a stream, which replaces the file if all went well. Prints errors; returns the exit code. */
int hearth_output_view(const char *path, hearth_status (*write)(const void *arguments, FILE *stream, hearth_error *err),
                       const void *arguments);

/* The formats that `hearth merge --format=NAME` can write. */

typedef struct output_request {
  hearth_builder *builder;
  const hearth_plan_options *plan; /* NULL: defaults */
  const char *path;                /* "-": standard output */
  const void *code;                /* a profile of -fprofile-use that the output begins with; NULL: none */
  const char *code_name;
  size_t code_size;
  uint32_t section;               /* version of LLVM's MemProf section; 0: the default */
  void (*tell)(const char *text); /* the data that the output cannot hold */
} output_request;

typedef struct output_format {
  const char *name;
  hearth_status (*write)(const output_request *request, hearth_error *err);
  bool has_section; /* `section` may be chosen */
} output_format;

/* The first is the default. */
extern const output_format hearth_output_formats[];

/* NULL if there is no format of this name. */
const output_format *hearth_output_format_find(const char *name);

/* ------------------------------------------------ installation ------------------------------------------------ */

/* The directory of libraries and archives. False: it is not there, or does not fit. */
bool hearth_tool_library_directory(char *path, size_t size);

#define HEARTH_PLUGIN_NAME "hearth.so"

/* A file that is linked for one release of LLVM: the plugin. False: it is not installed for that release. */
bool hearth_tool_release_file(int release, const char *name, char *path, size_t size);

/* The newest release below the limit for which the file is installed; 0: none. */
int hearth_tool_release_below(int limit, const char *name);
enum { HEARTH_RELEASE_LIMIT = 100 };

/* ------------------------------------------------ programs that are run ------------------------------------------------ */

/* As they are, with a library of the installation in them: `hearth record` and `hearth run`. */

/* The path that execvp would run for `command`; false, with errno set, if there is none. */
bool hearth_program_find(const char *command, char *ret_path, size_t size);

/* The value that a file's dynamic symbols give a function or variable which others see; 0: it does not define it. */
struct hearth_elf_file;
uint64_t hearth_program_symbol(struct hearth_elf_file *file, const char *name);

/* Exit codes of such a command, as those of env and nohup. */
enum { EXIT_REFUSED = 125, EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* After a message. */
#define HEARTH_REFUSE(...) (hearth_tool_error(__VA_ARGS__), EXIT_REFUSED)

typedef char hearth_preload_path[PATH_MAX + 32];

/* The library of the installation. HEARTH_EXIT_OK, or 125 after a message. */
int hearth_preload_find(const char *library, hearth_preload_path ret_path);

/* The same for `command`. After a message: 125 it cannot be preloaded there, 126 the command cannot be run, 127 it
 * does not exist. */
int hearth_preloaded_find(const char *command, const char *library, hearth_preload_path ret_path);

/* Take this process's place, with the library and this environment variable (NULL: none). Returns only if that
 * fails: 125 or 126. */
int hearth_preloaded_start(const hearth_preload_path library, const char *variable, const char *value, char **argv);

/* The exit code of a child, as a shell has it; `pid` is what fork returned. What the terminal sends reaches the
 * child by itself; what others send is passed on. */
int hearth_preloaded_await(pid_t pid, struct rusage *ret_usage);

/* Record a program that runs already: a library is loaded into it as a debugger would (attached_process.c; x86-64). It begins
 * with these settings, and goes on until the process ends, or SIGINT, SIGTERM or SIGHUP comes; then the process goes on as
 * it was before.
 *   begun   is called once it is recorded
 * Returns an exit code, after an error that it printed. */
int hearth_process_record(pid_t pid, const char *library, const char *settings, void (*begun)(void));

/* ------------------------------------------------ verbs ------------------------------------------------ */

/* Each gets argv[0] = its own name and returns the exit code. */
#define HEARTH_VERB(part, name, run, help, see, example) int run(int argc, char **argv);
#include "verbs.def"

/* What `hearth flags` prints, into a stream: words one a line, which may have blanks in them, or as the command
 * prints them. On error nothing is written but the message; returns the exit code. */
int hearth_flags_write(int argc, char **argv, bool lines, FILE *out);

#endif
