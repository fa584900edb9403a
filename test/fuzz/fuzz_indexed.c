/* Fuzz target: the reader of indexed profiles. Each input is tried as it is and with its checksums made right, which
 * is the only way past them. Whatever the reader accepts is walked, printed, merged and classified. An input in text
 * form is converted first, so that the seeds need not be binary. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/reseal.h"
#include "hearth/builder.h"
#include "hearth/classify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void discard_text(hearth_profile *profile) {
  FILE *stream = fopen("/dev/null", "w");
  hearth_error err;
  if (stream) {
    hearth_profile_print_text(profile, stream, &err);
    fclose(stream);
  }
}

/* A verified profile must survive being copied, byte for byte but for what a foreign writer may have left unused. */
static void copy(hearth_profile *profile, enum hearth_id_scheme scheme) {
  hearth_builder *builder = hearth_builder_create(scheme);
  hearth_error err;
  void *data;
  size_t size;
  if (builder && hearth_builder_add_profile(builder, profile, &err) == HEARTH_OK &&
      hearth_builder_write_memory(builder, &data, &size, &err) == HEARTH_OK) {
    hearth_profile *again;
    if (hearth_profile_open_memory(data, size, "copy", &again, &err) != HEARTH_OK ||
        hearth_profile_verify(again, &err) != HEARTH_OK) {
      fprintf(stderr, "a copy is broken: %s\n", err.message);
      abort();
    }
    hearth_profile_close(again);
    free(data);
  }
  hearth_builder_destroy(builder);
}

static void walk(hearth_profile *profile) {
  hearth_error err;
  hearth_profile_summary summary;
  hearth_classifier classifier;
  uint32_t row;
  discard_text(profile);
  if (hearth_profile_get_summary(profile, &summary, &err) != HEARTH_OK)
    return;
  if (hearth_classifier_init(&classifier, profile, NULL, &err) == HEARTH_OK)
    for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
      hearth_mib mib;
      if (hearth_profile_get_context(profile, i, NULL, &mib, &err) == HEARTH_OK)
        hearth_classify(&classifier, &mib);
    }
  for (uint32_t i = 0; i < hearth_profile_function_count(profile); i++) {
    hearth_function_info f;
    if (hearth_profile_get_function(profile, i, &f, &err) == HEARTH_OK)
      hearth_profile_find_function(profile, f.id, &row, &err);
  }
  if (hearth_profile_verify(profile, &err) == HEARTH_OK)
    copy(profile, summary.id_scheme);
}

static void try_bytes(const uint8_t *data, size_t size) {
  hearth_profile *profile;
  hearth_error err;
  if (hearth_profile_open_memory(data, size, "input", &profile, &err) == HEARTH_OK)
    walk(profile);
  hearth_profile_close(profile);
}

static void try_text(const uint8_t *data, size_t size) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  hearth_error err;
  void *binary;
  size_t binary_size;
  if (builder && hearth_builder_read_text(builder, (const char *)data, size, "text", &err) == HEARTH_OK &&
      hearth_builder_write_memory(builder, &binary, &binary_size, &err) == HEARTH_OK) {
    try_bytes(binary, binary_size);
    free(binary);
  }
  hearth_builder_destroy(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (hearth_is_text_profile(data, size)) {
    try_text(data, size);
    return 0;
  }
  uint8_t *sealed = malloc(size + 1);
  try_bytes(data, size);
  if (sealed) {
    memcpy(sealed, data, size);
    reseal(sealed, size);
    try_bytes(sealed, size);
  }
  free(sealed);
  return 0;
}
