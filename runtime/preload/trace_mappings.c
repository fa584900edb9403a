/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The whole list is written again when it has become longer. */
#include "trace_mappings.h"

#include "mappings.h"
#include "os.h"
#include "trace_file.h"

#include <string.h>

#define MAPPINGS_BYTES ((size_t)256 << 10)

static uint64_t written; /* mappings in the file */

static size_t padded(size_t size) { return (size + 7) & ~(size_t)7; }

static size_t put(uint8_t *to, const hearth_mapping *row) {
  hearth_raw_mapping raw = hearth_mapping_raw(row);

  memcpy(to, &raw, sizeof raw);
  memcpy(to + sizeof raw, row->path, row->path_size);
  return padded(sizeof raw + row->path_size);
}

void hearth_trace_mappings_add(hearth_packer *packer) {
  hearth_trace_block block = {.kind = HEARTH_TRACE_BLOCK_MAPPINGS};
  uint64_t known = hearth_mappings_count();
  uint8_t *memory = known == written ? NULL : hearth_os_map(MAPPINGS_BYTES);
  size_t size = 0;

  if (!memory)
    return;
  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));) {
    if (padded(sizeof(hearth_raw_mapping) + row->path_size) > MAPPINGS_BYTES - size)
      break;
    size += put(memory + size, row);
    ++block.count;
  }
  hearth_packer_begin(packer);
  hearth_packer_add(packer, memory, size);
  hearth_trace_file_add(&block, packer->packed, packer->size);
  hearth_os_unmap(memory, MAPPINGS_BYTES);
  written = known;
}

void hearth_trace_mappings_forget(void) { written = 0; }
