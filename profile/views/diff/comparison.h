/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A comparison: diff.c makes it, diff_output.c prints it, condition.c tests it. */
#ifndef HEARTH_DIFF_INTERNAL_H
#define HEARTH_DIFF_INTERNAL_H

#include "groups.h"
#include "hearth/profile_diff.h"
#include "names.h"
#include "selection.h"

#define HEARTH_DIFF_CLASSES (HEARTH_CLASS_HOT + 1)

/* Averages per run, by quantity; contexts are counted once. */
typedef struct hearth_diff_totals {
  double of[HEARTH_QUANTITY_COUNT + 1]; /* the last one: HEARTH_MEASURE_CONTEXTS */
} hearth_diff_totals;

typedef struct hearth_diff_side {
  hearth_profile *profile;
  const char *name;
  hearth_profile_summary summary;
  hearth_selection selection;
  hearth_names names;
  uint32_t *nodes; /* by stack node: the common one */
  uint32_t *next;  /* by context: the next one of the same entry, or HEARTH_NONE */
  hearth_diff_totals classes[HEARTH_DIFF_CLASSES], all, changes[HEARTH_CHANGE_COUNT];
} hearth_diff_side;

/* A context of either or both profiles. */
typedef struct hearth_diff_entry {
  uint32_t first[HEARTH_DIFF_SIDES]; /* context of that profile or HEARTH_NONE; see `next` */
  hearth_class hotness[HEARTH_DIFF_SIDES];
  double bytes[HEARTH_DIFF_SIDES]; /* per run */
  hearth_change change;
} hearth_diff_entry;

/* A frame of either profile: the values that tell it from others. */
typedef struct hearth_diff_frame {
  uint64_t function;
  uint32_t line, column, discriminator;
  bool inlined; /* false unless such frames are told apart */
} hearth_diff_frame;

struct hearth_diff {
  bool tells_inlined;
  hearth_diff_side sides[HEARTH_DIFF_SIDES];
  hearth_diff_frame *frames;
  uint32_t frame_count;
  id_table frame_table;
  hearth_pair_set nodes;      /* stacks of both: (frame, caller's node) */
  hearth_diff_entry *entries; /* sorted by change, then heaviest first */
  uint32_t entry_count;
  uint32_t first[HEARTH_CHANGE_COUNT + 1]; /* entries of a change are [first[change], first[change + 1]) */
};

/* The numbers of an entry on one side, summed over runs; empty if it is not there. */
hearth_status hearth_diff_mib(const hearth_diff *diff, const hearth_diff_entry *entry, int side, hearth_mib *ret,
                              hearth_error *err);
double hearth_diff_per_run(const hearth_diff *diff, int side, uint64_t value);
/* The side that the stack of an entry is shown from, and its node there. */
hearth_status hearth_diff_stack(const hearth_diff *diff, const hearth_diff_entry *entry, int *ret_side,
                                uint32_t *ret_node, hearth_error *err);

#endif
