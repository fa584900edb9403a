/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Options of the runtime; their names, defaults and meaning are in runtime_options.def. */
#ifndef HEARTH_RUNTIME_RUNTIME_OPTIONS_H
#define HEARTH_RUNTIME_RUNTIME_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define HEARTH_OPTION_TEXT_SIZE 4096 /* longest value, with its NUL */

enum { HEARTH_MODE_AGGREGATE, HEARTH_MODE_TRACE, HEARTH_MODE_LIVE }; /* of `mode` */
enum { HEARTH_FORMAT_HEARTH, HEARTH_FORMAT_LLVM };                   /* values of the option `format` */
enum { HEARTH_RECURSION_FOLD, HEARTH_RECURSION_FULL };               /* of `recursion` */
enum { HEARTH_OWN_THREAD_ON, HEARTH_OWN_THREAD_OFF };                /* of `own_thread` */
enum { HEARTH_COMMAND_AUTO, HEARTH_COMMAND_ON, HEARTH_COMMAND_OFF }; /* of `command` */
enum { HEARTH_ACCESSES_BY_COUNT, HEARTH_ACCESSES_BY_PAGES };         /* of `accesses` */
enum { HEARTH_UNWIND_AUTO, HEARTH_UNWIND_FP };                       /* of `unwind` */

typedef struct hearth_runtime_options {
#define HEARTH_OPTION_TEXT(name, standard, description)                 char name[HEARTH_OPTION_TEXT_SIZE];
#define HEARTH_OPTION_NUMBER(name, standard, least, most, description)  uint32_t name;
#define HEARTH_OPTION_SECONDS(name, standard, least, most, description) uint32_t name; /* in milliseconds */
#define HEARTH_OPTION_CHOICE(name, choices, description)                uint32_t name;
#include "runtime_options.def"
  /* Given by `hearth record` alone, and not listed by help=1; 0: no process. */
  uint32_t plain_pid; /* process that writes its profile to log_path itself, without .PID */
  uint32_t tell_file; /* 0: tell_pid sums the run up, and does not say where the profile is */
  uint32_t tell_pid;  /* process that says at its end where its profile is, and how to see it */
} hearth_runtime_options;

/* Defaults. */
void hearth_runtime_options_begin(hearth_runtime_options *options);

/* Apply the settings in `string`, which may be NULL; `source` names it in messages. Settings are separated by ':', a
 * value in '...' or "..." may hold ':'. Unknown keys are listed in one warning; a value that is out of range, or no
 * number, gives a message and changes nothing. */
void hearth_runtime_options_apply(hearth_runtime_options *options, const char *string, const char *source);

/* Print all options with description and current value to stderr. */
void hearth_runtime_options_print(const hearth_runtime_options *options);

#endif
