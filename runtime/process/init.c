/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Start and end of profiling. The heap works from the first malloc on, which may come before anything else; recording
 * begins before all constructors of the program (program_entry.c, library_entry.c). */
#include "blocks.h"
#include "clock.h"
#include "dump.h"
#include "heap.h"
#include "history.h"
#include "mappings.h"
#include "mib_table.h"
#include "os.h"
#include "output.h"
#include "own_thread.h"
#include "process.h"
#include "running_profile.h"
#include "scopes.h"
#include "shadow.h"
#include "thread_state.h"
#include "unwind.h"

#include "hearth/rt.h"

#include <pthread.h>
#include <string.h>

/* Emitted by clang, or defined by the program. */
extern const char __memprof_profile_filename[] __attribute__((weak));
extern const char __memprof_histogram __attribute__((weak)); /* 1: -memprof-histogram */
extern const char __memprof_default_options_str[] __attribute__((weak));
extern const char *__memprof_default_options(void) __attribute__((weak));

const char *hearth_environment_find(char *const *environment, const char *name) {
  size_t length = strlen(name);

  for (; environment && *environment; ++environment)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  return NULL;
}

/* In rising precedence. */
static void read_options(hearth_runtime_options *options, char **environment) {
  hearth_runtime_options_begin(options);
  if (__memprof_profile_filename) {
    hearth_text path = hearth_text_begin(options->log_path, sizeof options->log_path);
    hearth_pattern_add_literal(&path, __memprof_profile_filename);
    hearth_text_add(&path, ".%e.%p.%u"); /* as in the default */
  }
  hearth_runtime_options_apply(options, __memprof_default_options_str, "__memprof_default_options_str");
  if (__memprof_default_options)
    hearth_runtime_options_apply(options, __memprof_default_options(), "__memprof_default_options()");
  if (hearth_os_is_privileged())
    return;
  hearth_runtime_options_apply(options, hearth_environment_find(environment, "MEMPROF_OPTIONS"), "MEMPROF_OPTIONS");
  hearth_runtime_options_apply(options, hearth_environment_find(environment, "HEARTH_OPTIONS"), "HEARTH_OPTIONS");
  if (hearth_recorder)
    hearth_runtime_options_apply(options, hearth_environment_find(environment, HEARTH_RECORD_VARIABLE),
                                 HEARTH_RECORD_VARIABLE);
}

/* The caller of a set-user-id program chooses its working directory, and must not make files there with rights that
 * it lacks. */
static bool is_place_trusted(void) {
  if (!hearth_os_is_privileged() || hearth_rt.options.log_path[0] == '/')
    return true;
  hearth_message("nothing is recorded: the program has rights that its caller lacks (set-user-id or the like), and its "
                 "build names no "
                 "absolute path for profiles (-fmemory-profile=/FOLDER, or log_path in __memprof_default_options)");
  return false;
}

/* The program may change its working directory: the profile goes where it was started. */
static void make_absolute(char *path, size_t size) {
  static char directory[HEARTH_OPTION_TEXT_SIZE], absolute[HEARTH_OPTION_TEXT_SIZE];
  hearth_text text = hearth_text_begin(absolute, sizeof absolute);

  if (path[0] == '/' || !hearth_os_working_directory(directory, sizeof directory))
    return;
  hearth_pattern_add_literal(&text, directory);
  hearth_text_add(&text, "/");
  hearth_text_add(&text, path);
  if (!text.cut)
    memcpy(path, absolute, text.length + 1 < size ? text.length + 1 : size);
}

static bool is_to_trace(void) { return hearth_recorder && hearth_rt.options.mode == HEARTH_MODE_TRACE; }

static bool reserve_tables(void) {
  uint32_t contexts = hearth_rt.options.max_contexts;
  uint32_t own_calls =
      1 + hearth_rt.options.stack_depth / 4;        /* of a stack that no other shares; recursive parsers have 2 to 3 */
  bool records = !is_to_trace() && !hearth_rt.live; /* else no context has one */

  if (!hearth_mappings_create() || !hearth_context_names_create() ||
      !hearth_depot_create(&hearth_rt.depot, contexts, own_calls))
    return false;
  if (!records)
    return true;
  if (!hearth_mib_table_create(&hearth_rt.mibs, contexts + 1))
    return false;
  return !hearth_shadow_is_histogram ||
         hearth_histograms_create(&hearth_rt.mibs.histograms, contexts + 1, hearth_rt.options.histogram_size);
}

