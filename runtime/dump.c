#include "dump.h"

#include "lock.h"
#include "message.h"
#include "os.h"
#include "runtime.h"
#include "shadow.h"
#include "thread_state.h"

#include "hearth/rt.h"

#include <errno.h>

static hearth_lock dump_lock; /* one dump at a time: it owns `output` */
static hearth_output output;

static size_t snapshot_size(uint32_t contexts) {
  return ((size_t)contexts * sizeof(hearth_mib) + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);
}

typedef struct live_visit {
  hearth_snapshot *snapshot;
  hearth_moment now;
} live_visit;

/* A live block is recorded as if it were freed now, in the snapshot only. */
static void add_live(hearth_block *block, void *closure) {
  live_visit *visit = closure;

  if (block->context >= visit->snapshot->contexts || block->alloc_ns < hearth_rt.fork_ns)
    return;
  hearth_access_sum accesses = hearth_shadow_sum(hearth_block_memory(block), block->size);
  hearth_mib one = hearth_mib_of_block(block, accesses, visit->now);
  one.LiveAtExit = 1;
  hearth_mib_follow(&visit->snapshot->mibs[block->context], &one);
}

/* While the snapshot is taken nothing is allocated or freed, so that each block is in it once. A block that another
 * thread is just freeing may be missing; the next dump has it. */
static bool take_snapshot(hearth_snapshot *snapshot) {
  hearth_heap_lock();
  *snapshot = (hearth_snapshot){.contexts = hearth_depot_limit(&hearth_rt.depot), .depot = &hearth_rt.depot};
  snapshot->mibs = hearth_os_map(snapshot_size(snapshot->contexts));
  if (snapshot->mibs) {
    live_visit visit = {snapshot, {hearth_os_now_ns() - hearth_rt.start_ns, hearth_os_cpu()}};
    snapshot->duration_ns = visit.now.ns;
    hearth_mib_table_copy(&hearth_rt.mibs, snapshot->mibs, snapshot->contexts);
    hearth_heap_each(add_live, &visit);
  }
  hearth_heap_unlock();
  snapshot->accesses_counted = hearth_rt.accesses == HEARTH_ACCESSES_COUNTED;
  snapshot->start_unix_ns = hearth_rt.start_unix_ns;
  snapshot->pid = hearth_os_pid();
  snapshot->dropped_blocks = __atomic_load_n(&hearth_rt.dropped_blocks, __ATOMIC_RELAXED);
  snapshot->dropped_stacks = hearth_depot_dropped(&hearth_rt.depot);
  return snapshot->mibs != NULL;
}

/* Returns 0 or an error number. */
static int write_snapshot(const hearth_snapshot *snapshot, const char *name) {
  hearth_mappings mappings;

  int error = hearth_mappings_read(&mappings);
  if (error)
    return error;
  if (mappings.lost)
    hearth_message("%u mappings found no room in the profile", mappings.lost);
  hearth_output_begin(&output, &hearth_output_system, name);
  error = hearth_rt.options.format == HEARTH_FORMAT_LLVM ? hearth_dump_llvm(&output, snapshot, &mappings)
                                                         : hearth_dump_hearth(&output, snapshot, &mappings);
  hearth_mappings_destroy(&mappings);
  if (error && !output.error)
    output.error = error; /* so that what was written is removed */
  return hearth_output_finish(&output);
}

static bool dump_locked(void) {
  char buffer[HEARTH_OUTPUT_NAME];
  hearth_text name = hearth_text_begin(buffer, sizeof buffer);
  hearth_snapshot snapshot;
  int error = ENOMEM;

  hearth_text_format(&name, "%s.%u", hearth_rt.options.log_path, (uint64_t)hearth_os_pid());
  if (take_snapshot(&snapshot)) {
    error = write_snapshot(&snapshot, buffer);
    hearth_os_unmap(snapshot.mibs, snapshot_size(snapshot.contexts));
  }
  if (error)
    hearth_message("cannot write the profile %s: %s", buffer, hearth_error_name(error));
  else if (hearth_rt.options.verbosity > 0)
    hearth_message("profile written to %s, %u bytes", buffer, output.size);
  return error == 0;
}

bool hearth_dump(void) {
  if (!hearth_rt.recording)
    return false;
  hearth_watch_child();
  hearth_lock_take(&dump_lock);
  bool outer = hearth_this_thread.in_runtime;
  hearth_this_thread.in_runtime = true;
  bool written = dump_locked();
  hearth_this_thread.in_runtime = outer;
  hearth_lock_give(&dump_lock);
  return written;
}

void hearth_dump_reset(void) {
  if (hearth_rt.recording)
    hearth_mib_table_reset(&hearth_rt.mibs, hearth_depot_limit(&hearth_rt.depot));
}

void hearth_dump_lock(void) { hearth_lock_take(&dump_lock); }

void hearth_dump_unlock(void) { hearth_lock_give(&dump_lock); }

HEARTH_EXPORT int __memprof_profile_dump(void) { return hearth_dump() ? 0 : 1; }

HEARTH_EXPORT void __memprof_profile_reset(void) { hearth_dump_reset(); }
