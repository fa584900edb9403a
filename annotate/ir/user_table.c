/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Line by line, so that a table may be of any length. */
#include "user_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc_functions.h"

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

/* ------------------------------------------------ alloc table ------------------------------------------------ */

/* Reads the user's table line by line; each name that the module declares is marked with an attribute. */

static hearth_status reject(const hearth_user_table *table, const char *name, const char *why) {
  return hearth_error_set(table->err, HEARTH_E_FORMAT, "%s:%u: '%.100s' %s", table->path, table->line, name, why);
}

static hearth_status check_name(const hearth_user_table *table, const char *name) {
  if (strlen(name) > HEARTH_ALLOC_NAME_MAX)
    return reject(table, name, "is too long; names of at most 255 characters can be listed");
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < 0x21 || *c == ',' || *c == '(' || *c == '=')
      return reject(table, name, "is not the name of a function; write NAME, or NAME HINTED, as they are linked");
  return HEARTH_OK;
}

static hearth_status user_table_mark(const hearth_user_table *table, const char *name, const char *hinted) {
  LLVMValueRef function = LLVMGetNamedFunction(table->module, name);
  if (!function || !LLVMIsDeclaration(function))
    return HEARTH_OK;
  if (!hearth_can_take_hint(function))
    return reject(
        table, name,
        "cannot be given one more parameter: it has a variable number, more than 8, or structures; remove it");
  size_t length;
  const char *other = hearth_alloc_hinted_form(function, &length);
  if (other && (length != strlen(hinted) || memcmp(other, hinted, length) != 0))
    return reject(table, name, "has another hinted form in a line before; remove one of them");
  hearth_alloc_set_hinted_form(function, hinted);
  return HEARTH_OK;
}

/* Cuts `line` into its names. */
static hearth_status alloc_table_read_line(const hearth_user_table *table, char *line) {
  char by_default[HEARTH_ALLOC_NAME_MAX + sizeof "_hot_cold"], *rest;
  const char *name = strtok_r(line, HEARTH_TABLE_SPACE, &rest),
             *hinted = name ? strtok_r(NULL, HEARTH_TABLE_SPACE, &rest) : NULL;
  const char *more = hinted ? strtok_r(NULL, HEARTH_TABLE_SPACE, &rest) : NULL;
  if (!name)
    return HEARTH_OK;
  if (more)
    return reject(table, more, "is too much in this line; write NAME, or NAME HINTED");
  HEARTH_TRY(check_name(table, name));
  if (hinted)
    HEARTH_TRY(check_name(table, hinted));
  if (hearth_alloc_is_known(name))
    return reject(table, name, "is lowered without being listed; remove it");
  if (hinted && strcmp(name, hinted) == 0)
    return reject(table, name, "cannot be its own hinted form; name the function that takes the hint");
  snprintf(by_default, sizeof by_default, "%s_hot_cold", name);
  return user_table_mark(table, name, hinted ? hinted : by_default);
}

hearth_status hearth_alloc_table_mark(LLVMModuleRef module, const char *path, hearth_error *err) {
  return hearth_user_table_read(module, path, "the table of allocation functions", alloc_table_read_line, err);
}
