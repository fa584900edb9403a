/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events are visited in the order of their times; the table of live blocks tells when the block began that one ends. */
#include "trace_model.h"

#include "live_blocks.h"

typedef struct reading {
  hearth_page_timeline *timeline;
  hearth_live_blocks live;
} reading;

static hearth_page_block block_of(const hearth_live_block *live) {
  return (hearth_page_block){.size = live->size, .begin_ns = live->begin_ns, .thread = (uint32_t)live->number};
}

static hearth_status take_allocation(reading *r, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  hearth_live_block added = {.address = event->address,
                             .size = event->size,
                             .begin_ns = event->stack_ns,
                             .number = thread,
                             .stack = event->stack};
  hearth_live_block before;
  if (!hearth_live_blocks_add(&r->live, &added, &before))
    return hearth_error_nomem(err);
  if (before.address) {
    hearth_page_block lost = block_of(&before);
    HEARTH_TRY(hearth_page_timeline_lost(r->timeline, &lost, event->stack_ns, err));
  }
  hearth_page_block block = block_of(&added);
  return hearth_page_timeline_allocated(r->timeline, &block, err);
}

/* Blocks of before the trace, or whose allocation was dropped, are not known. */
static hearth_status take_deallocation(reading *r, const hearth_trace_event *event, uint32_t thread,
                                       hearth_error *err) {
  hearth_live_block freed;
  if (!hearth_live_blocks_remove(&r->live, event->address, &freed))
    return HEARTH_OK;
  hearth_page_block block = block_of(&freed);
  return hearth_page_timeline_freed(r->timeline, &block, thread, event->stack_ns, err);
}

static hearth_status take_event(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  if (!event->address) /* a failed allocation */
    return HEARTH_OK;
  return (hearth_trace_frees(event->kind) ? take_deallocation : take_allocation)(data, event, thread, err);
}

static void take_kept(hearth_page_timeline *t, const hearth_live_blocks *live, uint64_t end_ns) {
  for (size_t i = 0; i < live->room; i++)
    if (live->rows[i].address) {
      hearth_page_block block = block_of(&live->rows[i]);
      hearth_page_timeline_kept(t, &block, end_ns);
    }
  hearth_page_timeline_end(t, end_ns);
}

hearth_status hearth_page_trace_read(hearth_trace *trace, hearth_page_timeline *ret, hearth_error *err) {
  hearth_trace_info info;
  reading r = {.timeline = ret};
  hearth_trace_get_info(trace, &info);
  hearth_status status = hearth_page_timeline_init(ret, info.duration_ns, err);
  if (status == HEARTH_OK)
    status = hearth_trace_visit(trace, take_event, &r, err);
  if (status == HEARTH_OK)
    take_kept(ret, &r.live, info.duration_ns);
  hearth_live_blocks_free(&r.live);
  return status;
}
