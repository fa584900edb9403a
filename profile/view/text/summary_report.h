/* A report before it is printed: report.c collects, report_text.c and report_json.c print. */
#ifndef HEARTH_REPORT_INTERNAL_H
#define HEARTH_REPORT_INTERNAL_H

#include "hearth/report.h"
#include "names.h"
#include "selection.h"

#define HEARTH_REPORT_CLASSES (HEARTH_CLASS_HOT + 1)

typedef struct hearth_report_totals {
  uint64_t contexts, allocs, bytes, accesses, lifetime_ns;
  uint64_t library_bytes; /* of `bytes`: allocated in libraries without debug information */
  uint64_t sorted;        /* of the quantity that is sorted by */
} hearth_report_totals;

typedef struct hearth_report_row {
  uint32_t context;
  uint32_t function; /* of the leaf frame */
  hearth_class hotness;
  double key; /* greatest first */
  hearth_report_totals sum;
} hearth_report_row;

/* Rows [first, first + sum.contexts) were allocated by one function. */
typedef struct hearth_report_group {
  uint32_t function;
  size_t first;
  double key;
  hearth_report_totals sum;
} hearth_report_group;

typedef struct hearth_report {
  hearth_profile *profile;
  const char *name;
  hearth_report_options options;
  hearth_view_options view;
  FILE *stream;
  hearth_profile_summary summary;
  hearth_selection selection;
  hearth_classifier other; /* of the mode that was not asked for */
  hearth_names names;
  hearth_report_row *rows; /* those that pass the filters; grouped by function, then sorted */
  hearth_report_group *groups;
  size_t row_count, group_count;
  uint64_t recorded; /* fields that some context has, 1 << enum hearth_mib_column: others are not known, not 0 */
  hearth_report_totals classes[HEARTH_REPORT_CLASSES], other_classes[HEARTH_REPORT_CLASSES], all, shown;
} hearth_report;

/* Destroy also after an error. */
hearth_status hearth_report_init(hearth_report *report, hearth_profile *profile, const char *name,
                                 const hearth_report_options *options, FILE *stream, hearth_error *err);
void hearth_report_destroy(hearth_report *report);
void hearth_report_add_totals(hearth_report_totals *to, const hearth_report_totals *more);
bool hearth_report_knows(const hearth_report *report, enum hearth_mib_column field);
const char *hearth_classify_mode_name(hearth_classify_mode mode);

#endif
