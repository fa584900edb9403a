/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: the reader of indexed profiles, and the planner. Each input is tried as it is and with its checksums
 * made right, which is the only way past them. Whatever the reader accepts is walked, printed, merged, classified and
 * planned. An input in text form is converted and planned first, so that the seeds need not be binary. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/builder.h"
#include "hearth/classify.h"
#include "hearth/plan.h"
#include "make_plan.h"
#include "profile_verifier.h"
#include "reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void discard_text(hearth_profile *profile) {
  FILE *stream = fopen("/dev/null", "w");
  hearth_error err;
  if (stream) {
    hearth_profile_print_text(profile, stream, &err);
    fclose(stream);
  }
}

/* Any profile can be copied; if it keeps all rules, so does the copy. */
static void copy(hearth_profile *profile, enum hearth_id_scheme scheme, bool verified) {
  hearth_builder *builder = hearth_builder_create(scheme);
  hearth_error err;
  void *data;
  size_t size;
  if (builder && hearth_builder_add_profile(builder, profile, &err) == HEARTH_OK &&
      hearth_builder_write_memory(builder, &data, &size, &err) == HEARTH_OK) {
    hearth_profile *again;
    if (hearth_profile_open_memory(data, size, "copy", &again, &err) != HEARTH_OK ||
        (verified && hearth_profile_verify(again, &err) != HEARTH_OK)) {
      fprintf(stderr, "a copy is broken: %s\n", err.message);
      abort();
    }
    hearth_profile_close(again);
    free(data);
  }
  hearth_builder_destroy(builder);
}

/* Any profile can be planned, and its plan read; what is already there must not matter. */
static void plan(hearth_profile *profile, bool verified) {
  hearth_error err;
  hearth_profile *again;
  hearth_plan made;
  void *data;
  size_t size;
  if (make_plan(profile, NULL, &data, &size, &err) != HEARTH_OK)
    return;
  if (hearth_profile_open_memory(data, size, "planned", &again, &err) != HEARTH_OK ||
      hearth_profile_get_plan(again, &made, &err) != HEARTH_OK ||
      (verified && hearth_profile_verify(again, &err) != HEARTH_OK)) {
    fprintf(stderr, "a planned profile is broken: %s\n", err.message);
    abort();
  }
  hearth_profile_close(again);
  free(data);
}

/* Of whatever was read, sites and tables are within bounds. */
static void look_up_plan(hearth_profile *profile) {
  hearth_error err;
  hearth_plan p;
  if (hearth_profile_get_plan(profile, &p, &err) != HEARTH_OK)
    return;
  for (uint32_t i = 0; i < p.site_count; i++)
    if (hearth_plan_find_site(&p, p.sites[i].stack_id) != &p.sites[i])
      abort();
  for (uint32_t i = 0; i < p.table_count; i++) {
    const hearth_plan_table *table = hearth_plan_find_table(&p, p.tables[i].stack_id);
    if (table != &p.tables[i])
      abort();
    for (int set = 0; set < 2; set++)
      if (table->placements[set] >= HEARTH_PLACEMENT_POOL + p.call_count &&
          table->placements[set] != HEARTH_PLACEMENT_DORMANT)
        abort();
  }
}

static void walk(hearth_profile *profile) {
  hearth_error err;
  hearth_profile_summary summary;
  hearth_classifier classifier;
  uint32_t row;
  discard_text(profile);
  look_up_plan(profile);
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
  bool verified = hearth_profile_verify(profile, &err) == HEARTH_OK;
  copy(profile, summary.id_scheme, verified);
  plan(profile, verified);
}

static void try_bytes(const uint8_t *data, size_t size) {
  hearth_profile *profile;
  hearth_error err;
  if (hearth_profile_open_memory(data, size, "input", &profile, &err) == HEARTH_OK)
    walk(profile);
  hearth_profile_close(profile);
}

/* The plan of a converted text, with some of its bytes changed by those of the input. */
static void try_damaged_plan(const void *binary, size_t binary_size, const uint8_t *data, size_t size) {
  hearth_profile *profile;
  hearth_error err;
  void *planned = NULL;
  size_t planned_size;
  if (hearth_profile_open_memory(binary, binary_size, "input", &profile, &err) != HEARTH_OK)
    return;
  if (make_plan(profile, NULL, &planned, &planned_size, &err) == HEARTH_OK && planned_size > binary_size)
    for (size_t i = 0; i < 16 && i < size; i++) {
      size_t at = planned_size - 1 - (data[size - 1 - i] * 7 + i) % (planned_size - binary_size + 64);
      uint8_t kept = ((uint8_t *)planned)[at];
      ((uint8_t *)planned)[at] = data[i];
      reseal(planned, planned_size);
      try_bytes(planned, planned_size);
      ((uint8_t *)planned)[at] = kept;
    }
  free(planned);
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
    try_damaged_plan(binary, binary_size, data, size);
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
