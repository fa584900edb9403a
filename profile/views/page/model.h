/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The content of a report, whatever it was made from: call stacks, contexts, and plots. model.c makes it of a
 * profile; html.c writes it.
 *
 *   place    function, line and column: frames that differ otherwise are one here
 *   node     a place and its callers; the callers' node has a lower number */
#ifndef HEARTH_PAGE_MODEL_H
#define HEARTH_PAGE_MODEL_H

#include "groups.h"
#include "hearth/json_writer.h"
#include "hearth/report_page.h"
#include "names.h"
#include "timeline.h"

typedef struct hearth_page_function {
  const char *name;
  uint32_t file; /* HEARTH_NONE: unknown */
  hearth_role role;
  bool symbol; /* only its symbol is known, not its source */
} hearth_page_function;

typedef struct hearth_page_place {
  uint32_t function, line, column; /* 0 unknown */
} hearth_page_place;

typedef struct hearth_page_context {
  uint32_t node, owner; /* owner: a function */
  uint32_t type;        /* HEARTH_NONE: unknown */
  hearth_class hotness;
  uint32_t row;                         /* in the profile */
  uint64_t lifetime_ns;                 /* summed over blocks */
  uint64_t base[HEARTH_QUANTITY_COUNT]; /* in the profile that is compared with; `of` is without it */
  uint64_t untouched;                   /* bytes (selection.h) */
  uint64_t temporary;                   /* blocks: of a tallied trace, temporary ones; else short-lived ones */
  uint64_t of[HEARTH_QUANTITY_COUNT];
} hearth_page_context;

/* Bytes of one function's blocks that are live at each moment. */
typedef struct hearth_page_owner_series {
  uint32_t function; /* HEARTH_NONE: of all others */
  double sum;        /* over moments */
  uint64_t peak;     /* of the same contexts, at the peak; sum over the runs */
  uint64_t bytes[HEARTH_TALLY_MOMENTS];
} hearth_page_owner_series;

/* Destroy also after an error. The profile must outlive it. */
typedef struct hearth_page_model {
  const hearth_page_options *options;
  hearth_profile_summary summary;
  hearth_classifier classifier;
  bool live_estimated;                        /* of some context */
  bool knows_untouched;                       /* else `untouched` of contexts means nothing */
  uint64_t library_bytes, cold_library_bytes; /* that libraries without debug information allocate */
  hearth_names names;
  hearth_page_function *functions;
  const char **types;
  char **files;
  hearth_page_context *contexts;
  uint32_t function_count, type_count, file_count, context_count;
  hearth_pair_set lines;            /* function, line */
  hearth_pair_set places;           /* one of `lines`, column */
  hearth_pair_set nodes;            /* place, callers' node or HEARTH_NONE */
  hearth_page_grid lifetime_size;   /* of contexts, by their averages */
  hearth_page_owner_series *owners; /* of a tallied trace, or of a profile's history: most first */
  uint32_t owner_count;
  uint64_t peak_ns; /* since the start of a run, on average; with has_peak_time */
  bool has_peak_time;
  hearth_page_timeline timeline; /* all zero where there is no trace */
} hearth_page_model;

hearth_status hearth_page_model_from_profile(hearth_page_model *model, hearth_profile *profile,
                                             const hearth_page_options *options, hearth_error *err);
void hearth_page_model_destroy(hearth_page_model *model);

/* Of blocks if they are known one by one, else of contexts. */
const hearth_page_grid *hearth_page_model_lifetime_size(const hearth_page_model *model);
hearth_page_place hearth_page_model_place(const hearth_page_model *model, uint32_t place);

#endif
