/* Subcommands of the `hearth` command and what they share.
 *
 * A subcommand gets argv[0] = its own name and returns the exit code. It prints results to stdout, everything else to
 * stderr through the functions below. */
#ifndef HEARTH_COMMANDS_H
#define HEARTH_COMMANDS_H

#include <stdbool.h>

#include "hearth/status.h"

enum hearth_exit_code { HEARTH_EXIT_OK = 0, HEARTH_EXIT_ERROR = 1, HEARTH_EXIT_USAGE = 2 };

int hearth_cmd_diff(int argc, char **argv);
int hearth_cmd_export(int argc, char **argv);
int hearth_cmd_heap(int argc, char **argv);
int hearth_cmd_merge(int argc, char **argv); /* called index, too */
int hearth_cmd_plan(int argc, char **argv);
int hearth_cmd_record(int argc, char **argv);
int hearth_cmd_report(int argc, char **argv);
int hearth_cmd_show(int argc, char **argv);
int hearth_cmd_dump(int argc, char **argv);
int hearth_cmd_trace(int argc, char **argv);
int hearth_cmd_top(int argc, char **argv);
int hearth_cmd_flags(int argc, char **argv);
int hearth_cmd_check(int argc, char **argv);

/* Become `hearth-ir`, the program that needs LLVM, with these arguments (argv[0] is replaced, NULL-terminated). Returns
 * the exit code if that is not possible. */
int hearth_tool_run_ir(char **argv);

/* Print "hearth: error: ..." as one line; returns HEARTH_EXIT_ERROR. */
int hearth_tool_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for an error of printing a view to `path`; views know their stream, but not where it leads. */
int hearth_tool_view_error(const char *path, const hearth_error *err);
/* Print "hearth: warning: ..." as one line. */
void hearth_tool_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print "hearth: error: ..." and where to find help; returns HEARTH_EXIT_USAGE. */
int hearth_tool_usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replace the progress line on stderr; shows nothing if stderr is no terminal, or lines one by one if that was asked
 * for. "" takes the line away: do so before printing anything else. */
void hearth_tool_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

void hearth_tool_progress_always(void);

/* Flush stdout and return HEARTH_EXIT_OK; if what was printed could not be written, report it as an error. */
int hearth_tool_finish(void);

#endif
