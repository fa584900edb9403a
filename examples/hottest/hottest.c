/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Print the contexts of an indexed profile that are accessed most, with their call stacks. */
#include <inttypes.h>
#include <stdio.h>

#include <hearth/profile.h>

enum { SHOWN = 5 };

/* 1. A context is a call stack: nodes, each with a frame and the node of its caller. */
static hearth_status print_stack(hearth_profile *profile, uint32_t node, hearth_error *err) {
  while (node != HEARTH_NONE) {
    hearth_frame_info frame;
    hearth_function_info function;
    uint32_t row;
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &row, &node, err));
    HEARTH_TRY(hearth_profile_get_frame(profile, row, &frame, err));
    HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
    printf("    %s", function.name);
    if (frame.line != HEARTH_LINE_UNKNOWN)
      printf(":%" PRIu32, function.start_line + frame.line);
    putchar('\n');
  }
  return HEARTH_OK;
}

typedef struct context {
  uint32_t leaf;
  hearth_mib mib;
} context;

/* 2. Contexts are rows; the numbers of each are in a MIB. Keeps the SHOWN hottest, the hottest first. */
static hearth_status find_hottest(hearth_profile *profile, context *ret, uint32_t *ret_count, hearth_error *err) {
  *ret_count = 0;
  for (uint32_t row = 0; row < hearth_profile_context_count(profile); row++) {
    context found;
    HEARTH_TRY(hearth_profile_get_context(profile, row, &found.leaf, &found.mib, err));
    uint32_t at = *ret_count;
    for (; at > 0 && ret[at - 1].mib.TotalAccessCount < found.mib.TotalAccessCount; at--)
      if (at < SHOWN)
        ret[at] = ret[at - 1];
    if (at < SHOWN)
      ret[at] = found;
    *ret_count += *ret_count < SHOWN;
  }
  return HEARTH_OK;
}

static hearth_status print_hottest(hearth_profile *profile, hearth_error *err) {
  context hottest[SHOWN];
  uint32_t count;
  HEARTH_TRY(find_hottest(profile, hottest, &count, err));
  for (uint32_t i = 0; i < count; i++) {
    const hearth_mib *mib = &hottest[i].mib;
    printf("%" PRIu64 " accesses to %" PRIu64 " blocks of %" PRIu64 " bytes in all\n", mib->TotalAccessCount,
           mib->AllocCount, mib->TotalSize);
    HEARTH_TRY(print_stack(profile, hottest[i].leaf, err));
  }
  return HEARTH_OK;
}

/* 3. A status says whether a call worked; the error has the message. */
int main(int argc, char **argv) {
  hearth_profile *profile = NULL;
  hearth_error err;
  if (argc != 2) {
    fprintf(stderr, "usage: %s PROFILE\n", argv[0]);
    return 2;
  }
  hearth_status status = hearth_profile_open(argv[1], &profile, &err);
  if (status == HEARTH_OK)
    status = print_hottest(profile, &err);
  if (status != HEARTH_OK)
    fprintf(stderr, "%s: %s\n", argv[0], err.message);
  hearth_profile_close(profile);
  return status != HEARTH_OK;
}
