/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that takes this process's place, as it is, with a library of the installation preloaded. */
#ifndef HEARTH_PRELOADED_PROGRAM_H
#define HEARTH_PRELOADED_PROGRAM_H

#include <limits.h>

typedef struct hearth_preloaded {
  char program[PATH_MAX], library[PATH_MAX + 32];
} hearth_preloaded;

/* The file of `command`, and that library. HEARTH_EXIT_OK; after a message, else: 125 it cannot be preloaded there, 126 the command
 * cannot be run, 127 it does not exist. */
int hearth_preloaded_find(const char *command, const char *library, hearth_preloaded *ret);

/* Run it with the library, with this environment variable (NULL: none), and argv[0] as the command. Returns only
 * if that fails: 125 or 126. */
int hearth_preloaded_start(const hearth_preloaded *program, const char *variable, const char *value, char **argv);

/* Prints the message; returns 125. */
int hearth_preloaded_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
