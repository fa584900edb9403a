/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts that pass the selection, and their stacks, for all formats. */
#include "exporter.h"

hearth_status hearth_export_each(hearth_exporter *e, hearth_export_context *visit, void *state, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_context_count(e->profile); i++) {
    hearth_selected selected;
    HEARTH_TRY(hearth_selection_get(&e->selection, i, &selected, err));
    if (!selected.wanted)
      continue;
    HEARTH_TRY(hearth_frames_read(&e->frames, e->profile, selected.node, err));
    HEARTH_TRY(visit(e, &selected, state, err));
  }
  return HEARTH_OK;
}
