/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: every view of a profile, read from text or from damaged binary, and conditions on its comparison with
 * itself. JSON must be JSON and UTF-8, and end where it should in a page, whatever the names are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_json.h"
#include "hearth/advice.h"
#include "hearth/builder.h"
#include "hearth/global.h"
#include "hearth/profile_diff.h"
#include "hearth/profile_export.h"
#include "hearth/view.h"
#include "reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* -------------------------------------------------- views -------------------------------------------------- */

typedef enum view {
  VIEW_TEXT,
  VIEW_JSON,
  VIEW_DIFF,
  VIEW_PAGE,
  VIEW_CALLERS,
  VIEW_CALLEES,
  VIEW_ADVICE,
  VIEW_GLOBALS_TEXT,
  VIEW_EXPORT
} view;

static void check_page(const char *page) {
  static const char begin[] = "id=\"data\">", end[] = "</script>";
  const char *at = strstr(page, begin);
  if (!at)
    fail("no data in the page", page);
  at = skip_value(at + strlen(begin));
  if (strncmp(at, end, strlen(end)) != 0)
    fail("the data does not end the script", at);
}

/* As text, or in a page: then as if of a trace, whose kinds are tested, too. */
static hearth_status print_advice(hearth_profile *profile, bool in_page, FILE *stream, hearth_error *err) {
  hearth_page_options page = {.title = "input"};
  HEARTH_TRY(hearth_advice_create(profile, NULL, in_page, &page.advice, err));
  hearth_status status = in_page ? hearth_page_write_html(profile, &page, stream, err)
                                 : hearth_advice_print_text(page.advice, "input", SIZE_MAX, NULL, stream, err);
  hearth_advice_destroy(page.advice);
  return status;
}

static hearth_status print(hearth_profile *profile, int number, FILE *stream, hearth_error *err) {
  hearth_listing_options report = {
      .groups = SIZE_MAX, .contexts = SIZE_MAX, .by = hearth_profile_context_count(profile) % HEARTH_GROUP_KINDS};
  hearth_export_options export = {.title = "input", .value = (hearth_quantity)(number % HEARTH_QUANTITY_COUNT)};
  const char *names[HEARTH_DIFF_SIDES] = {"a", "b"};
  hearth_profile *both[HEARTH_DIFF_SIDES] = {profile, profile};
  hearth_view_options filter = {.function = number % 2 ? "a" : NULL, .file = number % 2 ? "." : NULL};
  hearth_diff *diff = NULL;
  if (number == VIEW_TEXT)
    return hearth_listing_print_text(profile, "input", &report, stream, err);
  if (number == VIEW_JSON)
    return hearth_listing_print_json(profile, "input", &report, stream, err);
  if (number == VIEW_CALLERS || number == VIEW_CALLEES)
    return hearth_call_tree_print(profile, &report, "a", number == VIEW_CALLEES, stream, err);
  if (number == VIEW_ADVICE || number == VIEW_PAGE)
    return print_advice(profile, number == VIEW_PAGE, stream, err);
  if (number == VIEW_GLOBALS_TEXT)
    return hearth_globals_print_text(profile, SIZE_MAX, stream, err);
  if (number >= VIEW_EXPORT)
    return hearth_export(profile, (hearth_export_format)(number - VIEW_EXPORT), &export, stream, err);
  hearth_status status = hearth_diff_create(both, names, &filter, &diff, err);
  if (status == HEARTH_OK)
    status = hearth_diff_print_text(diff, SIZE_MAX, stream, err);
  hearth_diff_destroy(diff);
  return status;
}

static void print_all(hearth_profile *profile) {
  for (int number = 0; number <= VIEW_EXPORT + HEARTH_EXPORT_DHAT; number++) {
    char *text;
    size_t size;
    hearth_error err;
    FILE *stream = open_memstream(&text, &size);
    hearth_status status = print(profile, number, stream, &err);
    fclose(stream);
    int json = number == VIEW_JSON || number - VIEW_EXPORT == HEARTH_EXPORT_DHAT;
    if (status == HEARTH_OK && json)
      check_json(text);
    if (status == HEARTH_OK && number == VIEW_PAGE)
      check_page(text);
    free(text);
  }
}

static void parse_condition(const uint8_t *data, size_t size) {
  char *text = strndup((const char *)data, size);
  hearth_condition condition;
  hearth_error err;
  hearth_condition_parse(text, &condition, &err);
  free(text);
}

static void view_bytes(const void *data, size_t size) {
  hearth_profile *profile;
  hearth_error err;
  if (hearth_profile_open_memory(data, size, "input", &profile, &err) == HEARTH_OK)
    print_all(profile);
  hearth_profile_close(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  void *image;
  size_t image_size;
  hearth_error err;
  parse_condition(data, size);
  view_bytes(data, size);
  uint8_t *sealed = malloc(size + 1);
  if (sealed) {
    memcpy(sealed, data, size);
    reseal(sealed, size);
    view_bytes(sealed, size);
  }
  free(sealed);
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  if (builder && hearth_builder_read_text(builder, (const char *)data, size, "input", &err) == HEARTH_OK &&
      hearth_builder_write_memory(builder, &image, &image_size, &err) == HEARTH_OK) {
    view_bytes(image, image_size);
    free(image);
  }
  hearth_builder_destroy(builder);
  return 0;
}
