/* What a report shows, whatever it was made from: call stacks, contexts, and plots. profile_model.c makes it of a
 * profile; html.c writes it.
 *
 *   place    function, line and column: frames that differ otherwise are one here
 *   node     a place and its callers; the callers' node has a lower number */
#ifndef HEARTH_PAGE_MODEL_H
#define HEARTH_PAGE_MODEL_H

#include "hearth/report_page.h"
#include "names.h"
#include "pair_set.h"
#include "timeline.h"

typedef struct page_function {
  const char *name, *linkage_name;
  uint32_t file; /* HEARTH_NONE: unknown */
} page_function;

typedef struct page_place {
  uint32_t function, line, column; /* 0 unknown */
} page_place;

typedef struct page_context {
  uint32_t node;
  uint32_t type; /* HEARTH_NONE: unknown */
  hearth_class hotness;
  uint64_t lifetime_ns; /* summed over blocks */
  uint64_t of[HEARTH_QUANTITY_COUNT];
} page_context;

/* Destroy also after an error. The profile must outlive it. */
typedef struct page_model {
  const hearth_page_options *options;
  hearth_profile_summary summary;
  hearth_classifier classifier;
  uint64_t library_bytes, cold_library_bytes; /* that libraries without debug information allocate */
  hearth_names names;
  page_function *functions;
  const char **types;
  char **files;
  page_context *contexts;
  uint32_t function_count, type_count, file_count, context_count;
  hearth_pair_set lines;   /* function, line */
  hearth_pair_set places;  /* one of `lines`, column */
  hearth_pair_set nodes;   /* place, callers' node or HEARTH_NONE */
  page_grid lifetime_size; /* of contexts, by their averages */
  page_timeline timeline;  /* all zero where there is no trace */
} page_model;

hearth_status page_model_from_profile(page_model *model, hearth_profile *profile, const hearth_page_options *options,
                                      hearth_error *err);
void page_model_destroy(page_model *model);

/* Of blocks if they are known one by one, else of contexts. */
const page_grid *page_model_lifetime_size(const page_model *model);
page_place page_model_place(const page_model *model, uint32_t place);

#endif
