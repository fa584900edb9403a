/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts of runs. Commands form a lattice of three levels: unknown, one command, and commands that differ; merging goes up to
 * the least level above both. So any tree of merges has one result. */
#include <string.h>

#include "builder_tables.h"

static hearth_status add_command(hearth_builder *builder, const char *command, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  if (!known->has_command && !known->commands_differ) {
    HEARTH_TRY(hearth_builder_intern_string(builder, command, &known->command, err));
    known->has_command = true;
  } else if (known->has_command && strcmp(builder->pool + known->command, command) != 0) {
    known->has_command = false;
    known->commands_differ = true;
  }
  return HEARTH_OK;
}

hearth_status hearth_builder_add_run_facts(hearth_builder *builder, const hearth_run_facts *facts, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  known->peak_bytes = hearth_merge_MAX(known->peak_bytes, facts->peak_bytes);
  if (facts->commands_differ) {
    known->commands_differ = true;
    known->has_command = false;
  }
  return *facts->command ? add_command(builder, facts->command, err) : HEARTH_OK;
}

hearth_run_facts hearth_builder_run_facts(const hearth_builder *builder) {
  const builder_run_facts *known = &builder->run_facts;
  return (hearth_run_facts){.peak_bytes = known->peak_bytes,
                            .command = known->has_command ? builder->pool + known->command : "",
                            .commands_differ = known->commands_differ};
}
