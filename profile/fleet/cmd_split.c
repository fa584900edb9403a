/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth split`: writes a profile as shards, which are the profile again when they are merged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command_line.h"
#include "commands.h"
#include "hearth/fleet.h"
#include "output_file.h"
#include "view_options.h"

enum { DEFAULT_SHARDS = 16, MOST_SHARDS = 4096 };

typedef struct arguments {
  const char *profile, *output;
  hearth_number_option shards;
} arguments;

static bool parse(int argc, char **argv, arguments *a, int *ret_code) {
  static const hearth_help help = {
      .usage = "split --shards=N PROFILE -o PREFIX",
      .about =
          "Split an indexed profile by the source files of its allocating functions. 'hearth merge' of the shards "
          "gives the same bytes; shards of many profiles are merged one number at a time, each on a machine of its "
          "own. A shard is for merging, not for compiling."};
  const hearth_option options[] = {
      {.name = "--shards",
       .value = "N",
       .expects = "a number from 1 to 4096",
       .take = hearth_tool_take_number,
       .target = &a->shards,
       .help = "write N shards (default: 16)"},
      {.name = "--output",
       .letter = 'o',
       .value = "PREFIX",
       .expects = "a file's name",
       .text = &a->output,
       .help = "write PREFIX.0, PREFIX.1 and so on, where they have contexts; each is replaced whole"},
      {0}};
  a->shards = (hearth_number_option){.least = 1, .most = MOST_SHARDS};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  a->profile = argv[1];
  *ret_code = operands != 1 ? hearth_tool_usage_error("split", operands ? "one profile at a time" : "which profile?")
              : !a->output  ? hearth_tool_usage_error("split", "where to write? Give -o PREFIX")
                            : HEARTH_EXIT_OK;
  return *ret_code == HEARTH_EXIT_OK;
}

/* Stacks are kept as they are: a profile with full recursion stays one. */
static hearth_status write_shard(const arguments *a, hearth_profile *profile, const uint32_t *shards, uint32_t shard,
                                 hearth_error *err) {
  hearth_profile_summary summary;
  char path[4096];
  bool is_empty = true;
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++)
    is_empty = is_empty && shards[i] != shard;
  if ((size_t)snprintf(path, sizeof path, "%s.%" PRIu32, a->output, shard) >= sizeof path)
    return hearth_error_set(err, HEARTH_E_USAGE, "%.200s...: the name is too long", a->output);
  if (is_empty) { /* merging it is an error; nor is an older one of that name to be merged in its place */
    unlink(path);
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  hearth_builder *builder = hearth_builder_create(summary.id_scheme);
  hearth_status status =
      builder ? hearth_builder_add_shard(builder, profile, shards, shard, err) : hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = hearth_builder_write(builder, path, err);
  hearth_builder_destroy(builder);
  return status;
}

static hearth_status split(const void *given, hearth_profile *profile, hearth_error *err) {
  const arguments *a = given;
  uint32_t count = a->shards.given ? (uint32_t)a->shards.value : DEFAULT_SHARDS;
  uint32_t *shards = calloc((size_t)hearth_profile_context_count(profile) + 1, sizeof *shards);
  hearth_status status = shards ? hearth_profile_shard(profile, count, shards, err) : hearth_error_nomem(err);
  for (uint32_t i = 0; status == HEARTH_OK && i < count; i++)
    status = write_shard(a, profile, shards, i, err);
  free(shards);
  return status;
}

int hearth_cmd_split(int argc, char **argv) {
  arguments a = {0};
  int code;
  return parse(argc, argv, &a, &code) ? hearth_tool_use_profile(a.profile, split, &a) : code;
}
