/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* verify_placements [--json] [--top=N] PROFILE RECORDING: does an optimised program place its blocks as the whole stacks of the
 * profile would have them? Compile the program with PROFILE and '-gmlt -fno-optimize-sibling-calls', run it by
 * 'LD_PRELOAD=libhint_scopes.so hearth record', and index what that writes: RECORDING. Prints sums, then the N stacks of most bytes
 * (default: 5) that are placed otherwise, then those that the profile lacks.
 *
 * A stack's key is a hash from its root inwards, so that one pass over the nodes, callers first, has those of all stacks. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "hearth/lowered_calls.h"
#include "hearth/plan.h"
#include "hint_scopes.h"
#include "names.h"
#include "print.h"

/* -------------------------------------------------- known stacks -------------------------------------------------- */

typedef struct known_stack {
  uint64_t key;
  hearth_placement placement;
} known_stack;

typedef struct known_stacks {
  known_stack *rows; /* by key */
  size_t count;
} known_stacks;

/* The way from the root to a node of a profile's stacks. Scopes are no part of the key; the innermost one that names a hint tells it. */
typedef struct stack_way {
  uint64_t key;
  uint32_t caller;
  int hint; /* NO_HINT: no scope tells one */
} stack_way;

enum { NO_HINT = -1 };

/* A key of a whole stack, from its root inwards: that of its caller (STACK_KEY_ROOT at the root) and the frame's stack
 * id. */
#define STACK_KEY_ROOT UINT64_C(1)

static uint64_t stack_key(uint64_t caller, uint64_t stack_id) {
  return (caller ^ stack_id) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static int hint_of_scope(const char *name, int outer) {
  size_t prefix = strlen(HINT_SCOPE);
  if (strncmp(name, HINT_SCOPE, prefix) != 0 || strlen(name) != prefix + 3)
    return outer;
  int hint = atoi(name + prefix);
  return hint <= UINT8_MAX ? hint : outer;
}

/* Functions without debug information have no stack id of their own in profiles: here their names part them. */
static hearth_status read_way(hearth_profile *profile, uint32_t node, stack_way *ways, hearth_error *err) {
  const stack_way root = {.key = STACK_KEY_ROOT, .hint = NO_HINT};
  hearth_frame_info frame;
  hearth_function_info function;
  char path[HEARTH_PATH_LIMIT];
  uint32_t row, caller;
  HEARTH_TRY(hearth_profile_get_stack(profile, node, &row, &caller, err));
  HEARTH_TRY(hearth_profile_get_frame(profile, row, &frame, err));
  HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
  HEARTH_TRY(hearth_profile_get_path(profile, function.path, path, sizeof path, err));
  ways[node] = caller == HEARTH_NONE ? root : ways[caller];
  ways[node].caller = caller;
  if (strcmp(path, HEARTH_SCOPE_FILE) == 0)
    ways[node].hint = hint_of_scope(function.name, ways[node].hint);
  else
    ways[node].key = stack_key(ways[node].key, hearth_stack_id(function.id, frame.line, frame.column));
  return HEARTH_OK;
}

/* Callers are lower than callees. */
static hearth_status stack_ways_read(hearth_profile *profile, stack_way **ret, hearth_error *err) {
  uint32_t count = hearth_profile_stack_count(profile);
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, err));
  for (uint32_t node = 0; node < count; node++)
    HEARTH_TRY(read_way(profile, node, *ret, err));
  return HEARTH_OK;
}

static hearth_status learn(known_stacks *known, hearth_profile *profile, const hearth_plan *plan, hearth_error *err) {
  stack_way *ways = NULL;
  uint32_t count = hearth_profile_context_count(profile);
  hearth_status status = stack_ways_read(profile, &ways, err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&known->rows, count, sizeof *known->rows, err);
  for (uint32_t i = 0, node; status == HEARTH_OK && i < count; i++) {
    status = hearth_profile_get_context(profile, i, &node, NULL, err);
    if (status == HEARTH_OK)
      known->rows[known->count++] = (known_stack){ways[node].key, hearth_plan_placement_of(plan, i)};
  }
  free(ways);
  return status;
}

static hearth_status known_stacks_read(hearth_profile *profile, known_stacks *ret, hearth_error *err) {
  hearth_plan plan;
  *ret = (known_stacks){0};
  HEARTH_TRY(hearth_profile_get_plan(profile, &plan, err));
  if (plan.context_count == 0)
    return hearth_error_set(err, HEARTH_E_EMPTY, "the profile's plan has no placements: make one by 'hearth merge'");
  HEARTH_TRY(learn(ret, profile, &plan, err));
  if (ret->count)
    qsort(ret->rows, ret->count, sizeof *ret->rows, hearth_compare_u64);
  return HEARTH_OK;
}

