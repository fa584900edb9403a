/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The code that does not depend on the source of a model; profile_model.c and trace_model.c make it. */
#include "model.h"

#include <stdlib.h>

void hearth_page_model_destroy(hearth_page_model *model) {
  for (uint32_t i = 0; i < model->file_count; i++)
    free(model->files[i]);
  free(model->files);
  free(model->types);
  free(model->functions);
  free(model->contexts);
  free(model->owners);
  hearth_names_destroy(&model->names);
  hearth_pair_set_destroy(&model->lines);
  hearth_pair_set_destroy(&model->places);
  hearth_pair_set_destroy(&model->nodes);
  hearth_page_grid_destroy(&model->lifetime_size);
  hearth_page_timeline_destroy(&model->timeline);
}

const hearth_page_grid *hearth_page_model_lifetime_size(const hearth_page_model *model) {
  return model->timeline.lifetime_size.cells ? &model->timeline.lifetime_size : &model->lifetime_size;
}

hearth_page_place hearth_page_model_place(const hearth_page_model *model, uint32_t place) {
  hearth_pair at = model->places.pairs[place], line = model->lines.pairs[at.first];
  return (hearth_page_place){.function = line.first, .line = line.second, .column = at.second};
}
