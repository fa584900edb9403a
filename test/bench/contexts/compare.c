/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare TRAINING ORACLE: for how many bytes of the oracle's run (given.c) was asked for the placement that is right by the
 * training profile's plan, for their whole call stack? Prints: bytes, percent right, percent that the training profile knows
 * the stacks of; with a third argument, also the stacks that were placed wrongly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/plan.h>

typedef struct known {
  uint64_t stack; /* hash of its ids; 0: free slot */
  hearth_placement placement;
} known;

typedef struct table {
  known *slots;
  size_t mask;
} table;

static void stop(const hearth_error *err) {
  fprintf(stderr, "compare: %s\n", err->message);
  exit(1);
}

#define TRY(expression)                                                                                                \
  do                                                                                                                   \
    if ((expression) != HEARTH_OK)                                                                                     \
      stop(&err);                                                                                                      \
  while (0)

static known *slot_of(const table *t, uint64_t stack) {
  size_t at = stack & t->mask;
  while (t->slots[at].stack && t->slots[at].stack != stack)
    at = (at + 1) & t->mask;
  return &t->slots[at];
}

/* The placement of a name behind "given_"; light and notcold contexts are right as "other". */
static hearth_placement placement_by_name(const char *name) {
  if (strncmp(name, "pool_", 5) == 0)
    return (hearth_placement)(HEARTH_PLACEMENT_POOL + atoi(name + 5));
  return strcmp(name, "cold") == 0  ? HEARTH_CLASS_COLD
         : strcmp(name, "hot") == 0 ? HEARTH_CLASS_HOT
                                    : HEARTH_CLASS_NOTCOLD;
}

/* The placement that a frame of given.c stands for, "" for its other functions and those that the compiler made, NULL for
 * all else. */
static const char *placement_of(const char *function) {
  const char *end = strstr(function, "_hot_cold");
  if (strncmp(function, "given_", 6) == 0)
    return function + 6;
  bool is_ours = strcmp(function, "give") == 0 || strcmp(function, "allocate") == 0 || (end && end[9] == '\0') ||
                 strncmp(function, "__hearth_", 9) == 0;
  return is_ours ? "" : NULL;
}

/* The frame at a node, and its function; *node becomes the caller's. */
static void step(hearth_profile *profile, uint32_t *node, hearth_frame_info *frame, hearth_function_info *function) {
  hearth_error err;
  uint32_t row;
  TRY(hearth_profile_get_stack(profile, *node, &row, node, &err));
  TRY(hearth_profile_get_frame(profile, row, frame, &err));
  TRY(hearth_profile_get_function(profile, frame->function, function, &err));
}

/* Hash of the frames from `node` to the root, without those of given.c; what these say. */
static uint64_t hash_stack(hearth_profile *profile, uint32_t node, const char **ret_placement) {
  uint64_t hash = 1;
  *ret_placement = "other";
  while (node != HEARTH_NONE) {
    hearth_frame_info frame;
    hearth_function_info function;
    step(profile, &node, &frame, &function);
    const char *placement = hash == 1 ? placement_of(function.name) : NULL;
    if (placement && *placement)
      *ret_placement = placement;
    if (!placement)
      hash = (hash ^ frame.stack_id) * UINT64_C(0x9e3779b97f4a7c15) + 1;
  }
  return hash + !hash;
}

static hearth_profile *open_profile(const char *path) {
  hearth_profile *profile;
  hearth_error err;
  TRY(hearth_profile_open(path, &profile, &err));
  return profile;
}

static table learn(hearth_profile *profile) {
  uint32_t count = hearth_profile_context_count(profile);
  table t = {.mask = 63};
  hearth_plan plan;
  hearth_error err;
  TRY(hearth_profile_get_plan(profile, &plan, &err));
  while (t.mask < 2 * (size_t)count)
    t.mask = 2 * t.mask + 1;
  t.slots = calloc(t.mask + 1, sizeof *t.slots);
  for (uint32_t i = 0; t.slots && i < count; i++) {
    uint32_t node;
    const char *placement;
    TRY(hearth_profile_get_context(profile, i, &node, NULL, &err));
    uint64_t stack = hash_stack(profile, node, &placement);
    *slot_of(&t, stack) = (known){stack, hearth_plan_placement_of(&plan, i)};
  }
  return t;
}

static void print_wrong(hearth_profile *profile, uint32_t node, uint64_t bytes, const char *placement,
                        const char *right) {
  printf("%" PRIu64 " bytes %s, not %s:", bytes, placement, right);
  while (node != HEARTH_NONE) {
    hearth_frame_info frame;
    hearth_function_info function;
    step(profile, &node, &frame, &function);
    printf(" %s:%" PRIu32 ":%" PRIu32, function.name, function.start_line + frame.line, frame.column);
  }
  putchar('\n');
}

int main(int argc, char **argv) {
  hearth_error err;
  uint64_t all = 0, found = 0, right = 0;
  if (argc < 3)
    return 2;
  hearth_profile *training = open_profile(argv[1]), *oracle = open_profile(argv[2]);
  table t = learn(training);
  for (uint32_t i = 0; t.slots && i < hearth_profile_context_count(oracle); i++) {
    uint32_t node;
    hearth_mib mib;
    const char *placement;
    TRY(hearth_profile_get_context(oracle, i, &node, &mib, &err));
    const known *k = slot_of(&t, hash_stack(oracle, node, &placement));
    bool is_light = k->stack && k->placement == HEARTH_CLASS_UNKNOWN; /* wherever it lies */
    bool same = is_light || (k->stack && placement_by_name(placement) == k->placement);
    all += mib.TotalSize;
    found += k->stack ? mib.TotalSize : 0;
    right += same ? mib.TotalSize : 0;
    if (!same && argc > 3)
      print_wrong(oracle, node, mib.TotalSize, placement, k->stack ? hearth_placement_name(k->placement) : "known");
  }
  printf("%" PRIu64 " %.2f %.2f\n", all, found ? 100.0 * (double)right / (double)found : 0,
         all ? 100.0 * (double)found / (double)all : 0);
  free(t.slots);
  hearth_profile_close(training);
  hearth_profile_close(oracle);
  return 0;
}
