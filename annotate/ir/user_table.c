/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Line by line, so that a table may be of any length. */
#include "user_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

hearth_status hearth_user_table_read(LLVMModuleRef module, const char *path, const char *what,
                                     hearth_user_table_line *read_line, hearth_error *err) {
  hearth_user_table table = {.module = module, .path = path, .err = err};
  hearth_status status = HEARTH_OK;
  char *line = NULL;
  size_t capacity = 0;
  FILE *file = fopen(path, "r");
  if (!file)
    return hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  for (ssize_t length; status == HEARTH_OK && (length = getline(&line, &capacity, file)) >= 0;) {
    table.line++;
    if (strlen(line) != (size_t)length) {
      status = hearth_error_set(err, HEARTH_E_FORMAT, "%s:%u: a NUL byte: not %s", path, table.line, what);
    } else {
      line[strcspn(line, "#")] = '\0';
      status = read_line(&table, line);
    }
  }
  if (status == HEARTH_OK && ferror(file))
    status = hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  free(line);
  fclose(file);
  return status;
}
