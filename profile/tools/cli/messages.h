/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Services for all subcommands: exit codes, messages, progress. Results go to stdout, all else to stderr through the
 * functions below. */
#ifndef HEARTH_MESSAGES_H
#define HEARTH_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/status.h"

enum hearth_exit_code { HEARTH_EXIT_OK = 0, HEARTH_EXIT_ERROR = 1, HEARTH_EXIT_USAGE = 2 };

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

/* The same for events of a trace that have been read, now and then. */
void hearth_tool_progress_events(uint64_t done, uint64_t total);

void hearth_tool_progress_always(void);

/* Flush stdout and return HEARTH_EXIT_OK; if the output could not be written, report it as an error. */
int hearth_tool_finish(void);

#endif
