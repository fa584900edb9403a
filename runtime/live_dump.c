#include "live_dump.h"

#include "allocators.h"
#include "context_names.h"
#include "live_blocks.h"
#include "message.h"
#include "os.h"
#include "output.h"
#include "profile_file.h"
#include "runtime.h"
#include "thread_cache.h"

#include <errno.h>

static uint32_t dump_count;                            /* files NAME.N */
static char peak_name[HEARTH_OUTPUT_NAME];             /* of NAME.peak, once it was written; "": not yet */
static int told_error;                                 /* of dumps that could not be written; 0: none */
static const char profiler_name[] = "hearth:profiler"; /* of the heap that the profiler's own memory is shown as */

/* -- the peak -------------------------------------------------------------------------------------------------------- */

/* A dump stops all threads. One is due before a block ends after which less is live by a step, if what is live is 1 % more than
 * what the last dump has, or 1/256 as far as that takes no more than a tenth of the time; so the peak is found, to a step. As
 * programs may end at any time, there is also one for each 1 % that the heap grows, within the same tenth. */
#define LEAST_STEP UINT64_C(1024)
#define MOST_STEP  (UINT64_C(256) << 10)
#define STEP_PART  512
#define FINE_PART  256
#define FIRST_PEAK (UINT64_C(16) << 10)

uint64_t hearth_live_step = LEAST_STEP;

static int64_t live_bytes;    /* atomic, as are the following */
static uint64_t most_bytes;   /* that were ever live */
static uint64_t dumped_bytes; /* of these, when the peak was last dumped */
static uint64_t file_bytes;   /* that were live when NAME.peak was written; who dumps has a lock */
static uint64_t rest_until_ns;
static bool is_due;
bool hearth_live_gate;

