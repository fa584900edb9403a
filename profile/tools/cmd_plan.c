/* hearth plan: the plan of an indexed profile, made anew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "file.h"
#include "hearth/llvm_profile.h"
#include "hearth/plan.h"
#include "options.h"
#include "output_file.h"
#include "view_options.h"

static const char help[] =
    "Usage: hearth plan [OPTION]... PROFILE [-o OUT]\n"
    "Choose the call sites by which a program that is compiled with the profile tells apart, as it runs, the contexts\n"
    "that share an allocation call; 'hearth index' does so by default. 'hearth show --plan' prints the choice.\n"
    "\n"
    "  -o, --output=OUT        the profile to write; replaced whole, or left as it is after an error (default: "
    "PROFILE)\n"
    "  --max-sites=N           choose at most N call sites (default 256, at most 4096)\n"
    "  --min-gain=N            only those that put right at least N millionths of all bytes (default 250)\n" //
    HEARTH_CLASSIFY_HELP                                                                                     //
    "                          Compile with the same: -memprof-classify\n"
    "  -q, --quiet             print errors only\n";

typedef struct arguments {
  const char *profile, *output;
  hearth_number_option sites, gain;
  hearth_classify_options classify;
  bool quiet;
} arguments;

static bool parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {{.name = "--output", .letter = 'o', .expects = "a file", .text = &a->output},
                                   {.name = "--max-sites",
                                    .expects = "a number from 1 to 4096",
                                    .take = hearth_tool_take_number,
                                    .target = &a->sites},
                                   {.name = "--min-gain",
                                    .expects = "a number from 1 to 1000000",
                                    .take = hearth_tool_take_number,
                                    .target = &a->gain},
                                   HEARTH_CLASSIFY_OPTION(&a->classify),
                                   {.name = "--quiet", .letter = 'q', .flag = &a->quiet},
                                   {0}};
  int operands;
  a->sites = (hearth_number_option){.least = 1, .most = HEARTH_PLAN_SITES_MAX};
  a->gain = (hearth_number_option){.least = 1, .most = 1000000};
  if (!hearth_tool_parse(options, help, argc, argv, &operands, ret_code))
    return false;
  if (operands != 1) {
    *ret_code = hearth_tool_usage_error("plan", operands ? "one profile at a time" : "which profile?");
    return false;
  }
  a->profile = argv[1];
  a->output = a->output ? a->output : a->profile;
  return true;
}

/* Of a file that holds more than the profile, only the profile would be left. */
static bool may_be_replaced(const arguments *a) {
  hearth_file file;
  hearth_error err;
  if (a->output != a->profile || hearth_output_is_standard(a->profile) ||
      hearth_file_map(a->profile, &file, &err) != HEARTH_OK)
    return true;
  bool container = hearth_llvm_is_container(file.data, file.size);
  hearth_file_close(&file);
  return !container;
}

static hearth_status tell(const arguments *a, const void *data, size_t size, hearth_error *err) {
  hearth_profile *profile;
  hearth_plan plan;
  HEARTH_TRY(hearth_profile_open_memory(data, size, a->output, &profile, err));
  hearth_status status = hearth_profile_get_plan(profile, &plan, err);
  if (status == HEARTH_OK && !a->quiet)
    fprintf(stderr, "hearth: %" PRIu32 " decision site%s for %" PRIu32 " allocation call%s\n", plan.site_count,
            plan.site_count == 1 ? "" : "s", plan.table_count, plan.table_count == 1 ? "" : "s");
  hearth_profile_close(profile);
  return status;
}

int hearth_cmd_plan(int argc, char **argv) {
  arguments a = {0};
  hearth_error err;
  int code;
  void *data = NULL;
  size_t size = 0;
  if (!parse(argc, argv, &a, &code))
    return code;
  if (!may_be_replaced(&a))
    return hearth_tool_error("%s: holds more than a heap profile: give -o, or let 'hearth merge' plan", a.profile);
  hearth_profile *profile;
  if (hearth_profile_read(hearth_tool_input_path(a.profile), &profile, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_output_guard();
  hearth_plan_options options = {
      .max_sites = (uint32_t)a.sites.value, .min_gain_ppm = (uint32_t)a.gain.value, .classify = a.classify};
  hearth_status status = hearth_plan_make(profile, &options, &data, &size, &err);
  hearth_profile_close(profile); /* the output may be the same file */
  if (status == HEARTH_OK)
    status = hearth_output_write(a.output, data, size, &err);
  if (status == HEARTH_OK)
    status = tell(&a, data, size, &err);
  free(data);
  return status == HEARTH_OK ? HEARTH_EXIT_OK : hearth_tool_error("%s", err.message);
}
