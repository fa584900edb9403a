/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A snapshot is a view of the table of records: the caches' records and live blocks are added to copies of the records
 * that they change, and the table itself does not change. */
#include "dump.h"

#include "blocks.h"
#include "clock.h"
#include "os.h"
#include "own_thread.h"
#include "running_profile.h"
#include "shadow.h"

#include "hearth/raw.h"

#include <errno.h>

typedef struct live_visit {
  hearth_mib_view *mibs;
  hearth_history_view *history;
  hearth_moment now;
} live_visit;

/* A live block is recorded as if it were freed now, in the view only; one that another thread is just freeing, too. */
static void add_live(const hearth_block *block, void *closure) {
  live_visit *visit = closure;

  if (block->context >= visit->mibs->count || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_access_sum accesses = hearth_shadow_sum(hearth_header_memory(block->header), block->size);
  hearth_mib one = hearth_mib_of_block(block, accesses, visit->now);
  if (hearth_header_state(block->header) == HEARTH_BLOCK_LIVE)
    hearth_mib_set_live(&one);
  if (visit->history->entries) {
    one.PeakBlocks = hearth_history_view_add(visit->history, block);
    one.PeakBytes = block->size * one.PeakBlocks;
  }
  hearth_mib_follow(hearth_mib_view_change(visit->mibs, block->context), &one);
  if (visit->mibs->histograms.by_context)
    hearth_mib_view_add_histogram(visit->mibs, block, one.AllocCount);
}

static void add_live_of_allocator(const hearth_block *block, uint64_t address, hearth_access_sum accesses,
                                  void *closure) {
  live_visit *visit = closure;

  (void)address;
  if (block->context >= visit->mibs->count || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_mib one = hearth_mib_of_block(block, accesses, visit->now);
  hearth_mib_set_live(&one);
  hearth_mib_follow(hearth_mib_view_change(visit->mibs, block->context), &one);
}

hearth_mib hearth_snapshot_mib(const hearth_snapshot *snapshot, uint32_t context) {
  hearth_mib mib = hearth_mib_view_read(&snapshot->mibs, context);

  if (snapshot->history.entries) {
    hearth_history_share share = hearth_history_at_peak(context); /* of ended blocks: a copy of each would be large */
    mib.PeakBytes += share.bytes;
    mib.PeakBlocks += share.blocks;
  }
  return mib;
}

static void snapshot_list_contexts(hearth_snapshot *snapshot) {
  for (uint32_t context = 0; context < snapshot->mibs.count; ++context)
    if (hearth_mib_view_count(&snapshot->mibs, context) > 0)
      *hearth_depot_list(snapshot->depot, snapshot->count++) = context;
}

static int snapshot_take(hearth_snapshot *snapshot, bool live, unsigned missed) {
  live_visit visit = {
      &snapshot->mibs, &snapshot->history, {hearth_clock_now_ns() - hearth_rt.start_ns, hearth_os_cpu()}};

  if (!live && missed > 0)
    return EDEADLK;
  if (!hearth_mib_view_create(&snapshot->mibs, &hearth_rt.mibs, hearth_depot_limit(&hearth_rt.depot)))
    return ENOMEM;
  hearth_threads_show_records(&snapshot->mibs);
  if (live) {
    hearth_threads_flush_history();
    hearth_history_view_create(&snapshot->history);
    hearth_heap_each(add_live, &visit);
    if (snapshot->history.entries)
      hearth_history_view_end(&snapshot->history, visit.now.ns);
    hearth_allocators_each(add_live_of_allocator, &visit);
  }
  if (hearth_touches_show(&snapshot->mibs, !live))
    snapshot->accesses_counted = snapshot->accesses_estimated = true;
  snapshot_list_contexts(snapshot);
  snapshot->duration_ns = visit.now.ns;
  return 0;
}

int hearth_snapshot_begin(hearth_snapshot *snapshot, bool live) {
  unsigned missed = hearth_threads_stop();

  *snapshot = (hearth_snapshot){.depot = &hearth_rt.depot,
                                .accesses_counted = hearth_rt.accesses == HEARTH_ACCESSES_COUNTED,
                                .has_globals = live && hearth_rt.accesses == HEARTH_ACCESSES_COUNTED &&
                                               hearth_static_data_each(NULL, NULL) > 0,
                                .start_unix_ns = hearth_rt.start_unix_ns,
                                .pid = hearth_rt.pid,
                                .sample_bytes = hearth_rt.options.sample};
  int error = snapshot_take(snapshot, live, missed);
  if (error)
    hearth_threads_continue();
  if (live)
    snapshot->dropped_blocks = missed + __atomic_load_n(&hearth_rt.dropped_blocks, __ATOMIC_RELAXED);
  snapshot->dropped_stacks =
      hearth_depot_dropped(&hearth_rt.depot); /* records of parts are under the empty stack, too */
  return error;
}

void hearth_snapshot_end(hearth_snapshot *snapshot) {
  hearth_threads_continue();
  hearth_history_view_destroy(&snapshot->history);
  hearth_mib_view_destroy(&snapshot->mibs);
}
