/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A look reads how many pages of each slot were accessed since the look before, and clears the accessed bits. A
 * block that began in between has been written for the first time, and one that ended has had its header written:
 * their pages are taken for accessed, and only those of the others count. The system does not clear the bits of
 * pages that a forked child shares: they do not count either. Intervals are short and long by turns; the long ones
 * are so long that looking takes no more than its share of a processor. */
#include "block.h"
#include "clock.h"
#include "heap.h"
#include "os.h"
#include "output.h"
#include "own_thread.h"
#include "running_profile.h"

#define STANDARD_SAMPLE 262144u           /* bytes for each recorded block */
#define SHORT_INTERVAL  UINT64_C(2000000) /* on average, in ns */
#define LEAST_LONG      UINT64_C(60000000)
#define REST_FOR_COST   100u /* between looks, as a multiple of the time that one takes */
#define BUFFER_SIZE     ((size_t)32 << 10)
#define SMAPS           "/proc/self/smaps"

/* Intervals of two lengths: short ones tell much touched pages apart, long ones little touched ones. */
typedef enum hearth_touch_interval { HEARTH_TOUCH_LONG, HEARTH_TOUCH_SHORT } hearth_touch_interval;

/* The sums of a context, by interval, and the columns of its record that they become. */
enum {
  LOOKS,   /* pages looked at */
  TOUCHED, /* of these */
  LOOK_NS, /* sum of their intervals */
  OF_INTERVAL,
  PAGES = 2 * OF_INTERVAL, /* touched after long intervals */
  SUMS
};

static const uint8_t columns[SUMS] = {HEARTH_COL_Looks,       HEARTH_COL_TouchedLooks,      HEARTH_COL_LookTime,
                                      HEARTH_COL_ShortLooks,  HEARTH_COL_TouchedShortLooks, HEARTH_COL_ShortLookTime,
                                      HEARTH_COL_TouchedPages};

typedef struct hearth_touch_sums {
  uint64_t of[SUMS];
} hearth_touch_sums;

static struct {
  const char *fails; /* why it gave up, if it did */
  int smaps;         /* a descriptor of the thread's own */
  bool has_smaps;
  char *buffer;
  hearth_touch_sums *rows; /* by context */
  uint32_t row_count;
  hearth_touch_interval interval; /* the current one */
  bool known;                     /* some profile has looks, or is a part of one that may: all others are alike */
  bool has_looks;                 /* some row was written to: the others are not in memory */
  bool rested;                    /* sampling was stopped meanwhile: the next look only clears */
  uint64_t cleared_ns, cost_ns;
  uint64_t due_ns; /* the next look */
  hearth_sampler random;
} touches;

/* -------------------------------------------------- a look -------------------------------------------------- */

static uint64_t interval_ns; /* of the look that is being made */

static uint32_t count_bits(uint64_t bits) {
  uint32_t count = 0;

  for (; bits; bits &= bits - 1)
    ++count;
  return count;
}

/* Of so many bytes. If all of a context's blocks are touched at once, so are the pages that they would fill: no more
 * of them. */
