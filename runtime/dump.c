#include "dump.h"

#include "lock.h"
#include "mappings.h"
#include "message.h"
#include "os.h"
#include "runtime.h"
#include "section.h"
#include "shadow.h"
#include "snapshot_file.h"
#include "thread_cache.h"

#include "hearth/rt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* Signal stacks are small: what is large stands here, for the one that has the lock. */
static hearth_lock dump_lock;
static hearth_output output;
static char name[HEARTH_OUTPUT_NAME]; /* of the profile, once it was written; "": not yet */

static uint64_t spilled;    /* files with spilled records */
static uint64_t spilled_ns; /* since the start: when the last one was written */

static size_t snapshot_size(uint32_t contexts) {
  return ((size_t)contexts * sizeof(hearth_mib) + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);
}

typedef struct live_visit {
  hearth_snapshot *snapshot;
  hearth_moment now;
} live_visit;

/* A live block is recorded as if it were freed now, in the snapshot only; one that another thread is just freeing, too. */
static void add_live(hearth_block *block, void *closure) {
  live_visit *visit = closure;

  if (block->context >= visit->snapshot->contexts || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_access_sum accesses = hearth_shadow_sum(hearth_block_memory(block), block->size);
  hearth_mib one = hearth_mib_of_block(block, accesses, visit->now);
  one.LiveAtExit = hearth_block_state_of(block) == HEARTH_BLOCK_LIVE;
  hearth_mib_weigh(&one, block, hearth_rt.options.sample);
  hearth_mib_follow(&visit->snapshot->mibs[block->context], &one);
  if (visit->snapshot->histograms.by_context)
    hearth_histograms_add(&visit->snapshot->histograms, block, one.AllocCount);
}

static bool create_records(hearth_snapshot *snapshot) {
  const hearth_histograms *histograms = &hearth_rt.mibs.histograms;

  snapshot->mibs = hearth_os_map(snapshot_size(snapshot->contexts));
  return snapshot->mibs && (!histograms->by_context ||
                            hearth_histograms_create(&snapshot->histograms, snapshot->contexts, histograms->most));
}

static void destroy_records(hearth_snapshot *snapshot) {
  if (snapshot->mibs)
    hearth_os_unmap(snapshot->mibs, snapshot_size(snapshot->contexts));
  hearth_histograms_destroy(&snapshot->histograms);
}

static void copy_records(hearth_snapshot *snapshot) {
  hearth_threads_copy_records(snapshot->mibs, snapshot->contexts);
  for (uint32_t context = 0; snapshot->histograms.by_context && context < snapshot->contexts; ++context)
    hearth_histograms_merge(&snapshot->histograms, &hearth_rt.mibs.histograms, context);
}

/* While the snapshot is taken nothing is allocated, freed or recorded, so that each block is in it once.
 *   live   live blocks are included; else ended ones are forgotten
 * Returns 0, ENOMEM, or EDEADLK if blocks could not be forgotten: a thread is recording one. */
static int take_snapshot(hearth_snapshot *snapshot, bool live) {
  live_visit visit = {.snapshot = snapshot};

  unsigned missed = hearth_threads_stop();
  int error = 0;
  visit.now = (hearth_moment){hearth_os_now_ns() - hearth_rt.start_ns, hearth_os_cpu()};
  *snapshot = (hearth_snapshot){.contexts = hearth_depot_limit(&hearth_rt.depot), .depot = &hearth_rt.depot};
  if (!create_records(snapshot)) {
    error = ENOMEM;
  } else if (live) {
    copy_records(snapshot);
    hearth_heap_each(add_live, &visit);
  } else if (missed == 0) {
    copy_records(snapshot);
    hearth_threads_forget_records();
  } else {
    error = EDEADLK;
  }
  if (error)
    destroy_records(snapshot);
  hearth_threads_continue();
  snapshot->accesses_counted = hearth_rt.accesses == HEARTH_ACCESSES_COUNTED;
  snapshot->continues = spilled > 0;
  snapshot->duration_ns = visit.now.ns - spilled_ns;
  snapshot->start_unix_ns = hearth_rt.start_unix_ns;
  snapshot->pid = hearth_rt.pid;
  snapshot->sample_bytes = hearth_rt.options.sample;
  if (live) {
    snapshot->dropped_blocks = missed + __atomic_load_n(&hearth_rt.dropped_blocks, __ATOMIC_RELAXED) +
                               __atomic_load_n(&hearth_rt.mibs.dropped, __ATOMIC_RELAXED);
    snapshot->dropped_stacks = hearth_depot_dropped(&hearth_rt.depot);
  }
  return error;
}

static void make_directories(const char *file) {
  static char path[HEARTH_OUTPUT_NAME];

  for (const char *slash = file; (slash = strchr(slash + 1, '/'));) {
    hearth_text text = hearth_text_begin(path, sizeof path);
    hearth_text_add_bytes(&text, file, (size_t)(slash - file));
    hearth_os_make_directory(path); /* creating the file tells what is wrong with it */
  }
}

int hearth_dump_write(hearth_output *to, const hearth_snapshot *snapshot) {
  return hearth_rt.options.format == HEARTH_FORMAT_LLVM ? hearth_dump_llvm(to, snapshot)
                                                        : hearth_dump_hearth(to, snapshot);
}

static void begin_file(const char *file) {
  hearth_output_begin(&output, &hearth_output_system, file);
  if (output.error == ENOENT) {
    make_directories(file);
    hearth_output_begin(&output, &hearth_output_system, file);
  }
}

static int finish_file(int error, bool replace) {
  if (error && !output.error)
    output.error = error; /* so that what was written is removed */
  return hearth_output_finish(&output, replace);
}

/* How a snapshot becomes a file: returns 0 or an error number; the file's name is in `output` then. */
typedef int write_function(const hearth_snapshot *snapshot, const char *file, bool replace);

static int write_profile_file(const hearth_snapshot *snapshot, const char *file, bool replace) {
  begin_file(file);
  return finish_file(hearth_dump_write(&output, snapshot), replace);
}

/* The snapshot file stands under the profile's name, until a profile replaces it. */
static int write_snapshot_file(const hearth_snapshot *snapshot, const char *file, bool replace) {
  if (hearth_snapshot_file_is_open())
    return hearth_snapshot_file_write(snapshot);
  begin_file(file);
  int error = hearth_snapshot_file_begin(&output, (size_t)hearth_rt.options.snapshot_size << 20);
  if (!error)
    error = hearth_snapshot_file_write(snapshot);
  error = finish_file(error, replace);
  if (error)
    hearth_snapshot_file_close();
  return error;
}

static bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

static uint32_t count_contexts(const hearth_snapshot *snapshot, uint64_t least_bytes) {
  uint32_t count = 0;

  for (uint32_t context = 0; context < snapshot->contexts; ++context)
    count += snapshot->mibs[context].AllocCount > 0 && snapshot->mibs[context].TotalSize >= least_bytes;
  return count;
}

/* Leave out all but the `keep` contexts of most bytes. Returns how many blocks the others have. */
static uint64_t leave_out(hearth_snapshot *snapshot, uint32_t keep) {
  uint64_t low = 0, high = UINT64_MAX, blocks = 0; /* contexts of `high` bytes or more can all be kept */

  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (count_contexts(snapshot, middle) > keep)
      low = middle + 1;
    else
      high = middle;
  }
  uint32_t ties = keep - count_contexts(snapshot, high);
  for (uint32_t context = 0; context < snapshot->contexts; ++context) {
    hearth_mib *mib = &snapshot->mibs[context];
    if (mib->AllocCount == 0 || mib->TotalSize >= high)
      continue;
    if (mib->TotalSize == high - 1 && ties > 0) {
      --ties;
      continue;
    }
    blocks += mib->AllocCount;
    mib->AllocCount = 0;
  }
  snapshot->dropped_blocks += blocks;
  return blocks;
}

