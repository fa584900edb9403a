/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The contexts that a view takes: those which pass the filters of hearth_view_options, with their classes; and the
 * frames of their stacks. */
#ifndef HEARTH_VIEW_SELECTION_H
#define HEARTH_VIEW_SELECTION_H

#include "hearth/classify.h"
#include "hearth/profile.h"
#include "hearth/view.h"
#include "names.h"

typedef struct hearth_selection {
  hearth_profile *profile; /* borrowed */
  hearth_class only;
  const char *type; /* as in hearth_view_options */
  double
      short_lived_ns; /* the longest average life of short-lived blocks: 1 ms, but no more than a thousandth of a run; -1: not known */
  hearth_classifier classifier;
  unsigned char wanted; /* the filters that a stack must match */
  bool *light_counts;   /* by frame: have the light contexts that it allocates together enough weight? */
  unsigned char *nodes; /* by stack node: the filters that it and its callers match; NULL: no filter is set */
} hearth_selection;

typedef struct hearth_selected {
  uint32_t context, node;
  hearth_class hotness;
  bool wanted;         /* passes the filters */
  bool short_lived;    /* its blocks are, on average */
  bool live_estimated; /* its live bytes are, in part, made of the blocks' number and average size (numbers.h) */
  bool in_library;     /* a library without debug information allocates: no call of the program's can give a hint */
  bool is_uncertain;   /* it may be cold or not (hearth/classify.h) */
  hearth_mib mib;
} hearth_selected;

/* Destroy also after an error. */
hearth_status hearth_selection_init(hearth_selection *selection, hearth_profile *profile,
                                    const hearth_view_options *options, hearth_error *err);
void hearth_selection_destroy(hearth_selection *selection);
hearth_status hearth_selection_get(const hearth_selection *selection, uint32_t context, hearth_selected *ret,
                                   hearth_error *err);

/* The class of a context with this stack and these numbers: the compiler gives it this class where its call is not
 * inlined. HEARTH_CLASS_UNKNOWN: it is too light (classify.h). */
hearth_status hearth_selection_classify(const hearth_selection *selection, uint32_t node, const hearth_mib *mib,
                                        hearth_class *ret, hearth_error *err);

/* "auto" or "llvm". */
const char *hearth_classify_mode_name(hearth_classify_mode mode);

/* Frame rows of one stack, leaf first. All zero is an empty one; free `frames`. */
typedef struct hearth_frames {
  uint32_t *frames;
  size_t count, room;
} hearth_frames;

hearth_status hearth_frames_read(hearth_frames *frames, hearth_profile *profile, uint32_t node, hearth_error *err);

/* A frame as views print it. */
typedef struct hearth_place {
  hearth_frame_info frame;
  hearth_function_text function;
  uint32_t line; /* absolute; 0 unknown */
} hearth_place;

hearth_status hearth_place_get(hearth_profile *profile, hearth_names *names, uint32_t frame, hearth_place *ret,
                               hearth_error *err);

/* Untouched: bytes in 64-byte parts of blocks without a counted access. Profiles have a percentage for each block,
 * so the sum is an estimate. Libraries that are not compiled for profiling access blocks uncounted: blocks that they
 * allocate themselves, such as a std::string's, are left out. */

/* Is it known, in a profile in which some context has percentages? */
static inline bool hearth_untouched_is_known(const hearth_profile_summary *summary) {
  return summary->accesses_counted && !summary->accesses_estimated;
}

static inline uint64_t hearth_untouched_bytes(const hearth_mib *mib) {
  double all = 100 * (double)mib->AllocCount, touched = (double)mib->TotalPercentUtilized;
  return touched < all ? (uint64_t)((double)mib->TotalSize * (1 - touched / all) + 0.5) : 0;
}

#endif
