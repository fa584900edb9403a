/* What `hearth merge --format=NAME` can write. */
#ifndef HEARTH_OUTPUT_FORMATS_H
#define HEARTH_OUTPUT_FORMATS_H

#include "hearth/builder.h"

typedef struct output_format {
  const char *name;
  hearth_status (*write)(hearth_builder *builder, const char *path, hearth_error *err);
  const char *help;
} output_format;

extern const output_format output_formats[];
extern const size_t output_format_count;

/* NULL if there is no format of this name. */
const output_format *output_format_find(const char *name);

#endif