/* What a full disk, or half of a snapshot file, has room for is written: the contexts of most bytes. */
static int write_what_fits(hearth_snapshot *snapshot, write_function *write, const char *file, bool replace) {
  static bool told; /* of a snapshot file that is too small; the next snapshot will not fit either */
  bool is_snapshot = write == write_snapshot_file;
  int error = write(snapshot, file, replace), first_error = error;
  uint64_t blocks = 0;

  for (uint32_t keep = count_contexts(snapshot, 0) / 2; is_full(error) && keep > 0; keep /= 2) {
    blocks += leave_out(snapshot, keep);
    error = write(snapshot, file, replace);
  }
  if (first_error && !error && !(is_snapshot && told)) {
    hearth_message("the profile %s is not complete: %s; contexts of least bytes are left out, %u blocks%s",
                   replace ? file : output.name, hearth_error_name(first_error), blocks,
                   is_snapshot ? " (see option snapshot_size)" : "");
    told |= is_snapshot;
  }
  return error;
}

/* A profile may have been written under this name before: by a program that this process was until it called exec, or by
 * a process of the same number. It stays. */
static bool write_profile(hearth_snapshot *snapshot, write_function *write) {
  static char first_name[HEARTH_OUTPUT_NAME];
  bool again = name[0] != '\0';
  hearth_text text = hearth_text_begin(first_name, sizeof first_name);

  hearth_text_format(&text, "%s.%u", hearth_rt.options.log_path, hearth_rt.pid);
  const char *file = again ? name : first_name;
  int error = write_what_fits(snapshot, write, file, again);
  if (error) {
    hearth_message("cannot write the profile %s: %s", file, hearth_error_name(error));
    return false;
  }
  if (!again) {
    text = hearth_text_begin(name, sizeof name);
    hearth_text_add(&text, output.name);
  }
  if (write == write_snapshot_file)
    return true;
  hearth_snapshot_file_close(); /* it was replaced */
  if (hearth_rt.options.verbosity > 0)
    hearth_message("profile written to %s, %u bytes", name, output.size);
  return true;
}

