/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One pass over the arguments: each option is looked up in the table, operands move to the front. */
#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "utf8.h"

/* -------------------------------------------------- unknown names -------------------------------------------------- */

enum { NAME_MAX_LENGTH = 31, NEAR = 2 /* typing errors that are overlooked */ };

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

/* How many letters must be put in, taken out or replaced to make `a` of the first `length` bytes of `b`, which are no
 * more than NAME_MAX_LENGTH: Wagner and Fischer's recurrence, row by row. */
static size_t edit_distance(const char *a, const char *b, size_t length) {
  size_t row[NAME_MAX_LENGTH + 1];
  for (size_t k = 0; k <= length; k++)
    row[k] = k;
  for (size_t i = 0; a[i]; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t k = 1; k <= length; k++) {
      size_t replaced = diagonal + (a[i] != b[k - 1]);
      diagonal = row[k];
      row[k] = least_of(replaced, least_of(row[k], row[k - 1]) + 1);
    }
  }
  return row[length];
}

void hearth_tool_guess(hearth_guess *guess, const char *name, const char *given, size_t length) {
  if (length > NAME_MAX_LENGTH)
    return;
  size_t distance = edit_distance(name, given, length);
  if (distance > NEAR || distance * 2 > length || (guess->name && distance >= guess->distance))
    return;
  *guess = (hearth_guess){name, distance};
}

static bool is_option(const hearth_option *option) { return option->name[0] == '-'; }

static int unknown(const hearth_option *options, const char *command, const char *argument) {
  hearth_guess guess = {0};
  for (const hearth_option *option = options; option->name; option++)
    if (is_option(option))
      hearth_tool_guess(&guess, option->name, argument, strcspn(argument, "="));
  if (guess.name)
    return hearth_tool_usage_error(command, "unknown option '%s' (did you mean %s?)", argument, guess.name);
  return hearth_tool_usage_error(command, "unknown option '%s'%s", argument,
                                 strpbrk(argument, "./") ? " (a file of this name is given behind --)" : "");
}

/* -------------------------------------------------- options -------------------------------------------------- */

/* Is it this option? Then *ret_value is the value that is attached to it, or NULL. */
static bool command_line_matches(const hearth_option *option, const char *argument, const char **ret_value) {
  size_t length = strlen(option->name);
  *ret_value = NULL;
  if (strncmp(argument, option->name, length) == 0 && (argument[length] == '=' || !argument[length])) {
    if (argument[length])
      *ret_value = argument + length + 1;
    return true;
  }
  if (!option->letter || argument[1] != option->letter || (argument[2] && !option->value))
    return false;
  if (argument[2])
    *ret_value = argument + (argument[2] == '=' ? 3 : 2);
  return true;
}

static int command_line_use(const hearth_option *option, const char *command, const char *value) {
  if (option->flag)
    *option->flag = true;
  else if (option->text)
    *option->text = value;
  int code = option->take ? option->take(option->target, value) : HEARTH_EXIT_OK;
  if (code == HEARTH_OPTION_UNUSABLE)
    code = hearth_tool_usage_error(command, "%s needs %s, not '%s'", option->name, option->expects, value);
  return code;
}

/* The option argv[*i], with its value, which may be the next argument. Returns HEARTH_EXIT_OK or an exit code. */
static int read_option(const hearth_option *options, char **argv, int *i) {
  const char *value, *argument = argv[*i];
  const hearth_option *option = options;
  while (option->name && !command_line_matches(option, argument, &value))
    option++;
  if (!option->name)
    return unknown(options, argv[0], argument);
  if (!option->value)
    return value ? hearth_tool_usage_error(argv[0], "%s takes no value", option->name)
                 : command_line_use(option, argv[0], NULL);
  if (!value && *option->value == '[')
    return command_line_use(option, argv[0], NULL);
  if (!value && argv[*i + 1])
    value = argv[++*i];
  if (!value || !*value)
    return hearth_tool_usage_error(argv[0], "%s needs %s", option->name, option->expects);
  return command_line_use(option, argv[0], value);
}

static bool command_line_parse(const hearth_option *options, const hearth_help *help, bool command, int argc,
                               char **argv, int *ret_operands, int *ret_code) {
  bool options_end = false;
  int operands = 0;
  for (int i = 1; i < argc; i++) {
    if (options_end || argv[i][0] != '-' || !argv[i][1]) {
      argv[++operands] = argv[i];
      options_end |= command;
    } else if (strcmp(argv[i], "--") == 0) {
      options_end = true;
    } else if (hearth_help_asked(argv[i], help, options, stdout)) {
      *ret_code = hearth_tool_finish();
      return false;
    } else if ((*ret_code = read_option(options, argv, &i)) != HEARTH_EXIT_OK) {
      return false;
    }
  }
  *ret_operands = operands;
  return true;
}

bool hearth_tool_parse(const hearth_option *options, const hearth_help *help, int argc, char **argv, int *ret_operands,
                       int *ret_code) {
  return command_line_parse(options, help, false, argc, argv, ret_operands, ret_code);
}

bool hearth_tool_parse_command(const hearth_option *options, const hearth_help *help, int argc, char **argv,
                               int *ret_operands, int *ret_code) {
  return command_line_parse(options, help, true, argc, argv, ret_operands, ret_code);
}

