#include "file.h"
#include "svg.h"

static const bool needs_trace[] = {
#define HEARTH_PLOT(NAME, name, needs_trace, description) needs_trace,
#include "hearth/plots.def"
};

static hearth_status write_plot(const page_model *model, hearth_plot plot, FILE *stream, hearth_error *err) {
  switch (plot) {
  case HEARTH_PLOT_FLAME:
    HEARTH_TRY(svg_flame(model, stream, err));
    break;
  case HEARTH_PLOT_LIFETIME_SIZE:
    svg_grid(model, page_model_lifetime_size(model), stream);
    break;
  case HEARTH_PLOT_LIFETIME_TIME:
    svg_grid(model, &model->timeline.lifetime_time, stream);
    break;
  case HEARTH_PLOT_LIVE:
    svg_live(model, stream);
    break;
  case HEARTH_PLOT_THREADS:
    svg_threads(model, stream);
    break;
  case HEARTH_PLOT_COUNT:
    break;
  }
  return hearth_stream_flush(stream, err);
}

hearth_status hearth_page_write_svg(hearth_profile *profile, hearth_plot plot, const hearth_page_options *options,
                                    FILE *stream, hearth_error *err) {
  page_model model;
  if (needs_trace[plot] && !options->trace)
    return hearth_error_set(
        err, HEARTH_E_NOT_FOUND,
        "%s: a profile has sums over blocks, not when each was allocated: '%s' needs a trace (hearth "
        "record --mode=trace)",
        options->title, hearth_plot_name(plot));
  hearth_status status = page_model_from_profile(&model, profile, options, err);
  if (status == HEARTH_OK)
    status = write_plot(&model, plot, stream, err);
  page_model_destroy(&model);
  return status;
}
