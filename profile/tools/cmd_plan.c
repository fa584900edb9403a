/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth plan`: makes the plan of an indexed profile anew. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command_line.h"
#include "commands.h"
#include "file.h"
#include "hearth/plan.h"
#include "output_file.h"
#include "print.h"
#include "view_options.h"

static const hearth_help help = {.usage = "plan [OPTION]... PROFILE [-o OUT]",
                                 .about = "Choose which blocks are cold, pool ids for the allocation calls of most "
                                          "weight, and decision sites: calls whose bits let a program that is compiled "
                                          "with the profile tell cold contexts from others as it runs. "
                                          "'hearth index' does so by default. 'hearth show --plan' prints the choice."};

typedef struct arguments {
  const char *profile, *output;
  hearth_number_option sites, gain;
  hearth_classify_options classify;
  const char *layout;
  bool quiet;
} arguments;

static bool plan_parse(int argc, char **argv, arguments *a, int *ret_code) {
  const hearth_option options[] = {
      {.name = "--output",
       .letter = 'o',
       .value = "OUT",
       .expects = "a file",
       .text = &a->output,
       .help = "the profile to write; replaced whole, or left as it is (default: PROFILE)"},
      {.name = "--max-sites",
       .value = "N",
       .expects = "a number from 1 to 4096",
       .take = hearth_tool_take_number,
       .target = &a->sites,
       .help = "choose at most N call sites (default 256, at most 4096)"},
      {.name = "--min-gain",
       .value = "N",
       .expects = "a number from 1 to 1000000",
       .take = hearth_tool_take_number,
       .target = &a->gain,
       .help = "only sites worth N millionths of all bytes or more (default 500)"},
      HEARTH_CLASSIFY_OPTION(hearth_tool_take_classify, &a->classify, "\nCompile with the same: -memprof-classify"),
      HEARTH_LAYOUT_OPTION(&a->layout),
      {.name = "--quiet", .letter = 'q', .flag = &a->quiet, .help = "print errors only"},
      {0}};
  int operands;
  a->sites = (hearth_number_option){.least = 1, .most = HEARTH_PLAN_SITES_MAX};
  a->gain = (hearth_number_option){.least = 1, .most = 1000000};
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  if (operands != 1) {
    *ret_code = hearth_tool_usage_error("plan", operands ? "one profile at a time" : "which profile?");
    return false;
  }
  a->profile = argv[1];
  a->output = a->output ? a->output : a->profile;
  return true;
}

static bool plan_write_profile(const arguments *a, const void *data, size_t size, hearth_profile *planned) {
  hearth_error err;
  hearth_plan plan;
  if (hearth_output_write(a->output, data, size, &err) != HEARTH_OK ||
      hearth_profile_get_plan(planned, &plan, &err) != HEARTH_OK) {
    hearth_tool_error("%s", err.message);
    return false;
  }
  if (!a->quiet)
    fprintf(stderr, "hearth: %" PRIu32 " decision site%s for %" PRIu32 " allocation call%s\n", plan.site_count,
            hearth_plural(plan.site_count), plan.table_count, hearth_plural(plan.table_count));
  return true;
}

/* The profile is written last: after an error it is unchanged. */
static bool plan_write_all(const arguments *a, const void *data, size_t size) {
  hearth_error err;
  hearth_profile *planned;
  if (hearth_profile_open_memory(data, size, a->output, &planned, &err) != HEARTH_OK) {
    hearth_tool_error("%s", err.message);
    return false;
  }
  bool good = plan_write_profile(a, data, size, planned);
  hearth_profile_close(planned);
  return good;
}

int hearth_cmd_plan(int argc, char **argv) {
  arguments a = {0};
  hearth_error err;
  int code;
  void *data = NULL;
  size_t size = 0;
  if (!plan_parse(argc, argv, &a, &code))
    return code;
  if (a.output == a.profile && hearth_tool_holds_more(a.profile))
    return hearth_tool_error("%s: holds more than a heap profile: give -o, or let 'hearth merge' plan", a.profile);
  hearth_profile *profile;
  if (hearth_profile_open_stream(hearth_tool_input_path(a.profile), &profile, &err) != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  hearth_output_guard();
  hearth_plan_options options = {.max_sites = (uint32_t)a.sites.value,
                                 .min_gain_ppm = (uint32_t)a.gain.value,
                                 .classify = &a.classify,
                                 .layout = a.layout};
  hearth_status status = hearth_plan_make(profile, &options, &data, &size, &err);
  hearth_profile_close(profile); /* the output may be the same file */
  if (status != HEARTH_OK)
    return hearth_tool_error("%s", err.message);
  bool good = plan_write_all(&a, data, size);
  free(data);
  return good ? HEARTH_EXIT_OK : HEARTH_EXIT_ERROR;
}
