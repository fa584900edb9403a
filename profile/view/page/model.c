#include "model.h"

#include <stdlib.h>

void page_model_destroy(page_model *model) {
  for (uint32_t i = 0; i < model->file_count; i++)
    free(model->files[i]);
  free(model->files);
  free(model->types);
  free(model->functions);
  free(model->contexts);
  hearth_names_destroy(&model->names);
  hearth_pair_set_destroy(&model->lines);
  hearth_pair_set_destroy(&model->places);
  hearth_pair_set_destroy(&model->nodes);
  page_grid_destroy(&model->lifetime_size);
  page_timeline_destroy(&model->timeline);
}

const page_grid *page_model_lifetime_size(const page_model *model) {
  return model->timeline.lifetime_size.cells ? &model->timeline.lifetime_size : &model->lifetime_size;
}

page_place page_model_place(const page_model *model, uint32_t place) {
  hearth_pair at = model->places.pairs[place], line = model->lines.pairs[at.first];
  return (page_place){.function = line.first, .line = line.second, .column = at.second};
}
