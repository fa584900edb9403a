/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file that is replaced whole or not at all: it is written under another name beside its place and then renamed,
 * so that no reader ever sees half of it. Devices and pipes are written in place: a rename would put a file there. */
#ifndef HEARTH_REPLACEMENT_H
#define HEARTH_REPLACEMENT_H

#include <stdbool.h>

#include "hearth/status.h"

typedef struct hearth_replacement {
  const char *path; /* for messages; borrowed until the end */
  int fd;           /* to write to; the caller closes it */
  char *target;     /* `path`, or where a symbolic link leads: the link stays */
  char *temporary;  /* NULL: fd is `path` itself */
} hearth_replacement;

/* An existing file keeps its mode. Errors: E_IO, E_NOMEM; there is nothing to end then. */
hearth_status hearth_replacement_begin(hearth_replacement *replacement, const char *path, hearth_error *err);
/* After fd was closed: put the file in place if `keep`, else take it away. Error: E_IO; it is taken away. */
hearth_status hearth_replacement_end(hearth_replacement *replacement, bool keep, hearth_error *err);

/* For handlers of signals that end the process: take away the files that were begun and not ended. */
void hearth_replacement_remove_all(void);

#endif