/* -------------------------------------------------- values -------------------------------------------------- */

bool hearth_tool_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret) {
  char *end;
  if (*text < '0' || *text > '9') /* strtoull takes blanks and signs */
    return false;
  errno = 0;
  *ret = strtoull(text, &end, 10);
  return errno == 0 && !*end && *ret >= least && *ret <= most;
}

bool hearth_tool_parse_milliseconds(const char *text, uint64_t least, uint64_t most, uint64_t *ret) {
  char whole[21], fraction[] = "000";
  size_t digits = strspn(text, "0123456789");
  const char *rest = text[digits] == '.' ? text + digits + 1 : text + digits;
  uint64_t seconds, part;
  if (digits >= sizeof whole || rest[strspn(rest, "0123456789")] || (text[digits] == '.' && !*rest))
    return false;
  snprintf(whole, sizeof whole, "%.*s", (int)digits, text);
  memcpy(fraction, rest, strnlen(rest, sizeof fraction - 1)); /* digits below a thousandth are cut off */
  if (!hearth_tool_parse_number(whole, 0, UINT64_MAX / 1000 - 1, &seconds) ||
      !hearth_tool_parse_number(fraction, 0, 999, &part))
    return false;
  *ret = seconds * 1000 + part;
  return *ret >= least && *ret <= most;
}

int hearth_tool_take_seconds(void *target, const char *value) {
  hearth_number_option *number = target;
  number->given = true;
  return hearth_tool_parse_milliseconds(value, number->least, number->most, &number->value) ? HEARTH_EXIT_OK
                                                                                            : HEARTH_OPTION_UNUSABLE;
}

int hearth_tool_take_one_more(void *target, const char *value) {
  hearth_list_option *list = target;
  const char **rows = realloc(list->rows, (list->count + 1) * sizeof *rows);
  if (!rows)
    return hearth_tool_error("out of memory");
  list->rows = rows;
  list->rows[list->count++] = value;
  return HEARTH_EXIT_OK;
}

int hearth_tool_each_line(const char *path, int (*take)(void *target, const char *line), void *target) {
  static const char blanks[] = " \t\r";
  hearth_file file;
  hearth_error err;
  if (hearth_file_read(path, &file, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  char *rest, *text = strndup(file.size > 0 ? (const char *)file.data : "", file.size);
  int code = text ? HEARTH_EXIT_OK : hearth_tool_error("out of memory");
  hearth_file_close(&file);
  for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && code == HEARTH_EXIT_OK;
       line = strtok_r(NULL, "\n", &rest)) {
    line += strspn(line, blanks);
    for (size_t length = strlen(line); length > 0 && strchr(blanks, line[length - 1]);)
      line[--length] = '\0';
    if (*line && *line != '#')
      code = take(target, line);
  }
  free(text);
  return code;
}

int hearth_tool_take_number(void *target, const char *value) {
  hearth_number_option *number = target;
  number->given = true;
  return hearth_tool_parse_number(value, number->least, number->most, &number->value) ? HEARTH_EXIT_OK
                                                                                      : HEARTH_OPTION_UNUSABLE;
}

const char *hearth_tool_input_path(const char *operand) { return strcmp(operand, "-") == 0 ? "/dev/stdin" : operand; }

/* ------------------------------------------------ messages ------------------------------------------------ */

/* The messages of subcommands on standard error, and the end of standard output. */

void hearth_tool_progress(const char *text) {
  static bool is_shown;
  char line[80]; /* longer ones would wrap, and stay */
  if (!isatty(STDERR_FILENO) || (!is_shown && !*text))
    return;
  snprintf(line, sizeof line, "%s", text);
  fputs("\r\033[K", stderr);
  hearth_utf8_put(line, stderr);
  fflush(stderr);
  is_shown = *text != '\0';
}

/* Texts have names and paths that files hold, which may be anybody's. */
static void command_line_print_line(const char *kind, const char *format, va_list arguments) {
  char text[8192];
  hearth_tool_progress("");
  fflush(stdout); /* so that the two streams come out in order where they end in one place */
  vsnprintf(text, sizeof text, format, arguments);
  fprintf(stderr, "hearth: %s: ", kind);
  hearth_utf8_put(text, stderr);
  fputc('\n', stderr);
}

int hearth_tool_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  command_line_print_line("error", format, arguments);
  va_end(arguments);
  return HEARTH_EXIT_ERROR;
}

int hearth_tool_view_error(const char *path, const hearth_error *err) {
  return err->status == HEARTH_E_IO ? hearth_tool_error("%s: %s", path, err->message)
                                    : hearth_tool_error("%s", err->message);
}

void hearth_tool_warning(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  command_line_print_line("warning", format, arguments);
  va_end(arguments);
}

int hearth_tool_usage_error(const char *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  command_line_print_line("error", format, arguments);
  va_end(arguments);
  fprintf(stderr, "See 'hearth %s%s--help'.\n", command, *command ? " " : "");
  return HEARTH_EXIT_USAGE;
}

int hearth_tool_finish(void) {
  hearth_error err;
  /* A reader that has seen enough (`hearth show | head`) closes the pipe: SIGPIPE ends us before we get here. */
  return hearth_stream_flush(stdout, &err) == HEARTH_OK ? HEARTH_EXIT_OK
                                                        : hearth_tool_view_error("standard output", &err);
}
