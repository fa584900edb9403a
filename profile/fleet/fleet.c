/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stripping of profiles that leave their host. */
#include "hearth/fleet.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "hearth/ids.h"

/* -------------------------------------------------- names ---------------------------------------------------
 * A function's name becomes a hash of it, by which the compiler still finds a callee that moved to another file, and LLVM's
 * id. Its file is part of its id already. What marks scopes and heaps stands for a path, but is none. Types and binaries keep
 * their ids. Of the facts of runs, the peak stays. */

static hearth_status strip_function(hearth_builder *builder, builder_function *f, hearth_error *err) {
  char name[24] = "";
  const char *known = builder->pool + f->name, *path = builder->pool + f->path;
  if (*known)
    snprintf(name, sizeof name, "%c%016" PRIx64, HEARTH_STRIPPED_NAME, hearth_llvm_id_of_name(known));
  if (!hearth_is_name_file(path))
    HEARTH_TRY(hearth_builder_intern_string(builder, "", &f->path, err));
  return hearth_builder_intern_string(builder, name, &f->name, err);
}

static hearth_status strip_global(hearth_builder *builder, builder_global *g, hearth_error *err) {
  char name[24];
  snprintf(name, sizeof name, "%c%016" PRIx64, HEARTH_STRIPPED_NAME, g->id);
  g->flags &= ~HEARTH_GLOBAL_LOCAL;
  g->line = 0;
  HEARTH_TRY(hearth_builder_intern_string(builder, "", &g->file, err));
  return hearth_builder_intern_string(builder, name, &g->name, err);
}

hearth_status hearth_builder_strip(hearth_builder *builder, hearth_error *err) {
  for (size_t i = 0; i < builder->function_count; i++)
    HEARTH_TRY(strip_function(builder, &builder->functions[i], err));
  for (size_t i = 0; i < builder->global_count; i++)
    HEARTH_TRY(strip_global(builder, &builder->globals[i], err));
  builder->run_facts = (builder_run_facts){.peak_bytes = builder->run_facts.peak_bytes};
  size_t binary_count = builder->binary_count;
  builder->type_count = builder->binary_count = 0;
  for (size_t i = 0; i < binary_count; i++) { /* binaries that differed in their names alone become one */
    builder_binary binary = builder->binaries[i];
    HEARTH_TRY(hearth_builder_add_binary(builder, "", binary.build_id, binary.build_id_size, err));
  }
  return HEARTH_OK;
}
