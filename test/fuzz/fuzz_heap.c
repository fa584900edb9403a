/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: heap dumps as `hearth heap` shows them. Entries are in order, each once; JSON is JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_json.h"
#include "hearth/heap_dumps.h"
#include "repair_raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_before(const hearth_heap_entry *a, const hearth_heap_entry *b) {
  if (a->node != b->node)
    return a->node + 1 < b->node + 1; /* that of no node is the first */
  return a->heap != b->heap ? a->heap < b->heap : a->type < b->type;
}

static void check_rows(const hearth_heap_dumps *dumps) {
  for (size_t i = 0; i < dumps->node_count; i++)
    if (dumps->nodes[i].parent != HEARTH_NONE && dumps->nodes[i].parent >= i)
      abort();
  for (size_t i = 0; i < dumps->dump_count; i++)
    for (size_t k = 0; k < dumps->dumps[i].entry_count; k++) {
      const hearth_heap_entry *entry = &dumps->dumps[i].entries[k];
      if ((entry->node != HEARTH_NONE && entry->node >= dumps->node_count) || entry->type >= dumps->name_count ||
          entry->heap >= dumps->name_count)
        abort();
      if (k > 0 && !is_before(&entry[-1], entry))
        abort();
    }
}

static void print(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump, bool chrome) {
  const hearth_heap_view_options options = {.full_names = dump->entry_count % 2};
  char *text;
  size_t size;
  hearth_error err;
  FILE *stream = open_memstream(&text, &size);
  hearth_status status = chrome ? hearth_heap_export_chrome(dumps, &options, stream, &err)
                                : hearth_heap_print(dumps, dump, &options, stream, &err);
  fclose(stream);
  if (status == HEARTH_OK && chrome)
    check_json(text);
  free(text);
}

static void view(const hearth_heap_dumps *dumps) {
  check_rows(dumps);
  for (size_t i = 0; i < dumps->dump_count; i++) {
    print(dumps, &dumps->dumps[i], false);
    print(dumps, &dumps->dumps[i], true);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const hearth_heap_dumps *dumps;
  hearth_error err;
  uint8_t *copy = malloc(size + 1);
  hearth_heap_reader *reader;
  if (copy && hearth_heap_reader_create(NULL, &reader, &err) == HEARTH_OK) {
    memcpy(copy, data, size);
    repair_checksum(copy, size);
    hearth_heap_reader_add_memory(reader, copy, size, "fuzz", &err); /* dumps before a damaged one stay */
    if (hearth_heap_reader_result(reader, &dumps, &err) == HEARTH_OK)
      view(dumps);
    hearth_heap_reader_destroy(reader);
  }
  free(copy);
  return 0;
}
