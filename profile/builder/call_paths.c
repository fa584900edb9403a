/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call paths: a set, in the order of arrival. */
#include <stdlib.h>

#include "builder_tables.h"

void hearth_builder_free_call_paths(builder_call_paths *paths) {
  free(paths->rows);
  free(paths->by_content.slots);
}

static uint32_t hash_path(const hearth_call_path *path) {
  return id_table_mix(path->offset ^ (uint64_t)path->height << 40 ^
                      id_table_mix((uint64_t)path->context << 32 | path->binary));
}

static bool equal_path(const void *owner, uint32_t row, const void *key) {
  const hearth_call_path *a = (const hearth_call_path *)owner + row, *b = key;
  return a->context == b->context && a->binary == b->binary && a->offset == b->offset && a->height == b->height;
}

hearth_status hearth_builder_add_call_path(hearth_builder *builder, uint32_t node, const hearth_call_path *path,
                                           hearth_error *err) {
  builder_call_paths *p = &builder->call_paths;
  hearth_call_path wanted = *path;
  wanted.context = builder->nodes[node].context;
  if (wanted.context == HEARTH_NONE ||
      id_table_find(&p->by_content, hash_path(&wanted), equal_path, p->rows, &wanted) != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_reserve(&p->rows, &p->room, p->count, 1, sizeof *p->rows, err));
  if (!id_table_reserve(&p->by_content))
    return hearth_error_nomem(err);
  id_table_insert(&p->by_content, hash_path(&wanted), (uint32_t)p->count);
  p->rows[p->count++] = wanted;
  return HEARTH_OK;
}