/* Code that was not instrumented adds to no counters. Instrumented code adds to those of
 * libhearth_rt.so, which hold nothing for a recorder. */
static void reserve_counters(void) {
  if (hearth_recorder) {
    hearth_shadow_ignore();
    hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
    return;
  }
  hearth_shadow_is_histogram = hearth_shadow_is_coarse = &__memprof_histogram && __memprof_histogram;
  if (hearth_shadow_reserve())
    return;
  hearth_message("cannot reserve five eighths of the address space for access counters (see ulimit -v and -d, and "
                 "/proc/sys/vm/overcommit_memory, which must not be 2); the profile will have no access counts");
  hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
}

void hearth_start_without_blocks(void) {
  hearth_runtime_options_begin(&hearth_rt.options);
  reserve_counters();
  hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
}

static hearth_path choose_path(void) {
  if (!hearth_rt.recording)
    return HEARTH_PATH_SLOW;
  if (hearth_rt.tracing)
    return HEARTH_PATH_TRACE;
  if (hearth_rt.options.sample > 0)
    return HEARTH_PATH_SAMPLE;
  if (hearth_shadow_is_histogram || hearth_rt.options.verify_contexts > 0)
    return HEARTH_PATH_SLOW;
  return hearth_rt.live ? HEARTH_PATH_LIVE : HEARTH_PATH_RECORD;
}

static uint32_t forking_process; /* 0: the child has begun */
static uint64_t fork_signals;    /* that were blocked before */
static uintptr_t outer_fork;

/* Signal handlers find no lock that they could take, nor data that they could change without. */
static void lock_for_fork(void) {
  uint64_t signals = hearth_os_block_signals();

  hearth_dump_lock();
  fork_signals = signals;
  hearth_mappings_lock();
  hearth_threads_stop();
  forking_process = hearth_os_pid();
  outer_fork = hearth_fork_enter();
}

static void begin_child(void) {
  forking_process = 0;
  hearth_message_file_begin_child();
  if (!hearth_rt.recording)
    return;
  hearth_threads_begin();
  hearth_threads_forget_records();
  hearth_threads_forget_others();
  hearth_touches_end_in_child();
  hearth_static_data_clear();
  hearth_dump_forget_file();
  hearth_rt.pid = hearth_os_pid();
  hearth_rt.start_number = hearth_os_random();
  hearth_this_thread.sampler = (hearth_sampler){0}; /* its samples are not to be its parent's */
  hearth_rt.dropped_blocks = 0;
  hearth_rt.depot.dropped = 0;
  /* From here this thread counts on. As times in headers are rounded, so is this, or the first blocks would seem older. */
  hearth_rt.fork_ns = hearth_header_round_time(hearth_clock_read() - hearth_rt.start_ns);
  hearth_dump_schedule(hearth_rt.fork_ns);
  hearth_rt.recording = hearth_rt.options.follow_children;
  hearth_rt.tracing = hearth_rt.tracing && hearth_rt.recording;
  hearth_rt.path = choose_path();
  if (hearth_rt.recording)
    hearth_counter_laps_begin();
  if (hearth_rt.tracing)
    hearth_recorder->begin_child();
}

static void watch_child(void) {
  if (hearth_this_thread_forks() && forking_process && forking_process != hearth_os_pid())
    begin_child();
}

static void unlock_after_fork(void) {
  uint64_t signals = fork_signals;

  hearth_fork_leave(outer_fork);
  hearth_threads_continue();
  hearth_mappings_unlock();
  hearth_dump_unlock();
  hearth_os_restore_signals(signals);
}

static void unlock_in_child(void) {
  if (forking_process)
    begin_child();
  hearth_lock_others_are_gone = true;
  unlock_after_fork();
  hearth_lock_others_are_gone = false;
}

/* A child that is forked while another thread holds one of our locks could never take it. Registered here and not in
 * `start`, which comes too early for the C library. */