static const known_stack *known_stacks_find(const known_stacks *known, uint64_t key) {
  size_t at = hearth_lower_bound(&key, known->rows, known->count, sizeof *known->rows, hearth_compare_u64);
  return at < known->count && known->rows[at].key == key ? &known->rows[at] : NULL;
}

static void known_stacks_free(known_stacks *known) {
  free(known->rows);
  *known = (known_stacks){0};
}

/* -------------------------------------------------- comparing -------------------------------------------------- */

typedef enum placing {
  PLACING_RIGHT,   /* as the plan has it; or it has none for the stack, which is light */
  PLACING_NEUTRAL, /* as without a profile, though the plan has a placement */
  PLACING_WRONG,   /* another placement than the plan's */
  PLACING_UNKNOWN, /* the profile lacks the stack */
  PLACINGS
} placing;

typedef struct placed_stack {
  uint32_t context, node; /* rows of the recording; past the allocator's frames if the profile has the stack */
  placing placing;
  int hint;                   /* -1: the allocation call has none */
  hearth_placement placement; /* the plan's */
  uint64_t blocks, bytes;
} placed_stack;

/* Of a recorded stack the innermost frames, those of the allocator and of functions that the compiler made, are passed over
 * until the profile knows the rest. */

enum { PASSED_OVER = 8, COLD_BELOW = 64 /* the allocator's */ };

typedef struct comparison {
  known_stacks known;
  stack_way *ways; /* of the recording, by node */
  hearth_error *err;
} comparison;

/* *node: past the frames that are passed over. */
static const known_stack *find(const comparison *c, uint32_t *node) {
  uint32_t from = *node;
  for (int i = 0; i <= PASSED_OVER && from != HEARTH_NONE; i++, from = c->ways[from].caller) {
    const known_stack *known = known_stacks_find(&c->known, c->ways[from].key);
    if (!known)
      continue;
    *node = from;
    return known;
  }
  return NULL;
}

/* As the allocator reads it. */
static hearth_placement placement_of(int hint) {
  if (hint == NO_HINT || (hint >= COLD_BELOW && hint < HEARTH_HINT_POOL))
    return HEARTH_CLASS_NOTCOLD;
  if (hint < COLD_BELOW)
    return HEARTH_CLASS_COLD;
  return (hearth_placement)(hint < HEARTH_HINT_HOT ? HEARTH_PLACEMENT_POOL + hint - HEARTH_HINT_POOL
                                                   : HEARTH_CLASS_HOT);
}

static placing judge(const known_stack *known, hearth_placement asked) {
  if (!known)
    return PLACING_UNKNOWN;
  if (known->placement == HEARTH_CLASS_UNKNOWN || known->placement == asked)
    return PLACING_RIGHT;
  return asked == HEARTH_CLASS_NOTCOLD ? PLACING_NEUTRAL : PLACING_WRONG;
}

static hearth_status compare(comparison *c, hearth_profile *recording, placed_stack **ret) {
  uint32_t count = hearth_profile_context_count(recording);
  bool any_hint = false;
  HEARTH_TRY(stack_ways_read(recording, &c->ways, c->err));
  HEARTH_TRY(hearth_array_create(ret, count, sizeof **ret, c->err));
  for (uint32_t i = 0; i < count; i++) {
    placed_stack *stack = &(*ret)[i];
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(recording, i, &stack->node, &mib, c->err));
    stack->context = i;
    stack->hint = c->ways[stack->node].hint;
    const known_stack *known = find(c, &stack->node);
    stack->placing = judge(known, placement_of(stack->hint));
    stack->placement = known ? known->placement : (hearth_placement)HEARTH_CLASS_UNKNOWN;
    stack->blocks = mib.AllocCount;
    stack->bytes = mib.TotalSize;
    any_hint |= stack->hint != NO_HINT;
  }
  return any_hint ? HEARTH_OK
                  : hearth_error_set(c->err, HEARTH_E_EMPTY,
                                     "no allocation of the recording has a hint: record a program that was compiled "
                                     "with the profile, by LD_PRELOAD=libhint_scopes.so hearth record");
}

static hearth_status placed_stacks_read(hearth_profile *profile, hearth_profile *recording, placed_stack **ret,
                                        hearth_error *err) {
  comparison c = {.err = err};
  *ret = NULL;
  hearth_status status = known_stacks_read(profile, &c.known, err);
  if (status == HEARTH_OK)
    status = compare(&c, recording, ret);
  known_stacks_free(&c.known);
  free(c.ways);
  if (status != HEARTH_OK) {
    free(*ret);
    *ret = NULL;
  }
  return status;
}