static bool is_empty(const hearth_snapshot *snapshot) {
  for (uint32_t context = 0; context < snapshot->contexts; ++context)
    if (snapshot->mibs[context].AllocCount > 0)
      return false;
  return true;
}

static void update_mappings(void) {
  static uint64_t reported;
  int error = hearth_mappings_update();
  uint64_t lost = hearth_mappings_lost();

  if (error)
    hearth_message("the list of mappings cannot be read: %s", hearth_error_name(error));
  if (lost > reported)
    hearth_message("%u mappings are left out of the profile: libraries were loaded where others had been before, or "
                   "there are too many",
                   lost);
  reported = lost;
}

static bool dump_locked(write_function *write, bool only_if_any) {
  hearth_snapshot snapshot;
  bool written = true;

  update_mappings();
  int error = take_snapshot(&snapshot, true);
  if (error) {
    hearth_message("cannot write the profile: %s", hearth_error_name(error));
    return false;
  }
  if (!only_if_any || !is_empty(&snapshot))
    written = write_profile(&snapshot, write);
  destroy_records(&snapshot);
  return written;
}

/* Is this the process that records, and not a child that shares its memory (vfork) or was made behind the C library's
 * back? */
static bool is_recording(void) {
  if (!hearth_rt.recording)
    return false;
  hearth_watch_child();
  return hearth_os_pid() == hearth_rt.pid;
}

/* Signals wait until the dump is done: their handlers may call malloc, which is stopped, or dump. */
static uint64_t begin(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_dump_lock();
  return signals;
}

static void finish(uint64_t signals) {
  hearth_dump_unlock();
  hearth_os_restore_signals(signals);
}

static bool dump(write_function *write, bool only_if_any) {
  const uint64_t too_large = UINT64_C(1) << (SIGXFSZ - 1);

  if (!is_recording())
    return false;
  uint64_t signals = begin();
  bool written = dump_locked(write, only_if_any);
  if (!(signals & too_large))
    hearth_os_take_pending(too_large); /* was sent because of the profile, not of what the program writes */
  finish(signals);
  return written;
}

bool hearth_dump(void) { return dump(write_profile_file, false); }

void hearth_dump_at_end(void) {
  if (hearth_rt.options.dump_at_exit && !hearth_rt.ended)
    dump(write_profile_file, hearth_rt.fork_ns > 0);
}

/* Of the intervals; they belong to the thread that has taken next_due_ns. */
static uint64_t next_dump_ns, next_snapshot_ns;

static uint64_t after(uint64_t now_ns, uint64_t interval_ns) { return interval_ns ? now_ns + interval_ns : UINT64_MAX; }

static uint64_t dump_interval_ns(void) { return (uint64_t)hearth_rt.options.dump_interval * 1000000000; }

static uint64_t snapshot_interval_ns(void) { return (uint64_t)hearth_rt.options.snapshot * 1000000; }

static void publish_due(void) {
  uint64_t due = next_dump_ns < next_snapshot_ns ? next_dump_ns : next_snapshot_ns;

  __atomic_store_n(&hearth_rt.next_due_ns, due, __ATOMIC_RELEASE);
}

