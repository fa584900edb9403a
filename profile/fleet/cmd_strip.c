/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth strip`: takes the names out of a profile. */
#include <stdlib.h>

#include "command.h"
#include "hearth/fleet.h"
#include "hearth/plan.h"
#include "view_options.h"

typedef struct arguments {
  const char *profile, *output;
} arguments;

static bool strip_command_parse(int argc, char **argv, arguments *a, int *ret_code) {
  static const hearth_help help = {
      .usage = "strip PROFILE -o OUT",
      .about =
          "Take the names of functions, types, scopes and binaries, and all paths, out of an indexed profile. It "
          "keeps numbers and ids, by which a compile gives the same hints. What a profile discloses: docs/fleet.md."};
  const hearth_option options[] = {HEARTH_TEXT("--output", 'o', "OUT", "a file", &a->output,
                                               "the profile to write; replaced whole; '-' is standard output"),
                                   {0}};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  a->profile = argv[1];
  *ret_code = operands != 1 ? hearth_tool_usage_error("strip", operands ? "one profile at a time" : "which profile?")
              : !a->output  ? hearth_tool_usage_error("strip", "where to write? Give -o OUT")
                            : HEARTH_EXIT_OK;
  return *ret_code == HEARTH_EXIT_OK;
}

static hearth_status give_layout(const hearth_plan *known, void **data, size_t *size, hearth_error *err) {
  char layout[HEARTH_POOLS_MAX + 1];
  hearth_profile *stripped;
  void *old = *data;
  hearth_layout_print(known->pools, layout);
  HEARTH_TRY(hearth_profile_open_memory(old, *size, "stripped", &stripped, err));
  hearth_status status = hearth_plan_set_layout(stripped, layout, &known->tuning, data, size, err);
  hearth_profile_close(stripped);
  if (status == HEARTH_OK)
    free(old);
  return status;
}

/* The layout stays: pool ids are those of before, as weights are. */
static hearth_status write_planned(hearth_builder *builder, const char *path, const hearth_plan *known,
                                   hearth_error *err) {
  void *data;
  size_t size;
  HEARTH_TRY(hearth_builder_write_planned(builder, NULL, &data, &size, err));
  hearth_status status = known->id ? give_layout(known, &data, &size, err) : HEARTH_OK;
  HEARTH_THEN(status, hearth_output_write(path, data, size, err));
  free(data);
  return status;
}

static hearth_status strip(const void *given, hearth_profile *profile, hearth_error *err) {
  const arguments *a = given;
  hearth_profile_summary summary;
  hearth_plan plan;
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  hearth_builder *builder = hearth_builder_create(summary.id_scheme);
  hearth_status status = builder ? hearth_builder_add_profile(builder, profile, err) : hearth_error_nomem(err);
  HEARTH_THEN(status, hearth_builder_strip(builder, err));
  HEARTH_THEN(status, write_planned(builder, a->output, &plan, err));
  hearth_builder_destroy(builder);
  return status;
}

int hearth_cmd_strip(int argc, char **argv) {
  arguments a = {0};
  int code;
  return strip_command_parse(argc, argv, &a, &code) ? hearth_tool_use_profile(a.profile, strip, &a) : code;
}
