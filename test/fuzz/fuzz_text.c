/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: the text form. What is accepted must print to a text that reads back to the same bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/builder.h"
#include "profile_verifier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const hearth_error *err) {
  fprintf(stderr, "%s: %s\n", what, err->message);
  abort();
}

/* *ret is NULL where the text is refused. */
static void to_binary(const char *text, size_t size, enum hearth_id_scheme scheme, void **ret, size_t *ret_size) {
  hearth_error err;
  hearth_builder *builder = hearth_builder_create(scheme);
  *ret = NULL;
  if (builder && hearth_builder_read_text(builder, text, size, "input", &err) == HEARTH_OK &&
      hearth_builder_write_memory(builder, ret, ret_size, &err) != HEARTH_OK)
    fail("cannot write", &err);
  hearth_builder_destroy(builder);
}

static void round_trip(const char *input, size_t input_size, enum hearth_id_scheme scheme) {
  hearth_error err;
  hearth_profile *profile;
  void *first, *second;
  char *text;
  size_t first_size, second_size, text_size;
  to_binary(input, input_size, scheme, &first, &first_size);
  if (!first)
    return;
  if (hearth_profile_open_memory(first, first_size, "binary", &profile, &err) != HEARTH_OK ||
      hearth_profile_verify(profile, &err) != HEARTH_OK)
    fail("cannot read what was written", &err);
  FILE *stream = open_memstream(&text, &text_size);
  if (hearth_profile_print_text(profile, stream, &err) != HEARTH_OK)
    fail("cannot print", &err);
  fclose(stream);
  hearth_profile_close(profile);
  to_binary(text, text_size, scheme, &second, &second_size);
  if (!second || first_size != second_size || memcmp(first, second, first_size) != 0) {
    fprintf(stderr, "the round trip changes the profile:\n%s", text);
    abort();
  }
  free(first);
  free(second);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  round_trip((const char *)data, size, HEARTH_IDS_HEARTH);
  round_trip((const char *)data, size, HEARTH_IDS_LLVM);
  return 0;
}
