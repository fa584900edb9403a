/* A file that a command writes as a stream: replaced whole by commit, or left as it was. */
#ifndef HEARTH_OUTPUT_FILE_H
#define HEARTH_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct hearth_output {
  FILE *stream;
  const char *path;         /* for messages; borrowed */
  char *target, *temporary; /* NULL: the stream is `path` itself */
} hearth_output;

/* NULL and "-" mean standard output. Devices and pipes are written in place. Prints the error and returns false if the
 * file cannot be created. */
bool hearth_output_open(hearth_output *output, const char *path);
/* Close; put the file in place if `keep`, else take it away. Prints the error and returns false if that fails. */
bool hearth_output_close(hearth_output *output, bool keep);

#endif