void hearth_dump_schedule(uint64_t now_ns) {
  next_dump_ns = after(now_ns, dump_interval_ns());
  next_snapshot_ns = after(now_ns, snapshot_interval_ns());
  publish_due();
}

/* All threads stand still while live blocks are visited: with very many, the interval grows, so that snapshots take at most
 * a tenth of the time. One alone may have taken long because the machine was busy, or because it made the file. */
static void write_snapshot_due(uint64_t now_ns) {
  static uint64_t last_ns;

  dump(write_snapshot_file, hearth_rt.fork_ns > 0);
  uint64_t end_ns = hearth_os_now_ns() - hearth_rt.start_ns, took_ns = end_ns - now_ns;
  uint64_t rest_ns = 9 * (took_ns < last_ns ? took_ns : last_ns);
  next_snapshot_ns = end_ns + (rest_ns > snapshot_interval_ns() ? rest_ns : snapshot_interval_ns());
  last_ns = took_ns;
}

void hearth_dump_periodically(uint64_t now_ns) {
  uint64_t due = __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED);

  if (now_ns < due ||
      !__atomic_compare_exchange_n(&hearth_rt.next_due_ns, &due, UINT64_MAX, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  if (now_ns >= next_dump_ns) {
    next_dump_ns = after(now_ns, dump_interval_ns());
    hearth_dump();
  }
  if (now_ns >= next_snapshot_ns)
    write_snapshot_due(now_ns);
  publish_due();
}

static void spilled_name(hearth_text *text, uint64_t number) {
  hearth_text_format(text, "%s.%u.part%u", hearth_rt.options.log_path, hearth_rt.pid, number);
}

static void spill_locked(void) {
  static char buffer[HEARTH_OUTPUT_NAME];
  hearth_text text = hearth_text_begin(buffer, sizeof buffer);
  hearth_snapshot snapshot;

  if (!hearth_rt.mibs.wants_spill) /* another thread was faster */
    return;
  update_mappings();
  spilled_name(&text, spilled + 1);
  int error = take_snapshot(&snapshot, false);
  if (error == EDEADLK)
    return; /* another free will try again */
  if (!error) {
    error = write_profile_file(&snapshot, buffer, true);
    if (error)
      hearth_mib_table_restore(&hearth_rt.mibs, snapshot.mibs, &snapshot.histograms, snapshot.contexts);
    destroy_records(&snapshot);
  }
  if (error) {
    hearth_message("cannot spill records to %s: %s; blocks of contexts that find no room below the memory cap are "
                   "dropped",
                   buffer, hearth_error_name(error));
    hearth_mib_table_close(&hearth_rt.mibs);
    return;
  }
  ++spilled;
  spilled_ns += snapshot.duration_ns;
  if (hearth_snapshot_file_is_open()) /* its records are in both files */
    dump_locked(write_snapshot_file, false);
}

void hearth_dump_spill(void) {
  if (!is_recording())
    return;
  uint64_t signals = begin();
  spill_locked();
  finish(signals);
}

static void remove_spilled(void) {
  static char buffer[HEARTH_OUTPUT_NAME];

  for (; spilled > 0; --spilled) {
    hearth_text text = hearth_text_begin(buffer, sizeof buffer);
    spilled_name(&text, spilled);
    hearth_os_unlink(buffer);
  }
  spilled_ns = 0;
}

void hearth_dump_reset(void) {
  if (!is_recording())
    return;
  uint64_t signals = begin();
  if (hearth_threads_stop() > 0)
    hearth_message("the profile is reset while a thread records a block; that block may be counted twice");
  hearth_threads_forget_records();
  hearth_threads_continue();
  remove_spilled();
  finish(signals);
}

void hearth_dump_forget_file(void) {
  name[0] = '\0';
  hearth_snapshot_file_forget();
  spilled = 0;
  spilled_ns = 0;
}

void hearth_dump_lock(void) { hearth_lock_take(&dump_lock); }

void hearth_dump_unlock(void) { hearth_lock_give(&dump_lock); }

HEARTH_EXPORT int __memprof_profile_dump(void) { return hearth_dump() ? 0 : 1; }

HEARTH_EXPORT void __memprof_profile_reset(void) { hearth_dump_reset(); }
