/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Advice: advice.c sums contexts by place, collects findings and prints them; kinds.c tests a place for each kind. */
#ifndef HEARTH_FINDINGS_H
#define HEARTH_FINDINGS_H

#include "groups.h"
#include "hearth/advice.h"
#include "selection.h"

typedef enum hearth_advice_kind {
  HEARTH_ADVICE_BRIEF,
  HEARTH_ADVICE_LADDER,
  HEARTH_ADVICE_LEAK,
  HEARTH_ADVICE_UNUSED,
  HEARTH_ADVICE_OVERSIZED,
  HEARTH_ADVICE_HELD,
  HEARTH_ADVICE_FIELDS,
  HEARTH_ADVICE_FOREIGN,
  HEARTH_ADVICE_KINDS
} hearth_advice_kind;

/* Data that not every profile has. */
typedef enum hearth_advice_data {
  HEARTH_ADVICE_ANY,
  HEARTH_ADVICE_ACCESSES,  /* counted in every run, and for all of it in one at least */
  HEARTH_ADVICE_LOOKS,     /* at pages, beside counted accesses */
  HEARTH_ADVICE_PICKS,     /* enough of them, of counted accesses */
  HEARTH_ADVICE_HISTOGRAM, /* of accesses, of some context */
  HEARTH_ADVICE_TRACE
} hearth_advice_data;

/* All contexts of one owner, at one line and column of it. */
typedef struct hearth_place_sum {
  hearth_mib mib, brief; /* of all contexts; of those whose blocks are short-lived */
  uint64_t byte_seconds;
  uint64_t grown_allocs;   /* made by a container that grows */
  uint64_t library_allocs; /* made in libraries, whose code does not count accesses */
  uint32_t context;        /* that of most bytes */
  uint64_t context_bytes;
  uint32_t brief_context; /* that of most short-lived blocks */
  uint64_t brief_context_allocs;
  uint64_t *counts; /* the histograms' sum */
  size_t count_count, count_room;
} hearth_place_sum;

/* Totals that places are measured by. */
typedef struct hearth_advice_whole {
  bool tallied;             /* the profile is of a trace */
  double runs, duration_ns; /* of a run */
  uint64_t allocs, bytes, byte_seconds;
  uint64_t picks;                     /* of memory, at random moments */
  uint64_t places_freed, places_left; /* whose blocks live long: freed by the end, or live then */
} hearth_advice_whole;

/* A place of one hundredth of the memory has ten of them. */
enum { HEARTH_ADVICE_LEAST_PICKS = 1000 };

typedef enum hearth_advice_saving {
  HEARTH_SAVES_MEMORY,
  HEARTH_SAVES_ALLOCATIONS,
  HEARTH_SAVES_BYTES
} hearth_advice_saving;

typedef struct hearth_finding {
  hearth_advice_kind kind;
  hearth_advice_saving saving;
  uint32_t group;
  double share; /* of all byte-seconds, allocations or allocated bytes, that it may save */
  char evidence[256];
} hearth_finding;

struct hearth_advice {
  hearth_profile *profile;
  hearth_view_options view;
  hearth_names names;
  hearth_selection selection;
  hearth_groups groups; /* by site */
  hearth_profile_summary summary;
  hearth_advice_whole whole;
  hearth_place_sum *places; /* by group */
  size_t place_count, place_room;
  hearth_finding *findings; /* those that may save most first */
  size_t finding_count, finding_room;
  unsigned char *function_kinds;     /* by row */
  bool has[HEARTH_ADVICE_TRACE + 1]; /* by hearth_advice_data */
  bool knows_accesses, knows_use;    /* counts, and what parts of blocks they are of; of some context */
};

/* Count a place for what the program does at its end. */
void hearth_advice_note_end(hearth_advice_whole *whole, const hearth_place_sum *place);

/* Is there such a finding at this place? If so, its share and evidence are filled in. */
bool hearth_advice_test(const hearth_advice_whole *whole, const hearth_place_sum *place, hearth_advice_kind kind,
                        hearth_finding *ret);

const char *hearth_advice_kind_name(hearth_advice_kind kind);
hearth_advice_data hearth_advice_needs(hearth_advice_kind kind);
const char *hearth_advice_title(hearth_advice_kind kind);
const char *hearth_advice_remedy(hearth_advice_kind kind);

#endif
