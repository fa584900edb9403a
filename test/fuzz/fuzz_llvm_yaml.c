/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: LLVM's YAML. */
#include "fuzz_llvm.h"

/* A profile of the YAML, in *ret_image, which the caller frees behind it; NULL if it is refused. */
static hearth_profile *read_yaml(const void *data, size_t size, void **ret_image) {
  hearth_error err;
  hearth_llvm_skipped skipped;
  size_t image_size;
  hearth_profile *profile = NULL;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_LLVM);
  if (builder && hearth_llvm_read_yaml(data, size, "fuzz", builder, &skipped, &err) == HEARTH_OK) {
    if (hearth_builder_write_memory(builder, ret_image, &image_size, &err) != HEARTH_OK)
      abort();
    profile = open_or_abort(*ret_image, image_size);
  }
  hearth_builder_destroy(builder);
  return profile;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  void *image, *again_image;
  size_t yaml_size, again_size;
  hearth_profile *profile = read_yaml(data, size, &image);
  if (!profile)
    return 0;
  char *yaml = print_or_abort(profile, &yaml_size);
  check_section(profile, 4, yaml);
  hearth_profile *again = read_yaml(yaml, yaml_size, &again_image);
  if (!again)
    abort();
  char *again_yaml = print_or_abort(again, &again_size);
  if (strcmp(yaml, again_yaml) != 0)
    abort();
  hearth_profile_close(profile);
  hearth_profile_close(again);
  free(image);
  free(again_image);
  free(yaml);
  free(again_yaml);
  return 0;
}
