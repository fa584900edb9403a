/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records that differ from those of the table are copied when they first change; all others are read from the table. */
#include "mib_view.h"

#include "os.h"

static size_t copies_size(uint32_t count) { return hearth_os_whole_pages((size_t)count * sizeof(hearth_mib)); }

static size_t view_size(uint32_t count) { return copies_size(count) + hearth_os_whole_pages((count + (size_t)7) / 8); }

bool hearth_mib_view_create(hearth_mib_view *view, const hearth_mib_table *table, uint32_t count) {
  char *memory = hearth_os_map(view_size(count));

  if (!memory)
    return false;
  hearth_os_mark_sparse(memory, view_size(count));
  *view = (hearth_mib_view){
      .table = table, .count = count, .copies = (hearth_mib *)memory, .copied = (uint8_t *)memory + copies_size(count)};
  if (!table->histograms.by_context || hearth_histograms_create(&view->histograms, count, table->histograms.most))
    return true;
  hearth_os_unmap(memory, view_size(count));
  return false;
}

void hearth_mib_view_destroy(hearth_mib_view *view) {
  hearth_os_unmap(view->copies, view_size(view->count));
  hearth_histograms_destroy(&view->histograms);
}

hearth_mib *hearth_mib_view_change(hearth_mib_view *view, uint32_t context) {
  uint8_t bit = (uint8_t)(1u << context % 8);

  if (!(view->copied[context / 8] & bit))
    view->copies[context] = view->table->mibs[context];
  view->copied[context / 8] |= bit;
  return &view->copies[context];
}

static bool is_copied(const hearth_mib_view *view, uint32_t context) {
  return view->histograms.by_context[context].room > 0;
}

const uint64_t *hearth_mib_view_histogram(const hearth_mib_view *view, uint32_t context, uint32_t *ret_size) {
  return hearth_histograms_get(is_copied(view, context) ? &view->histograms : &view->table->histograms, context,
                               ret_size);
}

void hearth_mib_view_add_histogram(hearth_mib_view *view, const hearth_block *block, uint64_t weight) {
  if (is_copied(view, block->context) ||
      hearth_histograms_copy(&view->histograms, &view->table->histograms, block->context))
    hearth_histograms_add(&view->histograms, block, weight);
}