static void touch_add(uint32_t context, uint32_t looks, uint32_t touched, uint32_t bytes) {
  if (context >= touches.row_count || looks == 0)
    return;
  hearth_touch_sums *row = &touches.rows[context];
  __atomic_store_n(&touches.has_looks, true, __ATOMIC_RELAXED);
  uint32_t pages = (bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES;
  uint64_t *of = row->of + touches.interval * OF_INTERVAL; /* dumps take from it */
  if (touches.interval == HEARTH_TOUCH_LONG)
    __atomic_fetch_add(&row->of[PAGES], touched < pages ? touched : pages, __ATOMIC_RELAXED);
  __atomic_fetch_add(&of[LOOKS], looks, __ATOMIC_RELAXED);
  __atomic_fetch_add(&of[TOUCHED], touched < looks ? touched : looks, __ATOMIC_RELAXED);
  __atomic_fetch_add(&of[LOOK_NS], looks * interval_ns, __ATOMIC_RELAXED);
}

static void add_slot(const hearth_page_counts *counts) {
  const hearth_watched_slot *slot = hearth_watched_slot_of((const void *)counts->start);

  if (counts->shared || !slot || slot->start != (char *)counts->start)
    return;
  uint64_t ended = __atomic_load_n(&slot->ended, __ATOMIC_ACQUIRE), passing = slot->used & (slot->fresh | ended);
  uint32_t context = __atomic_load_n(&slot->context, __ATOMIC_RELAXED);
  if (!hearth_watched_is_small(slot)) {
    touch_add(context, passing | ended ? 0 : slot->pages, counts->accessed,
              slot->pages * HEARTH_PAGE_BYTES); /* those that are not in memory, too */
    return;
  }
  uint32_t passed = count_bits(passing), bytes = 0;
  for (uint64_t left = slot->used & ~passing; left; left &= left - 1)
    bytes += slot->sizes[__builtin_ctzll(left)];
  touch_add(context, count_bits(slot->used & ~passing), counts->accessed > passed ? counts->accessed - passed : 0,
            bytes);
}

/* False: the system refuses. */
static bool read_counts(uintptr_t begin, uintptr_t end) {
  hearth_page_counts_reader reader = {.length = 0};
  uint64_t at = 0;

  for (long size;; at += (uint64_t)size) {
    size = hearth_os_read_at(touches.smaps, touches.buffer, BUFFER_SIZE, at);
    if (size <= 0)
      return size == 0;
    if (!hearth_page_counts_read(&reader, touches.buffer, (size_t)size, begin, end, add_slot))
      return true;
  }
}

static bool touch_clear(const char *start, const char *end) {
  bool cleared = hearth_system_forget_accesses((void *)(uintptr_t)start, (size_t)(end - start));

  touches.cleared_ns = hearth_os_now_ns();
  return cleared;
}

static void touch_look(void) {
  char *start, *end;

  hearth_watched_range(&start, &end);
  interval_ns = hearth_os_now_ns() - touches.cleared_ns;
  if (!touches.rested && !read_counts((uintptr_t)start, (uintptr_t)end)) {
    touches.fails = "cannot read " SMAPS;
    return;
  }
  touches.rested = false;
  hearth_watched_settle();
  if (!touch_clear(start, end))
    touches.fails = "cannot clear the accessed bits of pages (Linux before 5.4, or a filter of system calls)";
}

/* -------------------------------------------------- the thread -------------------------------------------------- */

static uint64_t draw_interval(void) {
  uint64_t rest = 2 * touches.cost_ns * REST_FOR_COST;
  uint64_t mean = touches.interval == HEARTH_TOUCH_SHORT ? SHORT_INTERVAL : rest > LEAST_LONG ? rest : LEAST_LONG;

  return mean / 2 + mean * hearth_sampler_below(&touches.random, 1024) / 1024;
}

static void take_look(void) {
  uint64_t before_ns = hearth_os_thread_ns();

  hearth_lock_take(&hearth_watched_lock);
  touch_look();
  hearth_lock_give(&hearth_watched_lock);
  uint64_t cost_ns = hearth_os_thread_ns() - before_ns;
  touches.cost_ns = touches.cost_ns ? touches.cost_ns - touches.cost_ns / 8 + cost_ns / 8 : cost_ns;
  touches.interval = touches.interval == HEARTH_TOUCH_SHORT ? HEARTH_TOUCH_LONG : HEARTH_TOUCH_SHORT;
}

/* Accesses are counted, and these looks are a second witness. */
static bool is_witness(void) { return hearth_rt.options.accesses != HEARTH_ACCESSES_BY_PAGES; }

/* The thread's files are its own: this descriptor is no number of the program's. */
static uint64_t step_looks(void) {
  uint64_t now_ns = hearth_os_now_ns();
  bool is_worth_it = !touches.fails && (!is_witness() || hearth_own_thread_is_worth_it());

  if (!touches.has_smaps)
    touches.smaps = hearth_os_open_read(SMAPS);
  touches.has_smaps = true;
  hearth_watched_switch(is_worth_it);
  if (!is_worth_it || __atomic_load_n(&hearth_rt.paused, __ATOMIC_RELAXED)) {
    touches.rested = true;
    return touches.fails ? UINT64_MAX : is_worth_it ? LEAST_LONG : HEARTH_OWN_THREAD_IDLE;
  }
  if (now_ns >= touches.due_ns) {
    take_look();
    touches.due_ns = now_ns + draw_interval();
  }
  return touches.due_ns - now_ns;
}

/* -------------------------------------------------- begin and end -------------------------------------------------- */

bool hearth_touches_are_wanted(void) {
  hearth_runtime_options *options = &hearth_rt.options;

  if (is_witness())
    return true;
  if (options->mode != HEARTH_MODE_AGGREGATE || options->format != HEARTH_FORMAT_HEARTH) {
    hearth_message(
        "option accesses: pages are only looked at with mode=aggregate and format=hearth; accesses will not be "
        "known");
    return false;
  }
  if (options->sample == 0)
    options->sample = STANDARD_SAMPLE;
  return true;
}

/* What the thread will need; it can tell nobody itself. */
static const char *touch_try(void) {
  char *start, *end;
  int fd = hearth_os_open_read(SMAPS);

  if (fd < 0)
    return "cannot read " SMAPS;
  hearth_os_close(fd);
  hearth_watched_range(&start, &end);
  return touch_clear(start, end) ? NULL : "the system cannot clear accessed bits of pages (Linux before 5.4?)";
}

static size_t touch_rows_size(void) { return HEARTH_WHOLE_PAGES(touches.row_count * sizeof *touches.rows); }

static const char *touch_begin(void) {
  if (hearth_rt.options.own_thread == HEARTH_OWN_THREAD_OFF)
    return "own_thread=off forbids the thread that looks";
  touches.row_count = hearth_rt.mibs.count;
  touches.rows = hearth_system_map_sparse(touch_rows_size());
  touches.buffer = hearth_system_map(HEARTH_WHOLE_PAGES(BUFFER_SIZE));
  if (!touches.rows || !touches.buffer)
    return "out of memory";
  if (!hearth_watched_create())
    return "no place for watched blocks at the addresses from 4 GiB, 64 GiB or 1 TiB on";
  const char *reason = touch_try();
  if (reason)
    return reason;
  hearth_sampler_begin(&touches.random, 1, hearth_rt.start_unix_ns ^ hearth_rt.pid << 40);
  touches.interval = HEARTH_TOUCH_LONG;
  touches.due_ns = touches.cleared_ns + draw_interval();
  return hearth_own_thread_begin(step_looks, false) ? NULL : "the system refuses a thread";
}

void hearth_touches_begin(void) {
  if (is_witness() && !hearth_pick_thread_runs())
    return;
  const char *reason = touch_begin();
  if (reason && is_witness())
    return;
  if (reason)
    hearth_message("option accesses=pages: %s; accesses will not be known", reason);
  else
    hearth_watched_switch(!is_witness());
}

/* A forked child has no such thread. */
static bool is_running(void) { return hearth_own_thread_does(step_looks); }

void hearth_touches_forget(void) {
  if (!is_running())
    return;
  hearth_lock_take(&hearth_watched_lock);
  hearth_system_discard(touches.rows, touch_rows_size());
  hearth_lock_give(&hearth_watched_lock);
}

void hearth_touches_end_in_child(void) { hearth_watched_switch(false); }

/* -------------------------------------------------- for dumps -------------------------------------------------- */

/* The numbers that the view has of a row. */
static hearth_touch_sums touch_read_row(uint32_t context) {
  hearth_touch_sums sums = {{0}};

  for (int i = 0; __atomic_load_n(&touches.has_looks, __ATOMIC_RELAXED) && context < touches.row_count && i < SUMS; ++i)
    sums.of[i] = __atomic_load_n(&touches.rows[context].of[i], __ATOMIC_RELAXED);
  return sums;
}

static bool has_looks(const hearth_touch_sums *sums) {
  return sums->of[LOOKS] > 0 || sums->of[OF_INTERVAL + LOOKS] > 0;
}

/* What instrumented code has counted besides does not count: accesses are estimated. */
static void forget_counts(hearth_mib *mib) {
  mib->TotalAccessCount = mib->MinAccessCount = mib->MaxAccessCount = 0;
  mib->TotalAccessDensity = mib->MinAccessDensity = mib->MaxAccessDensity = 0;
  mib->TotalLifetimeAccessDensity = mib->MinLifetimeAccessDensity = mib->MaxLifetimeAccessDensity = 0;
  mib->LookedLifetime = mib->TotalLifetime;
}

static void set_looks(hearth_mib *mib, const hearth_touch_sums *sums) {
  for (int i = 0; i < SUMS; ++i)
    mib->v[columns[i]] = sums->of[i];
}

bool hearth_touches_show(hearth_mib_view *mibs, bool is_part) {
  if (!is_running())
    return false;
  if (touches.fails && !is_witness())
    hearth_message("option accesses=pages: %s; looks ended early", touches.fails);
  touches.known = touches.known || is_part;
  for (uint32_t context = 0; context < mibs->count; ++context)
    if (hearth_mib_view_count(mibs, context) > 0) {
      hearth_touch_sums sums = touch_read_row(context);
      if (!is_witness())
        forget_counts(hearth_mib_view_change(mibs, context));
      else if (!has_looks(&sums))
        continue;
      set_looks(hearth_mib_view_change(mibs, context), &sums);
      touches.known = touches.known || sums.of[LOOKS] > 0;
    }
  return touches.known && !is_witness();
}

void hearth_touches_forget_shown(const hearth_mib_view *mibs) {
  for (uint32_t context = 0; is_running() && context < mibs->count && context < touches.row_count; ++context) {
    hearth_mib mib = hearth_mib_view_read(mibs, context);
    if (mib.AllocCount == 0 || (mib.Looks == 0 && mib.ShortLooks == 0)) /* most rows are never written to */
      continue;
    for (int i = 0; i < SUMS; ++i)
      __atomic_fetch_sub(&touches.rows[context].of[i], mib.v[columns[i]], __ATOMIC_RELAXED);
  }
}

/* "start-end flags ..." begins a mapping; then come lines such as "Rss:  16 kB", of which two matter. */

#define KIB_PER_PAGE 4u

static uintptr_t read_address(const char *line, uint32_t length) {
  uintptr_t address = 0;

  for (uint32_t i = 0; i < length && line[i] != '-'; ++i)
    address = address << 4 | (uintptr_t)(line[i] <= '9' ? line[i] - '0' : line[i] - 'a' + 10);
  return address;
}

/* The number behind the name, if the line has that name. */
static bool read_number(const char *line, uint32_t length, const char *name, uint32_t *ret) {
  uint32_t i = 0, number = 0;

  for (; name[i]; ++i)
    if (i >= length || line[i] != name[i])
      return false;
  for (; i < length; ++i)
    if (line[i] >= '0' && line[i] <= '9')
      number = number * 10 + (uint32_t)(line[i] - '0');
  *ret = number / KIB_PER_PAGE;
  return true;
}

static bool begins_mapping(const char *line, uint32_t length) {
  return length > 0 && ((line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f'));
}

static bool end_line(hearth_page_counts_reader *reader, uintptr_t begin, uintptr_t end,
                     hearth_page_counts_visit *visit) {
  hearth_page_counts *counts = &reader->counts;

  if (begins_mapping(reader->line, reader->length)) {
    *counts = (hearth_page_counts){.start = read_address(reader->line, reader->length)};
    return counts->start < end;
  }
  uint32_t shared = 0;
  read_number(reader->line, reader->length, "Shared_Dirty:", &shared);
  counts->shared = counts->shared || shared > 0;
  if (read_number(reader->line, reader->length, "Referenced:", &counts->accessed) && counts->start >= begin)
    visit(counts);
  return true;
}

bool hearth_page_counts_read(hearth_page_counts_reader *reader, const char *text, size_t size, uintptr_t begin,
                             uintptr_t end, hearth_page_counts_visit *visit) {
  for (size_t i = 0; i < size; ++i) {
    if (text[i] != '\n') {
      if (reader->length < sizeof reader->line)
        reader->line[reader->length++] = text[i];
      continue;
    }
    if (!end_line(reader, begin, end, visit))
      return false;
    reader->length = 0;
  }
  return true;
}
