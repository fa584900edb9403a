/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: traces. Blocks get right checksums first, or nothing behind that check would ever be reached; the check
 * itself is the unit test's. Each trace that opens is walked, plotted and printed. */
#include <stdlib.h>
#include <string.h>

#include "hearth/trace.h"
#include "page.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void repair_checksums(uint8_t *data, size_t size) {
  hearth_trace_header header;
  if (size < sizeof header)
    return;
  memcpy(&header, data, sizeof header);
  for (size_t at = header.header_size; at <= size && size - at >= sizeof(hearth_trace_block);) {
    hearth_trace_block block;
    XXH64_state_t state;
    memcpy(&block, data + at, sizeof block);
    size_t payload = at + sizeof block;
    if (block.stored_size > size - payload)
      return;
    block.checksum = 0;
    XXH64_reset(&state, 0);
    XXH64_update(&state, data + payload, block.stored_size);
    XXH64_update(&state, &block, sizeof block);
    block.checksum = XXH64_digest(&state);
    memcpy(data + at, &block, sizeof block);
    at = payload + block.stored_size;
  }
}

typedef struct walk {
  const hearth_trace *trace;
  uint64_t nodes, events;
} walk;

static hearth_status count(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  walk *w = data;
  (void)thread, (void)err;
  if (!hearth_trace_kind_name(event->kind) || hearth_trace_depth(w->trace, event->stack) > w->nodes)
    abort();
  w->events++;
  return HEARTH_OK;
}

static void walk_events(hearth_trace *trace) {
  hearth_trace_info info;
  hearth_error err;
  hearth_trace_get_info(trace, &info);
  walk w = {.trace = trace, .nodes = info.nodes};
  if (hearth_trace_visit(trace, count, &w, &err) == HEARTH_OK && w.events != info.events)
    abort();
}

/* Its operations need not make sense: blocks may end twice, or before they began. */
static void plot(hearth_trace *trace) {
  hearth_page_timeline timeline;
  hearth_error err;
  hearth_page_trace_read(trace, &timeline, &err);
  hearth_page_timeline_destroy(&timeline);
}

static void print(hearth_trace *trace) {
  char *text;
  size_t size;
  hearth_error err;
  FILE *stream = open_memstream(&text, &size);
  if (!stream)
    return;
  hearth_trace_print(trace, stream, &err);
  fclose(stream);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hearth_trace *trace;
  hearth_error err;
  uint8_t *copy = malloc(size + 1);
  if (!copy)
    return 0;
  memcpy(copy, data, size);
  repair_checksums(copy, size);
  if (hearth_trace_open_memory(copy, size, "fuzz", &trace, &err) == HEARTH_OK) {
    walk_events(trace);
    plot(trace);
    print(trace);
    hearth_trace_close(trace);
  }
  free(copy);
  return 0;
}
