#include "page_trace.h"

#include "trace/live_blocks.h"

static page_block block_of(const hearth_live_block *live) {
  return (page_block){.size = live->size, .begin_ns = live->begin_ns, .thread = (uint32_t)live->number};
}

static hearth_status take_allocation(page_timeline *t, hearth_live_blocks *live, const hearth_trace_event *event,
                                     uint32_t thread, hearth_error *err) {
  hearth_live_block added = {.address = event->address,
                             .size = event->size,
                             .begin_ns = event->stack_ns,
                             .number = thread,
                             .stack = event->stack};
  hearth_live_block before;
  if (!hearth_live_blocks_add(live, &added, &before))
    return hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
  if (before.address) {
    page_block lost = block_of(&before);
    HEARTH_TRY(page_timeline_lost(t, &lost, event->stack_ns, err));
  }
  page_block block = block_of(&added);
  return page_timeline_allocated(t, &block, err);
}

/* Blocks of before the trace, or whose allocation was dropped, are not known. */
static hearth_status take_deallocation(page_timeline *t, hearth_live_blocks *live, const hearth_trace_event *event,
                                       uint32_t thread, hearth_error *err) {
  hearth_live_block freed;
  if (!hearth_live_blocks_remove(live, event->address, &freed))
    return HEARTH_OK;
  page_block block = block_of(&freed);
  return page_timeline_freed(t, &block, thread, event->stack_ns, err);
}

static hearth_status take_events(page_timeline *t, hearth_live_blocks *live, hearth_trace_order *order,
                                 hearth_error *err) {
  hearth_trace_event event;
  uint32_t thread;
  bool more;
  HEARTH_TRY(hearth_trace_order_next(order, &event, &thread, &more, err));
  while (more) {
    if (event.address) /* a failed allocation has none */
      HEARTH_TRY((hearth_trace_frees(event.kind) ? take_deallocation : take_allocation)(t, live, &event, thread, err));
    HEARTH_TRY(hearth_trace_order_next(order, &event, &thread, &more, err));
  }
  return HEARTH_OK;
}

static void take_kept(page_timeline *t, const hearth_live_blocks *live, uint64_t end_ns) {
  for (size_t i = 0; i < live->room; i++)
    if (live->rows[i].address) {
      page_block block = block_of(&live->rows[i]);
      page_timeline_kept(t, &block, end_ns);
    }
  page_timeline_end(t, end_ns);
}

hearth_status page_trace_read(hearth_trace *trace, page_timeline *ret, hearth_error *err) {
  hearth_trace_info info;
  hearth_trace_order *order = NULL;
  hearth_live_blocks live = {0};
  hearth_trace_get_info(trace, &info);
  hearth_status status = page_timeline_init(ret, info.duration_ns, err);
  if (status == HEARTH_OK)
    status = hearth_trace_order_create(trace, &order, err);
  if (status == HEARTH_OK)
    status = take_events(ret, &live, order, err);
  if (status == HEARTH_OK)
    take_kept(ret, &live, info.duration_ns);
  hearth_trace_order_destroy(order);
  hearth_live_blocks_free(&live);
  return status;
}
