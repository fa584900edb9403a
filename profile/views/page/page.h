/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The content of a report: call stacks, contexts, and plots. timeline.c reads a trace, model.c makes the model of a
 * profile; html.c writes it.
 *
 *   place    function, line and column: frames that differ otherwise are one here
 *   node     a place and its callers; the callers' node has a lower number
 *   time     counts from the start of the run */
#ifndef HEARTH_PAGE_H
#define HEARTH_PAGE_H

#include "groups.h"
#include "hearth/json_writer.h"
#include "hearth/profile_export.h"
#include "hearth/trace.h"
#include "names.h"

/* ------------------------------------------------ plots ------------------------------------------------ */

/* A two-dimensional histogram: quantities of blocks by two of their properties. */

typedef enum hearth_page_amount { HEARTH_PAGE_BYTES, HEARTH_PAGE_NS } hearth_page_amount;

/* A logarithmic axis has two bins for each power of two: bin i holds values of [2^(i/2), 2^((i+1)/2)), and bin 0 all
 * below, too. A linear one: [i * step, (i + 1) * step), and the last one all above. */
typedef struct hearth_page_axis {
  const char *label;
  hearth_page_amount unit;
  double step; /* 0: logarithmic */
  uint32_t bins;
} hearth_page_axis;

enum { HEARTH_PAGE_LOG_BINS = 128 }; /* of a logarithmic axis: any 64-bit value */

typedef struct hearth_page_cell {
  double of[HEARTH_QUANTITY_COUNT];
} hearth_page_cell;

/* All zero: there is none. */
typedef struct hearth_page_grid {
  hearth_page_axis x, y;
  hearth_page_cell *cells; /* x + y * x.bins */
} hearth_page_grid;

/* E_NOMEM. Destroy also after an error. */
hearth_status hearth_page_grid_init(hearth_page_grid *grid, const hearth_page_axis *x, const hearth_page_axis *y,
                                    hearth_error *err);
void hearth_page_grid_destroy(hearth_page_grid *grid);
void hearth_page_grid_add(hearth_page_grid *grid, double x, double y, const hearth_page_cell *more);

static inline const hearth_page_cell *hearth_page_grid_at(const hearth_page_grid *grid, uint32_t x, uint32_t y) {
  return &grid->cells[(size_t)y * grid->x.bins + x];
}

typedef struct hearth_page_timeline {
  hearth_page_grid lifetime_size, lifetime_time;
  hearth_live_blocks blocks;    /* live now */
  uint64_t live_bytes;          /* now */
  uint64_t peak_bytes, peak_ns; /* the most of these, and when */
} hearth_page_timeline;

/* For a run of this length; later times count as its end. E_NOMEM. Destroy also after an error; all zero, too. */
hearth_status hearth_page_timeline_init(hearth_page_timeline *timeline, uint64_t duration_ns, hearth_error *err);
void hearth_page_timeline_destroy(hearth_page_timeline *timeline);
/* An operation; `data` is the timeline. E_NOMEM, E_FULL. */
hearth_status hearth_page_timeline_event(void *data, const hearth_trace_event *event, uint32_t thread,
                                         hearth_error *err);
/* After the last operation: nothing happens until then, when the lives of all blocks end. */
void hearth_page_timeline_end(hearth_page_timeline *timeline, uint64_t end_ns);

/* All of a trace. Errors: those of reading it, E_NOMEM, E_FULL. The timeline is to be destroyed after an error, too. */
hearth_status hearth_page_trace_read(hearth_trace *trace, hearth_page_timeline *ret, hearth_error *err);

/* ------------------------------------------------ model ------------------------------------------------ */

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

/* report.html, report.css and the scripts; cmake/embed.cmake makes them strings. */
extern const char hearth_page_asset_html[], hearth_page_asset_css[], hearth_page_asset_js[];

#endif
