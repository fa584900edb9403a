/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two sections about runs: RUN FACTS, and ORIGINS: its grain, then the rows, sorted where they lie. Strings are sorted, so their
 * offsets are in the order of hosts. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "writer.h"

static int compare_rows(const void *a, const void *b) {
  const hearth_indexed_origin *x = a, *y = b;
  int order = memcmp(x->build_id, y->build_id, sizeof x->build_id);
  if (order == 0)
    order = (x->build_id_size > y->build_id_size) - (x->build_id_size < y->build_id_size);
  if (order == 0)
    order = (x->host > y->host) - (x->host < y->host);
  return order ? order : (x->day > y->day) - (x->day < y->day);
}

hearth_status hearth_writer_encode_origins(writer *w) {
  const hearth_builder *b = w->builder;
  size_t count = b->origins.count, size = sizeof(hearth_indexed_origins) + count * sizeof(hearth_indexed_origin);
  if (count == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&w->origins.data, size, 1, w->err));
  w->origins.size = size;
  hearth_indexed_origins *header = (hearth_indexed_origins *)w->origins.data;
  hearth_indexed_origin *rows = (hearth_indexed_origin *)(header + 1);
  *header = (hearth_indexed_origins){.grain = b->origins.grain};
  for (size_t i = 0; i < count; i++) {
    hearth_origin origin = hearth_builder_origin(b, i);
    rows[i] = (hearth_indexed_origin){.runs = origin.runs,
                                      .total_bytes = origin.total_bytes,
                                      .host = hearth_writer_string_offset(w, origin.host),
                                      .day = origin.day,
                                      .build_id_size = origin.build_id_size};
    memcpy(rows[i].build_id, origin.build_id, sizeof rows[i].build_id);
  }
  qsort(rows, count, sizeof *rows, compare_rows);
  return HEARTH_OK;
}

hearth_status hearth_writer_encode_run_facts(writer *w) {
  hearth_run_facts facts = hearth_builder_run_facts(w->builder);
  hearth_indexed_run_facts stored = {.peak_bytes = facts.peak_bytes,
                                     .command = hearth_writer_string_offset(w, facts.command),
                                     .flags = facts.commands_differ ? HEARTH_COMMANDS_DIFFER : 0};
  if (stored.peak_bytes == 0 && stored.command == 0 && stored.flags == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&w->run_facts.data, sizeof stored, 1, w->err));
  memcpy(w->run_facts.data, &stored, sizeof stored);
  w->run_facts.size = sizeof stored;
  return HEARTH_OK;
}
