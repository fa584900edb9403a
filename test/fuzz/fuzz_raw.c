/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: raw profiles in both layouts. */
#include <stdlib.h>
#include <string.h>

#include "raw_dump.h"
#include "repair_raw.h"

/* What every reader promises about a dump that it accepts. */
static void check(hearth_raw_dump *dump) {
  hearth_raw_record record;
  size_t records = 0;
  for (size_t i = 0; i < dump->map_count; ++i)
    if (dump->maps[i].start >= dump->maps[i].end || dump->maps[i].build_id_size > HEARTH_RAW_BUILD_ID_MAX)
      abort();
  for (size_t i = 0; i < dump->node_count; ++i)
    if (dump->nodes[i].parent != HEARTH_RAW_NO_PARENT && dump->nodes[i].parent >= i)
      abort();
  for (size_t i = 0; i < dump->node_count; ++i) {
    uint64_t pc = dump->nodes[i].pc;
    if ((HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_SCOPE_PC) || HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_HEAP_PC)) &&
        dump->kind == HEARTH_RAW_FILE_OFFSET && (uint32_t)pc >= dump->name_count)
      abort();
  }
  for (size_t i = 0; i < dump->name_count; ++i)
    if (strlen(dump->names[i]) > dump->in.file->size)
      abort();
  for (size_t i = 0; i < dump->global_count; ++i) {
    const hearth_raw_global *g = &dump->globals[i];
    if (g->name_size == 0 || memchr(g->name, '\0', g->name_size) ||
        (g->file_size > 0 && memchr(g->file, '\0', g->file_size)) || (i > 0 && g->address < g[-1].address))
      abort();
  }
  if (dump->occasion > HEARTH_RAW_PEAK)
    abort();
  for (; hearth_raw_next_record(dump, &record); ++records)
    if (record.stack != HEARTH_RAW_NO_PARENT && record.stack >= dump->node_count)
      abort();
  if (records != dump->record_count)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size + 1);
  if (!copy)
    return 0;
  memcpy(copy, data, size);
  repair_checksum(copy, size);
  hearth_file file = {.data = copy, .size = size};
  hearth_error err;
  size_t offset = 0;
  while (offset < size) {
    size_t before = offset;
    hearth_raw_dump dump;
    if (hearth_raw_read("fuzz", &file, &offset, &dump, &err) != HEARTH_OK)
      break;
    if (offset <= before)
      abort();
    check(&dump);
    hearth_raw_free(&dump);
  }
  free(copy);
  return 0;
}
