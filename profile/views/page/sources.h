/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lines of source files, for those places of a report that lie in a file which is there. */
#ifndef HEARTH_PAGE_SOURCES_H
#define HEARTH_PAGE_SOURCES_H

#include "hearth/json_writer.h"
#include "model.h"

/* Write the lines as {"FILE": {"LINE": "text", ...}, ...}. A file is looked for as options->source_directory and the end of
 * its name, the longest that is there; else by its name. One that changed after the profile was written is left out.
 * E_NOMEM. */
hearth_status hearth_page_sources_write(const hearth_page_model *model, hearth_json *json, hearth_error *err);

#endif
