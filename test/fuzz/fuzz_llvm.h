/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What both fuzz targets of LLVM's formats check: the first export is a normal form, which every further trip through
 * any of the forms leaves as it is. */
#ifndef HEARTH_FUZZ_LLVM_H
#define HEARTH_FUZZ_LLVM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/llvm_profile.h"

static inline hearth_profile *open_or_abort(const void *data, size_t size) {
  hearth_error err;
  hearth_profile *profile;
  if (hearth_profile_open_memory(data, size, "written", &profile, &err) != HEARTH_OK ||
      hearth_profile_verify(profile, &err) != HEARTH_OK)
    abort();
  return profile;
}

static inline char *print_or_abort(hearth_profile *profile, size_t *ret_size) {
  char *text;
  hearth_error err;
  FILE *stream = open_memstream(&text, ret_size);
  if (!stream || hearth_llvm_print_yaml(profile, stream, NULL, &err) != HEARTH_OK || fclose(stream) != 0)
    abort();
  return text;
}

/* `yaml` is what the original was printed as. */
static inline void check_section(hearth_profile *original, uint32_t version, const char *yaml) {
  hearth_error err;
  hearth_llvm_output output = {.section = version};
  void *first, *second;
  size_t first_size, second_size, text_size;
  if (hearth_llvm_write_memory(original, &output, &first, &first_size, NULL, &err) != HEARTH_OK)
    abort();
  hearth_profile *profile = open_or_abort(first, first_size);
  if (hearth_llvm_write_memory(profile, &output, &second, &second_size, NULL, &err) != HEARTH_OK)
    abort();
  char *text = print_or_abort(profile, &text_size);
  if (first_size != second_size || memcmp(first, second, first_size) != 0 || strcmp(text, yaml) != 0)
    abort();
  hearth_profile_close(profile);
  free(first);
  free(second);
  free(text);
}

#endif