static uint64_t note_most(uint64_t bytes) {
  uint64_t most = __atomic_load_n(&most_bytes, __ATOMIC_RELAXED);

  while (bytes > most &&
         !__atomic_compare_exchange_n(&most_bytes, &most, bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  return bytes > most ? bytes : most;
}

static bool has_rested(void) {
  return hearth_os_now_ns() - hearth_rt.start_ns >= __atomic_load_n(&rest_until_ns, __ATOMIC_RELAXED);
}

static bool is_peak(uint64_t most, bool grows) {
  uint64_t known = __atomic_load_n(&dumped_bytes, __ATOMIC_RELAXED);
  bool is_clear = most > known + known / 100;

  if (most < FIRST_PEAK || most <= known + known / FINE_PART)
    return false;
  return grows ? is_clear && has_rested() : is_clear || has_rested();
}

/* Have the next call that ends outside of all sections dump; not while another thread is at it. */
static void ask(void) {
  uint64_t due = __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED);

  __atomic_store_n(&hearth_live_gate, true, __ATOMIC_RELAXED);
  __atomic_store_n(&is_due, true, __ATOMIC_RELAXED);
  while (due != UINT64_MAX &&
         !__atomic_compare_exchange_n(&hearth_rt.next_due_ns, &due, 0, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static void tell(int64_t change, bool grows) {
  hearth_this_thread.live_change = 0;
  int64_t now = __atomic_add_fetch(&live_bytes, change, __ATOMIC_RELAXED);
  uint64_t bytes = now > 0 ? (uint64_t)now : 0, step = bytes / STEP_PART;
  __atomic_store_n(&hearth_live_step,
                   step < LEAST_STEP  ? LEAST_STEP
                   : step > MOST_STEP ? MOST_STEP
                                      : step,
                   __ATOMIC_RELAXED);
  uint64_t most = note_most(bytes);
  if (!__atomic_load_n(&is_due, __ATOMIC_RELAXED) && is_peak(most, grows))
    ask();
}

void hearth_live_tell(void) { tell(hearth_this_thread.live_change, hearth_this_thread.live_change > 0); }

void hearth_live_tell_before(void) { tell(hearth_this_thread.live_change, false); }

bool hearth_live_is_at_peak(void) {
  return hearth_rt.tracks_peak && is_peak(__atomic_load_n(&most_bytes, __ATOMIC_RELAXED), false);
}

bool hearth_live_peak_is_due(void) { return __atomic_load_n(&is_due, __ATOMIC_RELAXED); }

void hearth_live_let_go(void) { __atomic_store_n(&hearth_live_gate, false, __ATOMIC_RELAXED); }

void hearth_live_wait(void) {
  hearth_patience patience = {0};

  while (__atomic_load_n(&hearth_live_gate, __ATOMIC_RELAXED) &&
         __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED) == UINT64_MAX && hearth_patience_left(&patience))
    ;
}

bool hearth_live_take_peak(void) { return __atomic_exchange_n(&is_due, false, __ATOMIC_RELAXED); }

static uint64_t count_live_bytes(void) {
  int64_t now = __atomic_load_n(&live_bytes, __ATOMIC_RELAXED);

  return now > 0 ? (uint64_t)now : 0;
}

/* What was live when threads were stopped for a dump; they may have gone on since. */
typedef struct stopped_at {
  uint64_t bytes, most_bytes;
} stopped_at;

static stopped_at note_stop(void) {
  return (stopped_at){count_live_bytes(), __atomic_load_n(&most_bytes, __ATOMIC_RELAXED)};
}

static void note_peak(uint64_t begin_ns, uint64_t most) {
  uint64_t end_ns = hearth_os_now_ns() - hearth_rt.start_ns;

  __atomic_store_n(&dumped_bytes, most, __ATOMIC_RELAXED);
  __atomic_store_n(&rest_until_ns, end_ns + 9 * (end_ns - begin_ns), __ATOMIC_RELAXED);
}

/* -- dumps ----------------------------------------------------------------------------------------------------------- */

/* The context that stands for the profiler's own memory; 0: there is no room. */
static uint32_t profiler_context(void) {
  uint32_t name = hearth_context_name(profiler_name);
  uint64_t pc = HEARTH_RAW_HEAP_PC | name;
  bool is_new;

  return name == HEARTH_NO_NAME ? 0 : hearth_depot_insert(&hearth_rt.depot, &pc, 1, &is_new);
}

static uint64_t own_memory(void) {
  hearth_heap_usage usage = hearth_heap_get_usage();

  return hearth_depot_memory(&hearth_rt.depot) + hearth_context_names_memory() + hearth_allocators_memory() +
         hearth_threads_memory() + usage.blocks * sizeof(hearth_block);
}

static void add_own_memory(hearth_live_blocks *live, uint32_t context) {
  uint64_t size = own_memory();

  if (context > 0 && context < live->context_count)
    hearth_live_blocks_add(
        live, context,
        &(hearth_mib){{.AllocCount = 1, .MinSize = size, .MaxSize = size, .TotalSize = size, .LiveAtExit = 1}});
}

static void list_contexts(hearth_snapshot *snapshot, const hearth_live_blocks *live) {
  for (uint32_t context = 0; context < live->context_count; ++context)
    if (live->first[context])
      *hearth_depot_list(snapshot->depot, snapshot->count++) = context;
}

static hearth_page_map *open_pages(hearth_page_map *pages) {
  static bool told;

  if (!hearth_rt.options.residency)
    return NULL;
  int error = hearth_page_map_open(pages);
  if (error && !told)
    hearth_message("/proc/self/pagemap: %s: heap dumps do not say where bytes are", hearth_error_name(error));
  told |= error != 0;
  return error ? NULL : pages;
}

/* Threads are stopped meanwhile. */
static int write(const char *file, bool replace, enum hearth_raw_occasion occasion, stopped_at *ret_at) {
  static hearth_page_map page_map; /* signal stacks are small; who dumps has a lock */
  hearth_live_blocks live;
  uint32_t profiler = profiler_context();
  unsigned missed = hearth_threads_stop();
  *ret_at = note_stop();
  hearth_snapshot snapshot = {.depot = &hearth_rt.depot,
                              .live = &live,
                              .occasion = occasion,
                              .accesses_counted = hearth_rt.accesses == HEARTH_ACCESSES_COUNTED,
                              .start_unix_ns = hearth_rt.start_unix_ns,
                              .duration_ns = hearth_os_now_ns() - hearth_rt.start_ns,
                              .pid = hearth_rt.pid,
                              .sample_bytes = hearth_rt.options.sample,
                              .dropped_blocks = missed + __atomic_load_n(&hearth_rt.dropped_blocks, __ATOMIC_RELAXED),
                              .dropped_stacks = hearth_depot_dropped(&hearth_rt.depot)};
  hearth_page_map *pages = open_pages(&page_map);
  int error = hearth_live_blocks_take(&live, pages) ? 0 : ENOMEM;

  snapshot.has_residency = pages != NULL;
  if (!error) {
    add_own_memory(&live, profiler);
    list_contexts(&snapshot, &live);
    error = live.incomplete ? ENOMEM : hearth_profile_file_write_as(&snapshot, file, replace);
  }
  hearth_live_blocks_destroy(&live);
  if (pages)
    hearth_page_map_close(pages);
  if (pages && page_map.knows_writes)
    hearth_page_map_watch(); /* up to the next dump */
  hearth_threads_continue();
  return error;
}

static void name_file(hearth_text *text, enum hearth_raw_occasion occasion) {
  hearth_profile_file_name(text);
  if (occasion == HEARTH_RAW_PEAK)
    hearth_text_add(text, ".peak");
  else
    hearth_text_format(text, ".%u", ++dump_count);
}

bool hearth_live_dump(enum hearth_raw_occasion occasion) {
  static char name[HEARTH_OUTPUT_NAME];
  uint64_t begin_ns = hearth_os_now_ns() - hearth_rt.start_ns;
  hearth_text text = hearth_text_begin(name, sizeof name);
  bool again = occasion == HEARTH_RAW_PEAK && peak_name[0];
  stopped_at at = note_stop();

  if (again && at.bytes <= file_bytes) { /* others have freed so much since the dump became due */
    note_peak(begin_ns, at.most_bytes);
    return true;
  }
  if (again)
    hearth_text_add(&text, peak_name);
  else
    name_file(&text, occasion);
  int error = write(name, again, occasion, &at);
  if (occasion == HEARTH_RAW_PEAK)
    note_peak(begin_ns, at.most_bytes);
  if (error) {
    if (hearth_message_is_new(&told_error, error))
      hearth_message("cannot write the heap dump %s: %s", name, hearth_error_name(error));
    return false;
  }
  if (occasion == HEARTH_RAW_PEAK)
    file_bytes = at.bytes;
  if (occasion == HEARTH_RAW_PEAK && !again) {
    text = hearth_text_begin(peak_name, sizeof peak_name);
    hearth_text_add(&text, hearth_profile_file_written());
  }
  if (hearth_rt.options.verbosity > 0 && !again)
    hearth_message("heap dump written to %s", hearth_profile_file_written());
  return true;
}

void hearth_live_begin(void) {
  if (hearth_rt.options.residency && !hearth_page_map_watch())
    hearth_message(
        "the kernel does not say which pages are written to (soft-dirty): heap dumps say where bytes are, but not "
        "which of them are no longer written to");
}

void hearth_live_forget_files(void) {
  dump_count = 0;
  told_error = 0;
  peak_name[0] = '\0';
  dumped_bytes = most_bytes = file_bytes = 0;
  live_bytes = 0; /* its parent's blocks do not count */
}