__attribute__((constructor)) static void watch_fork(void) {
  pthread_atfork(lock_for_fork, unlock_after_fork, unlock_in_child);
}

void hearth_start(char **environment) {
  hearth_threads_known = true;
  hearth_hooks = (hearth_heap_hooks){hearth_dump_due, watch_child};
  hearth_message_file_begin();
  hearth_ensure_heap();
  hearth_rt.pid = hearth_os_pid();
  hearth_rt.start_number = hearth_os_random();
  hearth_rt.start_ns = hearth_os_now_ns() / HEARTH_CLOCK_STEP * HEARTH_CLOCK_STEP;
  hearth_clock_begin();
  hearth_os_cpu_begin();
  hearth_rt.start_unix_ns = hearth_os_unix_ns();
  bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime); /* reading the options calls the program */
  read_options(&hearth_rt.options, environment);
  hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
  bool has_place = is_place_trusted();
  make_absolute(hearth_rt.options.log_path, sizeof hearth_rt.options.log_path);
  if (hearth_rt.options.help)
    hearth_runtime_options_print(&hearth_rt.options);
  if (!hearth_recorder && hearth_rt.options.mode != HEARTH_MODE_AGGREGATE)
    hearth_message("option mode: only 'hearth record' writes traces; this is a profile");
  hearth_unwind_begin(hearth_rt.options.unwind == HEARTH_UNWIND_FP);
  hearth_threads_begin();
  reserve_counters();
  hearth_header_begin(hearth_rt.options.max_contexts + 1, hearth_os_cpu_count());
  if (!has_place)
    return;
  bool looks = hearth_touches_are_wanted();
  hearth_rt.live = hearth_rt.options.mode == HEARTH_MODE_LIVE;
  if (!reserve_tables()) {
    if (hearth_recorder)
      hearth_recorder->give_up();
    hearth_message("cannot reserve address space for %u contexts; nothing is recorded (see option max_contexts)",
                   (uint64_t)hearth_rt.options.max_contexts);
    return;
  }
  if (is_to_trace() && !hearth_recorder->begin())
    return;
  hearth_dump_schedule(0);
  hearth_rt.tracing = is_to_trace();
  hearth_rt.paused = hearth_rt.options.paused;
  hearth_rt.recording = true;
  hearth_rt.path = choose_path();
  hearth_rt.tracks_peak = hearth_rt.live && hearth_rt.options.heap_peak;
  hearth_rt.counts_live = hearth_rt.live ? hearth_rt.tracks_peak : !hearth_rt.tracing;
  if (hearth_rt.live)
    hearth_live_begin();
  else if (hearth_rt.counts_live)
    hearth_history_begin();
  if (!hearth_recorder || !hearth_recorder->is_guest) {
    hearth_signals_begin();
    hearth_loader_begin();
  }
  hearth_pick_thread_begin();
  if (looks)
    hearth_touches_begin();
  hearth_counter_laps_begin();
}

void hearth_start_again(char **environment) {
  bool outer = hearth_guard_enter(&hearth_this_thread.in_runtime);

  read_options(&hearth_rt.options, environment);
  hearth_guard_leave(&hearth_this_thread.in_runtime, outer);
  hearth_rt.start_ns = hearth_os_now_ns() / HEARTH_CLOCK_STEP * HEARTH_CLOCK_STEP;
  hearth_rt.start_unix_ns = hearth_os_unix_ns();
  if (!hearth_recorder->begin())
    return;
  hearth_rt.ended = false;
  hearth_rt.tracing = true;
  hearth_rt.path = choose_path();
}

static void tell_verified(void) {
  if (hearth_rt.options.verify_contexts > 0)
    hearth_message("%u contexts were found, and %u of them differ from those of unwinding",
                   __atomic_load_n(&hearth_rt.verified_contexts, __ATOMIC_RELAXED),
                   __atomic_load_n(&hearth_rt.differing_contexts, __ATOMIC_RELAXED));
}

void hearth_finish(void) {
  tell_verified();
  hearth_dump_at_end();
  hearth_rt.ended = true;
  hearth_rt.tracing = false;
  hearth_rt.path = choose_path();
}
