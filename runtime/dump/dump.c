/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decides when a profile is written, and into which file: at the end, on request, and at intervals. One lock keeps
 * dumps apart; all threads stand still while a file is written from the records themselves. */
#include "dump.h"

#include "blocks.h"
#include "clock.h"
#include "history.h"
#include "mappings.h"
#include "os.h"
#include "output.h"
#include "own_thread.h"
#include "running_profile.h"
#include "shadow.h"
#include "thread_state.h"

#include "hearth/raw.h"
#include "hearth/rt.h"

#include <errno.h>

/* -- snapshots ----------------------------------------------------------------------------------------------------------- */

/* A snapshot is a view of the table of records: the caches' records and live blocks are added to copies of the records
 * that they change, and the table itself does not change. */

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

/* Stop all threads, and take the profile since the start of the run. With signals blocked.
 *   live   live blocks are included; else the records are to be forgotten, and nothing counts as dropped
 * Returns 0, or with the threads going on ENOMEM, or EDEADLK if a thread is making a record that would be forgotten. */
static int snapshot_begin(hearth_snapshot *snapshot, bool live) {
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

/* -- whole profiles -------------------------------------------------------------------------------------------------------- */

static hearth_lock dump_lock;

static uint64_t part_count; /* files with a part of the run's records */
static uint64_t parts_ns;   /* since the start: when the last one was written */

int hearth_dump_write(hearth_file_output *to, const hearth_snapshot *snapshot) {
  return hearth_rt.options.format == HEARTH_FORMAT_LLVM && !snapshot->live ? hearth_dump_llvm(to, snapshot)
                                                                           : hearth_dump_hearth(to, snapshot);
}

static void tell_ambiguous(const hearth_mappings_losses *lost) {
  char path[512], others[64];
  hearth_text name = hearth_text_begin(path, sizeof path), more = hearth_text_begin(others, sizeof others);

  hearth_text_add_bytes(&name, lost->largest->path, lost->largest->path_size);
  if (lost->ambiguous > 1)
    hearth_text_format(&more, " and of %u more mapping%s", lost->ambiguous - 1, lost->ambiguous == 2 ? "" : "s");
  hearth_message("code of %s%s (%u bytes) is left out of the profile, and so is the code loaded in its place later: an "
                 "address does not tell which of them is meant (do not unload libraries while profiling)",
                 path, others, lost->bytes);
}

static void update_mappings(void) {
  static uint64_t ambiguous, no_room, tables; /* that were told of */
  int error = hearth_mappings_update();
  hearth_mappings_losses lost = hearth_mappings_lost();

  if (error)
    hearth_message("/proc/self/maps cannot be read: %s (is /proc mounted?)", hearth_error_name(error));
  if (lost.ambiguous > ambiguous)
    tell_ambiguous(&lost);
  if (lost.no_room > no_room)
    hearth_message("%u mapping%s of code found no room and %s left out of the profile: there are too many libraries",
                   lost.no_room, lost.no_room == 1 ? "" : "s", lost.no_room == 1 ? "is" : "are");
  if (hearth_static_data_dropped() > tables)
    hearth_message("global variables of %u source files are left out of the profile: there are too many files",
                   hearth_static_data_dropped());
  tables = hearth_static_data_dropped();
  ambiguous = lost.ambiguous;
  no_room = lost.no_room;
}

/* A snapshot for one of the files that a run's records are in. */
static int begin_snapshot(hearth_snapshot *snapshot, bool live) {
  int error = snapshot_begin(snapshot, live);

  snapshot->continues = part_count > 0;
  snapshot->duration_ns -= parts_ns;
  return error;
}

static hearth_dump_totals totals;

static void sum_up_totals(const hearth_snapshot *snapshot) {
  totals = (hearth_dump_totals){.is_whole = !snapshot->continues};
  for (uint32_t i = 0; i < snapshot->count; i++) {
    hearth_mib mib = hearth_snapshot_mib(snapshot, hearth_snapshot_context(snapshot, i));
    totals.blocks += mib.AllocCount;
    totals.live_blocks += mib.LiveAtExit;
  }
}

hearth_dump_totals hearth_dump_last_totals(void) { return totals; }

static bool dump_locked(bool only_if_any) {
  hearth_snapshot snapshot;

  update_mappings();
  hearth_live_tell(); /* for the peak */
  int error = begin_snapshot(&snapshot, true);
  if (error) {
    hearth_message("cannot write the profile: %s", hearth_error_name(error));
    return false;
  }
  if (!only_if_any || snapshot.count > 0) {
    sum_up_totals(&snapshot);
    return hearth_profile_file_write(&snapshot);
  }
  hearth_snapshot_end(&snapshot);
  return true;
}

bool hearth_is_recording(void) {
  if (!hearth_rt.recording)
    return false;
  hearth_hooks.watch_child();
  return hearth_os_pid() == hearth_rt.pid;
}

/* Signals wait until the dump is done: their handlers may call malloc, which is stopped, or dump. */
static hearth_own_writes dump_begin(void) {
  hearth_own_writes before = hearth_own_writes_begin(~UINT64_C(0));

  hearth_dump_lock();
  return before;
}

static void dump_finish(hearth_own_writes before) {
  hearth_dump_unlock();
  hearth_own_writes_end(before);
}

static bool dump_live(enum hearth_raw_occasion occasion) {
  update_mappings();
  return hearth_live_dump(occasion);
}

/* In live mode, heap dumps take the place of profiles. */
static bool dump_now(bool only_if_any, enum hearth_raw_occasion occasion) {
  if (!hearth_is_recording())
    return false;
  hearth_own_writes before = dump_begin();
  bool written = hearth_rt.tracing ? hearth_recorder->flush()
                 : hearth_rt.live  ? dump_live(occasion)
                                   : dump_locked(only_if_any);
  dump_finish(before);
  return written;
}

/* -------------------------------------------------- parts -------------------------------------------------- */

static void name_part(hearth_text *text, uint64_t number) {
  hearth_profile_file_name_beside(text);
  hearth_text_format(text, ".part%u", number);
}

/* Write the records of ended blocks to a file of their own and forget them. Returns 0 or an error number; EDEADLK:
 * another thread does not leave a critical section, and this may be tried again; EAGAIN: the caller is a signal handler
 * that interrupted one, which would go on with records that are forgotten. The file's name is in part_name then. */
static char part_name[HEARTH_OUTPUT_NAME];

static int write_records_part(void) {
  hearth_text text = hearth_text_begin(part_name, sizeof part_name);
  hearth_snapshot snapshot;

  name_part(&text, part_count + 1);
  if (hearth_this_thread.depth > 0)
    return EAGAIN;
  update_mappings();
  int error = begin_snapshot(&snapshot, false);
  if (error)
    return error;
  error = hearth_profile_file_write_as(&snapshot, part_name, true);
  if (!error) {
    hearth_threads_forget_records();
    hearth_touches_forget_shown(&snapshot.mibs);
    ++part_count;
    parts_ns += snapshot.duration_ns;
  }
  hearth_snapshot_end(&snapshot);
  return error;
}

#define PART_TRIES 100u
#define PART_PAUSE UINT64_C(1000000) /* in ns, between tries */

static bool dump_part(void) {
  int error = EDEADLK;

  if (!hearth_is_recording())
    return false;
  hearth_own_writes before = dump_begin();
  for (unsigned i = 0; i < PART_TRIES && error == EDEADLK; ++i) {
    if (i > 0)
      hearth_os_sleep(PART_PAUSE);
    error = write_records_part();
  }
  if (error)
    hearth_message("cannot write %s: %s", part_name, hearth_error_name(error));
  dump_finish(before);
  return error == 0;
}

static bool writes_parts(void) { return hearth_rt.options.parts && !hearth_rt.live && !hearth_rt.tracing; }

bool hearth_dump(void) { return writes_parts() ? dump_part() : dump_now(false, HEARTH_RAW_REQUEST); }

bool hearth_dump_pause(bool paused) {
  if (!hearth_is_recording() || hearth_rt.path != HEARTH_PATH_SAMPLE) {
    hearth_message("sampling cannot be stopped or started: this program does not sample (option sample)");
    return false;
  }
  __atomic_store_n(&hearth_rt.paused, paused, __ATOMIC_RELEASE);
  return true;
}

void hearth_dump_at_end(void) {
  if (hearth_rt.options.dump_at_exit && !hearth_rt.ended && hearth_live_is_at_peak())
    dump_now(false, HEARTH_RAW_PEAK);
  if (hearth_rt.options.dump_at_exit && !hearth_rt.ended && dump_now(hearth_rt.fork_ns > 0, HEARTH_RAW_END) &&
      hearth_recorder)
    hearth_recorder->tell_result();
}

static uint64_t next_dump_ns; /* of the thread that has taken next_due_ns */

static uint64_t dump_interval_ns(void) { return (uint64_t)hearth_rt.options.dump_interval * 1000000; }

static void publish_due(void) {
  uint64_t due = next_dump_ns;

  if (hearth_live_peak_is_due() || hearth_history_is_due()) /* since the dump that was in progress */
    due = 0;
  else if (due == UINT64_MAX)
    --due; /* the greatest number stands for a dump in progress */
  __atomic_store_n(&hearth_rt.next_due_ns, due, __ATOMIC_RELEASE);
}

void hearth_dump_schedule(uint64_t now_ns) {
  next_dump_ns = dump_interval_ns() ? now_ns + dump_interval_ns() : UINT64_MAX;
  publish_due();
}

/* All threads stand still meanwhile: with very many live blocks or contexts, the interval grows, so that dumps take
 * at most a tenth of the time. One alone may have taken long because the machine was busy. */
static void write_at_interval(uint64_t now_ns) {
  static uint64_t last_ns;

  if (writes_parts())
    dump_part();
  else
    dump_now(hearth_rt.fork_ns > 0, HEARTH_RAW_PERIOD);
  uint64_t end_ns = hearth_os_now_ns() - hearth_rt.start_ns, took_ns = end_ns - now_ns;
  uint64_t rest_ns = 9 * (took_ns < last_ns ? took_ns : last_ns);
  next_dump_ns = rest_ns > dump_interval_ns() ? end_ns + rest_ns : now_ns + dump_interval_ns();
  last_ns = took_ns;
}

/* Dumps look at it with the threads stopped, too. It does not wait for one whose message nobody reads. */
static void make_room_for_history(void) {
  hearth_threads_stop();
  hearth_history_make_room();
  hearth_threads_continue();
}

static void write_what_is_due(uint64_t now_ns) {
  if (hearth_history_is_due())
    make_room_for_history();
  if (now_ns >= next_dump_ns)
    write_at_interval(now_ns);
  if (hearth_rt.live && hearth_live_take_peak())
    dump_now(false, HEARTH_RAW_PEAK);
  hearth_live_let_go();
  publish_due();
}

/* With signals blocked: a handler of the thread that writes would wait for it. */
void hearth_dump_due(uint64_t now_ns) {
  uint64_t due = __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED);

  if (now_ns >= due) {
    uint64_t signals = hearth_os_block_signals();
    bool is_taken = __atomic_compare_exchange_n(&hearth_rt.next_due_ns, &due, UINT64_MAX, false, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED);
    if (is_taken)
      write_what_is_due(now_ns);
    hearth_os_restore_signals(signals);
    if (is_taken)
      return;
  }
  hearth_live_wait();
}

