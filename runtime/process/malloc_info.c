/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* malloc_info() prints to a stream of the caller's. It is the one function of the runtime that uses stdio, and stands
 * alone so that only programs that call it are linked with it. No lock is held meanwhile. */
#include "blocks.h"
#include "output.h"
#include "running_profile.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>

HEARTH_EXPORT int malloc_info(int options, FILE *stream) {
  hearth_heap_usage usage = hearth_threads_heap_usage();
  char buffer[512];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);

  if (options != 0)
    return EINVAL;
  hearth_text_format(&text,
                     "<malloc version=\"1\">\n"
                     "<total type=\"rest\" count=\"%u\" size=\"%u\"/>\n"
                     "<total type=\"mmap\" count=\"%u\" size=\"%u\"/>\n"
                     "<system type=\"current\" size=\"%u\"/>\n"
                     "</malloc>\n",
                     (uint64_t)(usage.blocks - usage.large_blocks), (uint64_t)usage.small_span_bytes,
                     (uint64_t)usage.large_blocks, (uint64_t)usage.large_span_bytes,
                     (uint64_t)(usage.small_span_bytes + usage.large_span_bytes));
  return fputs(buffer, stream) == EOF ? -1 : 0;
}
