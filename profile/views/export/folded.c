/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A line for each context; frames are joined from the root, separated by semicolons. */
#include <inttypes.h>

#include "exporter.h"
#include "utf8.h"

/* ';' ends a frame and a line a stack; readers take the last blank for the start of the value, so blanks may stay. */
static void put_name(const char *name, FILE *stream) {
  for (size_t length; *name; name += length ? length : 1) {
    length = hearth_utf8_length(name);
    if (length == 0 || hearth_utf8_is_control(name))
      putc_unlocked('?', stream);
    else if (*name == ';')
      putc_unlocked(':', stream);
    else
      fwrite(name, 1, length, stream);
  }
}

static hearth_status write_context(hearth_exporter *e, const hearth_selected *selected, void *state,
                                   hearth_error *err) {
  uint64_t value = hearth_quantity_of(e->options->value, &selected->mib);
  (void)state;
  if (value == 0)
    return HEARTH_OK;
  for (size_t i = e->frames.count; i-- > 0;) {
    hearth_frame_info frame;
    const char *name;
    HEARTH_TRY(hearth_profile_get_frame(e->profile, e->frames.frames[i], &frame, err));
    HEARTH_TRY(hearth_names_get(&e->names, frame.function, &name, err));
    put_name(name, e->stream);
    putc_unlocked(i > 0 ? ';' : ' ', e->stream);
  }
  fprintf(e->stream, "%" PRIu64 "\n", value);
  return HEARTH_OK;
}

hearth_status hearth_export_folded(hearth_exporter *e, hearth_error *err) {
  return hearth_export_each(e, write_context, NULL, err);
}
