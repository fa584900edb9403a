/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes the TYPES section: the types that contexts have, sorted by id. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "writer.h"

static builder_type *find_type(const writer *w, uint64_t id) {
  return bsearch(&id, w->types, w->type_count, sizeof *w->types, hearth_compare_u64);
}

/* Those that contexts have. */
hearth_status hearth_writer_order_types(writer *w) {
  const hearth_builder *b = w->builder;
  bool *used;
  size_t kept = 0;
  HEARTH_TRY(hearth_array_create(&w->types, b->type_count, sizeof *w->types, w->err));
  HEARTH_TRY(hearth_array_create(&used, b->type_count, sizeof *used, w->err));
  w->type_count = b->type_count;
  if (b->type_count > 0) {
    memcpy(w->types, b->types, b->type_count * sizeof *w->types);
    qsort(w->types, w->type_count, sizeof *w->types, hearth_compare_u64);
  }
  for (size_t i = 0; w->type_count > 0 && i < b->context_count; i++) {
    hearth_mib mib;
    hearth_mib_rows_get(&b->mibs, i, &mib);
    builder_type *type = find_type(w, mib.DataTypeId);
    if (type)
      used[type - w->types] = true;
  }
  for (size_t i = 0; i < w->type_count; i++)
    if (used[i])
      w->types[kept++] = w->types[i];
  w->type_count = kept;
  free(used);
  return HEARTH_OK;
}

void hearth_writer_fill_types(const writer *w, hearth_indexed_type *rows) {
  for (size_t i = 0; i < w->type_count; i++)
    rows[i] =
        (hearth_indexed_type){w->types[i].id, hearth_writer_string_offset(w, w->builder->pool + w->types[i].name), 0};
}
