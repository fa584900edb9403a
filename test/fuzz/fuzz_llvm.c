/* Fuzz target: LLVM's indexed profiles, and files with Hearth's profile behind them. */
#include "fuzz_llvm.h"

/* Put into the container that it came from; it may be refused. */
static void replace_heap(hearth_profile *profile, const uint8_t *data, size_t size) {
  hearth_error err;
  hearth_llvm_output output = {.section = 4, .base = data, .base_name = "base", .base_size = size};
  void *result;
  size_t result_size;
  if (hearth_llvm_write_memory(profile, &output, &result, &result_size, NULL, &err) == HEARTH_OK)
    free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hearth_error err;
  hearth_profile *profile;
  hearth_profile_summary summary;
  if (!hearth_llvm_is_container(data, size) ||
      hearth_profile_open_memory(data, size, "fuzz", &profile, &err) != HEARTH_OK)
    return 0;
  if (hearth_profile_verify(profile, &err) == HEARTH_OK &&
      hearth_profile_get_summary(profile, &summary, &err) == HEARTH_OK && summary.id_scheme == HEARTH_IDS_LLVM) {
    size_t yaml_size;
    char *yaml = print_or_abort(profile, &yaml_size);
    check_section(profile, 3, yaml);
    check_section(profile, 4, yaml);
    free(yaml);
  }
  replace_heap(profile, data, size);
  hearth_profile_close(profile);
  return 0;
}