/* -------------------------------------------------- printing -------------------------------------------------- */

typedef struct sums {
  uint64_t blocks[PLACINGS], bytes[PLACINGS], all_blocks, all_bytes;
} sums;

static sums add_up(const placed_stack *stacks, uint32_t count) {
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
  for (int i = 0; i < PLACINGS; i++)
    printf(",\"%s\":{\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", names[i], s->blocks[i], s->bytes[i]);
  printf("}\n");
}

static void print_sums(const sums *s) {
  static const char *const texts[] = {"as the whole stack says", "as without a profile, though it has a placement",
                                      "in another placement", "stacks that the profile lacks"};
  printf("%20s %18s\n", "bytes", "blocks");
  for (int i = 0; i < PLACINGS; i++)
    printf("%12" PRIu64 " %5.1f %% %10" PRIu64 " %5.1f %%  %s\n", s->bytes[i],
           100 * hearth_ratio((double)s->bytes[i], (double)s->all_bytes), s->blocks[i],
           100 * hearth_ratio((double)s->blocks[i], (double)s->all_blocks), texts[i]);
}

/* Stacks placed otherwise come first, then those that the profile lacks. */
static int rank(const placed_stack *stack) {
  return stack->placing == PLACING_RIGHT ? 2 : stack->placing == PLACING_UNKNOWN;
}

static int most_bytes_first(const void *a, const void *b) {
  const placed_stack *x = a, *y = b;
  if (rank(x) != rank(y))
    return rank(x) - rank(y);
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return x->context < y->context ? -1 : 1;
}

static hearth_status print_stacks(hearth_profile *recording, placed_stack *stacks, uint32_t count, hearth_error *err) {
  hearth_names names;
  hearth_status status = hearth_names_init(&names, recording, NULL, err);
  for (uint32_t i = 0; status == HEARTH_OK && i < count && stacks[i].placing != PLACING_RIGHT; i++) {
    char hint[32] = "no hint";
    if (stacks[i].hint >= 0)
      snprintf(hint, sizeof hint, "the hint %d", stacks[i].hint);
    bool is_known = stacks[i].placing != PLACING_UNKNOWN;
    printf("\n%" PRIu64 " bytes in %" PRIu64 " block%s with %s, %s%s\n", stacks[i].bytes, stacks[i].blocks,
           hearth_plural(stacks[i].blocks), hint, is_known ? "not " : "of a stack that the profile lacks",
           is_known ? hearth_placement_name(stacks[i].placement) : "");
    status = hearth_print_stack(recording, &names, stacks[i].node, stdout, err);
  }
  hearth_names_destroy(&names);
  return status;
}

static hearth_status verify(bool json, uint32_t top, hearth_profile *profile, hearth_profile *recording,
                            hearth_error *err) {
  placed_stack *stacks;
  uint32_t count = hearth_profile_context_count(recording);
  HEARTH_TRY(placed_stacks_read(profile, recording, &stacks, err));
  sums s = add_up(stacks, count);
  hearth_status status = HEARTH_OK;
  if (json) {
    print_json(&s);
  } else {
    print_sums(&s);
    qsort(stacks, count, sizeof *stacks, most_bytes_first);
    status = print_stacks(recording, stacks, count < top ? count : top, err);
  }
  free(stacks);
  return status;
}

int main(int argc, char **argv) {
  bool json = argc > 1 && strcmp(argv[1], "--json") == 0;
  argc -= json;
  argv += json;
  bool has_top = argc > 1 && strncmp(argv[1], "--top=", 6) == 0;
  uint32_t top = has_top ? (uint32_t)strtoul(argv[1] + 6, NULL, 10) : 5;
  argc -= has_top;
  argv += has_top;
  hearth_error err;
  hearth_profile *profile = NULL, *recording = NULL;
  if (argc != 3) {
    fputs("usage: verify_placements [--json] [--top=N] PROFILE RECORDING\n", stderr);
    return 2;
  }
  hearth_status status = hearth_profile_open(argv[1], &profile, &err);
  if (status == HEARTH_OK)
    status = hearth_profile_open(argv[2], &recording, &err);
  if (status == HEARTH_OK)
    status = verify(json, top, profile, recording, &err);
  hearth_profile_close(recording);
  hearth_profile_close(profile);
  if (status != HEARTH_OK)
    fprintf(stderr, "verify_placements: %s\n", err.message);
  return status == HEARTH_OK ? 0 : 1;
}