static void remove_parts(void) {
  static char buffer[HEARTH_OUTPUT_NAME];

  for (; part_count > 0; --part_count) {
    hearth_text text = hearth_text_begin(buffer, sizeof buffer);
    name_part(&text, part_count);
    hearth_os_unlink(buffer);
  }
  parts_ns = 0;
}

void hearth_dump_forget_file(void) {
  hearth_profile_file_forget();
  hearth_live_forget_files();
  part_count = 0;
  parts_ns = 0;
}

void hearth_dump_lock(void) { hearth_lock_take(&dump_lock); }

void hearth_dump_unlock(void) { hearth_lock_give(&dump_lock); }

HEARTH_EXPORT int __memprof_profile_dump(void) { return hearth_dump() ? 0 : 1; }

HEARTH_EXPORT void __memprof_profile_reset(void) {
  if (!hearth_is_recording())
    return;
  hearth_own_writes before = dump_begin();
  unsigned missed = hearth_threads_stop();
  hearth_threads_forget_records();
  hearth_threads_continue();
  hearth_pick_thread_forget();
  hearth_touches_forget();
  hearth_static_data_clear();
  if (missed > 0)
    hearth_message("the profile is reset while a thread records a block; that block may be counted twice");
  remove_parts();
  dump_finish(before);
}
