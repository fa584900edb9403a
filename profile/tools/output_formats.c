#include "output_formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static hearth_status print_text(const void *image, size_t size, char **ret_text, size_t *ret_size, hearth_error *err) {
  hearth_profile *profile;
  FILE *stream = open_memstream(ret_text, ret_size);
  if (!stream)
    return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
  hearth_status status = hearth_profile_open_memory(image, size, "merged", &profile, err);
  if (status == HEARTH_OK) {
    status = hearth_profile_print_text(profile, stream, err);
    hearth_profile_close(profile);
  }
  if (fclose(stream) != 0 && status == HEARTH_OK)
    status = hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
  return status;
}

static hearth_status write_text(hearth_builder *builder, const char *path, hearth_error *err) {
  void *image;
  char *text = NULL;
  size_t image_size, text_size = 0;
  HEARTH_TRY(hearth_builder_write_memory(builder, &image, &image_size, err));
  hearth_status status = print_text(image, image_size, &text, &text_size, err);
  if (status == HEARTH_OK)
    status = hearth_file_write(path, text, text_size, err);
  free(text);
  free(image);
  return status;
}

const output_format output_formats[] = {
    {"hearth", hearth_builder_write, "the indexed profile that the compiler plugin reads (default)"},
    {"text", write_text, "its text form"},
};

const size_t output_format_count = sizeof output_formats / sizeof output_formats[0];

const output_format *output_format_find(const char *name) {
  for (size_t i = 0; i < output_format_count; i++)
    if (strcmp(output_formats[i].name, name) == 0)
      return &output_formats[i];
  return NULL;
}
