/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth verify`: does an optimised program place its blocks as the whole stacks of the profile would have them? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "command_line.h"
#include "commands.h"
#include "known_stacks.h"
#include "names.h"
#include "print.h"
#include "view_options.h"

enum { DEFAULT_TOP = 5 };

typedef struct arguments {
  const char *profile, *recording;
  hearth_number_option top;
  bool json;
} arguments;

typedef struct sums {
  uint64_t blocks[HEARTH_PLACINGS], bytes[HEARTH_PLACINGS], all_blocks, all_bytes;
} sums;

static bool parse(int argc, char **argv, arguments *a, int *ret_code) {
  static const hearth_help help = {
      .usage = "verify [OPTION]... PROFILE RECORDING",
      .about = "Compare the placements that a program asked for with those that the plan of PROFILE has for the whole "
               "call stacks. Compile the program with PROFILE and '-gmlt -fno-optimize-sibling-calls', run it by "
               "'HEARTH_MALLOC=verify hearth record', and index what that writes: RECORDING."};
  const hearth_option options[] = {
      {.name = "--top",
       .value = "N",
       .expects = "a number from 0 to 1000000",
       .take = hearth_tool_take_number,
       .target = &a->top,
       .help = "print the N stacks of most bytes that are placed otherwise, then of those that the profile lacks "
               "(default: 5)"},
      {.name = "--json", .flag = &a->json, .help = "print one JSON object, without stacks"},
      {0}};
  a->top = (hearth_number_option){.least = 0, .most = 1000000, .value = DEFAULT_TOP};
  int operands;
  if (!hearth_tool_parse(options, &help, argc, argv, &operands, ret_code))
    return false;
  *ret_code =
      operands == 2 ? HEARTH_EXIT_OK : hearth_tool_usage_error("verify", "a profile and a recording are compared");
  a->profile = argv[1];
  a->recording = operands == 2 ? argv[2] : NULL;
  return operands == 2;
}

static sums add_up(const hearth_placed_stack *stacks, uint32_t count) {
  sums s = {0};
  for (uint32_t i = 0; i < count; i++) {
    s.blocks[stacks[i].placing] += stacks[i].blocks;
    s.bytes[stacks[i].placing] += stacks[i].bytes;
    s.all_blocks += stacks[i].blocks;
    s.all_bytes += stacks[i].bytes;
  }
  return s;
}

static void print_json(const sums *s) {
  static const char *const names[] = {"right", "neutral", "wrong", "unknown"};
  printf("{\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64, s->all_blocks, s->all_bytes);
  for (int i = 0; i < HEARTH_PLACINGS; i++)
    printf(",\"%s\":{\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", names[i], s->blocks[i], s->bytes[i]);
  printf("}\n");
}

static void print_sums(const sums *s) {
  static const char *const texts[] = {"as the whole stack says", "as without a profile, though it has a placement",
                                      "in another placement", "stacks that the profile lacks"};
  printf("%20s %18s\n", "bytes", "blocks");
  for (int i = 0; i < HEARTH_PLACINGS; i++)
    printf("%12" PRIu64 " %5.1f %% %10" PRIu64 " %5.1f %%  %s\n", s->bytes[i],
           100 * hearth_ratio((double)s->bytes[i], (double)s->all_bytes), s->blocks[i],
           100 * hearth_ratio((double)s->blocks[i], (double)s->all_blocks), texts[i]);
}

/* Stacks placed otherwise come first, then those that the profile lacks. */
static int rank(const hearth_placed_stack *stack) {
  return stack->placing == HEARTH_PLACING_RIGHT ? 2 : stack->placing == HEARTH_PLACING_UNKNOWN;
}

static int most_bytes_first(const void *a, const void *b) {
  const hearth_placed_stack *x = a, *y = b;
  if (rank(x) != rank(y))
    return rank(x) - rank(y);
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->context < y->context ? -1 : 1;
}

static hearth_status print_stacks(hearth_profile *recording, hearth_placed_stack *stacks, uint32_t count,
                                  hearth_error *err) {
  hearth_names names;
  hearth_status status = hearth_names_init(&names, recording, NULL, err);
  for (uint32_t i = 0; status == HEARTH_OK && i < count && stacks[i].placing != HEARTH_PLACING_RIGHT; i++) {
    char hint[32] = "no hint";
    if (stacks[i].hint >= 0)
      snprintf(hint, sizeof hint, "the hint %d", stacks[i].hint);
    bool is_known = stacks[i].placing != HEARTH_PLACING_UNKNOWN;
    printf("\n%" PRIu64 " bytes in %" PRIu64 " block%s with %s, %s%s\n", stacks[i].bytes, stacks[i].blocks,
           hearth_plural(stacks[i].blocks), hint, is_known ? "not " : "of a stack that the profile lacks",
           is_known ? hearth_placement_name(stacks[i].placement) : "");
    status = hearth_print_stack(recording, &names, stacks[i].node, stdout, err);
  }
  hearth_names_destroy(&names);
  return status;
}

static hearth_status verify(const arguments *a, hearth_profile *profile, hearth_profile *recording, hearth_error *err) {
  hearth_placed_stack *stacks;
  uint32_t count = hearth_profile_context_count(recording);
  HEARTH_TRY(hearth_placed_stacks_read(profile, recording, &stacks, err));
  sums s = add_up(stacks, count);
  hearth_status status = HEARTH_OK;
  if (a->json) {
    print_json(&s);
  } else {
    print_sums(&s);
    qsort(stacks, count, sizeof *stacks, most_bytes_first);
    status = print_stacks(recording, stacks, count < a->top.value ? count : (uint32_t)a->top.value, err);
  }
  free(stacks);
  return status;
}

int hearth_cmd_verify(int argc, char **argv) {
  arguments a = {0};
  hearth_error err;
  int code;
  if (!parse(argc, argv, &a, &code))
    return code;
  hearth_profile *profile = hearth_tool_open_profile(a.profile);
  hearth_profile *recording = profile ? hearth_tool_open_profile(a.recording) : NULL;
  hearth_status status = recording ? verify(&a, profile, recording, &err) : HEARTH_E_IO;
  hearth_profile_close(recording);
  hearth_profile_close(profile);
  if (!recording)
    return HEARTH_EXIT_ERROR;
  return status == HEARTH_OK ? hearth_tool_finish() : hearth_tool_error("%s", err.message);
}
