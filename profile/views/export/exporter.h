/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the writers of the export formats share; export.c has the short ones. */
#ifndef HEARTH_EXPORT_INTERNAL_H
#define HEARTH_EXPORT_INTERNAL_H

#include "hearth/profile_export.h"
#include "names.h"
#include "selection.h"

typedef struct hearth_exporter {
  hearth_profile *profile;
  const hearth_export_options *options;
  hearth_profile_summary summary;
  hearth_selection selection;
  hearth_names names;
  hearth_frames frames; /* of the context at hand */
  FILE *stream;
  bool has_peak; /* it is known what was live when most was */
} hearth_exporter;

/* Called for each wanted context, in the profile's order, with its stack in exporter->frames. */
typedef hearth_status hearth_export_context(hearth_exporter *exporter, const hearth_selected *selected, void *state,
                                            hearth_error *err);
hearth_status hearth_export_each(hearth_exporter *exporter, hearth_export_context *visit, void *state,
                                 hearth_error *err);

hearth_status hearth_export_pprof(hearth_exporter *exporter, hearth_error *err);
/* Massif's format, or Chrome's. */
hearth_status hearth_export_history(hearth_exporter *exporter, hearth_export_format format, hearth_error *err);

#endif
