/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A window: choose pages, look, wait, look again, sum up. Windows are 0.1 to 10 ms long, and come at random: the times
 * between them are distributed exponentially, and so long on average that looking takes no more than a small part of the
 * time. The first ones come more often, as many programs end soon; later ones have more weight, so all moments of a run have the
 * same. A small heap fits the caches: there are no windows before it has grown.
 *
 * The thread takes no lock that the program's threads take to allocate or free; only dumps take its own. It ends when the
 * program's first thread does, or the process would not. */
#include "windows.h"

#include "heap.h"
#include "lock.h"
#include "looks.h"
#include "own_thread.h"
#include "pair_sums.h"
#include "picks.h"
#include "running_profile.h"
#include "tracts.h"

#define LEAST_HEAP      ((size_t)4 << 20) /* bytes of tracts */
#define LEAST_LENGTH    UINT64_C(100000)  /* of a window, in ns */
#define MOST_LENGTH     UINT64_C(10000000)
#define DOUBLINGS       7                    /* from the least length to the greatest */
#define LEAST_GAP       UINT64_C(2000000)    /* mean time between windows of MOST_WEIGHT, in ns */
#define LEAST_PICKS_GAP UINT64_C(4000000)    /* between looks at picks, in ns */
#define NEW_PICKS_GAP   UINT64_C(4000000)    /* mean time between moments at which new ones are drawn */
#define NEW_PICKS       16u                  /* at such a moment */
#define MOST_OF_MOMENT  (10 * NEW_PICKS_GAP) /* time that one stands for */
#define WEIGHT_UNIT     65536u               /* of such times, in ns */
#define IDLE_GAP        UINT64_C(4000000)    /* between questions whether there is something to look at */
#define GAP_FOR_COST    100                  /* the same, as a multiple of the time that a window's looks take */
#define MOST_WEIGHT     4u                   /* of a window; those that weigh half as much come twice as often */
#define OF_A_WEIGHT     64u                  /* windows, before the weight doubles */
#define LEAST_PAGES     64u
#define LIVE_PART       32u /* live blocks are counted in one page of so many */

static struct {
  hearth_lock lock; /* of all but `looks` and what follows it */
  bool running;
  uint64_t dump;
  uint32_t weight, left; /* of the next windows; how many they are */
  uint64_t totals[HEARTH_RAW_TOTALS];
  hearth_touched_sums touched;
  hearth_pair_sums pairs;
  hearth_picks picks;
  uint64_t start_ns;                 /* of the run */
  uint64_t picks_due_ns;             /* when they are looked at again */
  uint64_t due_ns, new_picks_due_ns; /* the next window, and the next picks */
  uint64_t moment_ns;                /* of the last picks */
  hearth_looks *looks;
  hearth_sampler random;
  uint64_t cost_ns, page_ns; /* of a window, and of a look at a page: decaying means */
  uint64_t others_ns;        /* CPU time of the program at the last window or picks */
} windows;

/* -------------------------------------------------- one window -------------------------------------------------- */

static uint64_t draw_length(void) {
  uint64_t least = LEAST_LENGTH << hearth_sampler_below(&windows.random, DOUBLINGS);
  uint64_t length = least + hearth_sampler_below(&windows.random, least);

  return length < MOST_LENGTH ? length : MOST_LENGTH;
}

/* A bit for each line of which both have a granule. */
static uint64_t lines_of(const hearth_page_bits *a, const hearth_page_bits *b) {
  uint64_t lines = 0;

  for (size_t i = 0; i < HEARTH_PAGE_WORDS; ++i) {
    uint64_t both = a->words[i] & b->words[i];
    both = (both | both >> 1 | both >> 2 | both >> 3) & UINT64_C(0x1111111111111111);
    both = (both | both >> 3) & UINT64_C(0x0303030303030303);
    both = (both | both >> 6) & UINT64_C(0x000f000f000f000f);
    both = (both | both >> 12) & UINT64_C(0x000000ff000000ff);
    lines |= ((both | both >> 24) & UINT16_MAX) << 16 * i;
  }
  return lines;
}

/* Compilers call a function of their library for it where the processor may have no instruction. */
static uint32_t count_bits(uint64_t bits) {
  uint32_t count = 0;

  for (; bits; bits &= bits - 1)
    ++count;
  return count;
}

/* A line that blocks of one context share is one. */
static void add_block(const hearth_seen_block *block, const hearth_page_bits *touched, uint64_t page,
                      bool counts_live) {
  hearth_touched_row *row = hearth_touched_sums_see(&windows.touched, block->context);
  uint64_t lines = lines_of(touched, &block->granules);

  if (!row)
    return;
  if (counts_live && block->is_live)
    row->live += LIVE_PART * HEARTH_SHARE / block->pages;
  if (lines == 0)
    return;
  if (row->page != page) {
    row->page = page;
    row->page_lines = 0;
    ++row->pages;
  }
  row->lines += count_bits(lines & ~row->page_lines);
  row->page_lines |= lines;
  row->blocks += HEARTH_SHARE / block->pages;
}

/* To find a block, its header is read: of blocks that were not touched, only in some pages. */
static void sum_up(void) {
  static const hearth_page_bits all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
  hearth_seen_block seen[HEARTH_SEEN_MOST];
  const hearth_looks *looks = windows.looks;

  hearth_touched_sums_begin_window(&windows.touched);
  for (uint32_t i = 0; i < looks->count; ++i) {
    bool counts_live = (i + windows.touched.window) % LIVE_PART == 0;
    uint32_t count = hearth_heap_see(looks->page[i], counts_live ? &all : &looks->touched[i], seen);
    for (uint32_t k = 0; k < count; ++k)
      add_block(&seen[k], &looks->touched[i], windows.touched.window * HEARTH_LOOKS_MOST + i, counts_live);
  }
  hearth_touched_sums_end_window(&windows.touched, looks->pages, looks->sampled, windows.weight);
  hearth_pair_sums_add_window(&windows.pairs, &windows.touched, looks->pages, looks->sampled, windows.weight);
}

static void look_at_picks(uint64_t now_ns) {
  uint64_t before_ns = hearth_os_thread_ns();

  hearth_picks_look(&windows.picks, now_ns, now_ns - windows.start_ns, &windows.random, &windows.touched);
  uint64_t gap_ns = (hearth_os_thread_ns() - before_ns) * GAP_FOR_COST;
  windows.picks_due_ns = now_ns + (gap_ns > LEAST_PICKS_GAP ? gap_ns : LEAST_PICKS_GAP);
}

static void count_of_weight(void) {
  if (windows.weight == MOST_WEIGHT || --windows.left > 0)
    return;
  windows.weight *= 2;
  windows.left = OF_A_WEIGHT;
}

static void add_window(uint64_t length_ns) {
  uint64_t pages = windows.looks->count * windows.looks->pages / windows.looks->sampled; /* that the heap uses */

  hearth_pair_sums_reserve(&windows.pairs);
  sum_up();
  windows.totals[HEARTH_RAW_WINDOWS] += windows.weight;
  windows.totals[HEARTH_RAW_WINDOW_NS] += length_ns * windows.weight;
  windows.totals[HEARTH_RAW_SAMPLED_PAGES] += (uint64_t)windows.looks->count * windows.weight;
  windows.totals[HEARTH_RAW_PAGES] += pages * windows.weight;
  count_of_weight();
}

/* Where the program waited since the last window or picks, there is nothing to see of the memory that it uses. */
static bool has_run(bool touched) {
  uint64_t before_ns = windows.others_ns;

  windows.others_ns = hearth_os_process_ns() - hearth_os_thread_ns();
  return touched || windows.others_ns > before_ns;
}

static void decay(uint64_t *mean, uint64_t value) { *mean = *mean ? *mean - *mean / 8 + value / 8 : value; }

static void take_window(void) {
  hearth_looks *looks = windows.looks;
  uint64_t length_ns = draw_length(), pages = windows.page_ns ? length_ns / 2 / windows.page_ns : LEAST_PAGES;
  pages = pages < LEAST_PAGES ? LEAST_PAGES : pages > HEARTH_LOOKS_MOST ? HEARTH_LOOKS_MOST : pages;
  hearth_looks_choose(looks, (uint32_t)pages, &windows.random);
  if (looks->count == 0)
    return;
  uint64_t begin_ns = hearth_os_now_ns(), before_ns = hearth_os_thread_ns();
  hearth_looks_first(looks);
  uint64_t looked_ns = hearth_os_now_ns();
  if (looked_ns < begin_ns + length_ns)
    hearth_own_thread_sleep(begin_ns + length_ns - looked_ns);
  uint64_t end_ns = hearth_os_now_ns();
  bool touched = hearth_looks_second(looks);
  if (has_run(touched)) {
    hearth_lock_take(&windows.lock);
    add_window(end_ns - begin_ns);
    hearth_lock_give(&windows.lock);
  }
  decay(&windows.cost_ns, hearth_os_thread_ns() - before_ns);
  decay(&windows.page_ns, (looked_ns - begin_ns) / looks->count + 1);
}

/* -------------------------------------------------- picks -------------------------------------------------- */

/* Of all pages, so that free space is often met, too. */
static void draw_picks(uint64_t now_ns, uint64_t time_ns) {
  char *start;
  uint64_t pages = hearth_tracts_extent(&start) / HEARTH_OS_PAGE, weight = pages * (time_ns / WEIGHT_UNIT + 1);

  for (unsigned i = 0; i < NEW_PICKS; i++) {
    const char *page = start + hearth_sampler_below(&windows.random, pages) * HEARTH_OS_PAGE;
    const char *byte = page + hearth_sampler_below(&windows.random, HEARTH_OS_PAGE);
    hearth_picks_take(&windows.picks, byte, weight, now_ns, &windows.random);
  }
}

/* A busy system lets the thread run when it likes: a moment stands for the time since the one before. */
static uint64_t time_of_moment(uint64_t now_ns) {
  uint64_t time_ns = windows.moment_ns ? now_ns - windows.moment_ns : NEW_PICKS_GAP;

  windows.moment_ns = now_ns;
  return time_ns < MOST_OF_MOMENT ? time_ns : MOST_OF_MOMENT;
}

/* At moments of their own: windows take much longer to look at, and so are few. */
static void take_picks(uint64_t now_ns) {
  uint64_t time_ns = time_of_moment(now_ns);

  if (!has_run(false))
    return;
  hearth_lock_take(&windows.lock);
  if (now_ns >= windows.picks_due_ns)
    look_at_picks(now_ns);
  draw_picks(now_ns, time_ns);
  hearth_lock_give(&windows.lock);
}

/* -------------------------------------------------- the thread -------------------------------------------------- */

static uint64_t draw_gap(void) {
  uint64_t mean = windows.cost_ns * GAP_FOR_COST;

  return hearth_sampler_draw(&windows.random, (mean > LEAST_GAP ? mean : LEAST_GAP) * windows.weight / MOST_WEIGHT);
}

/* Counters say something once code is there that adds to them. */
static bool is_worth_it(void) {
  char *start;

  return hearth_rt.accesses == HEARTH_ACCESSES_COUNTED && hearth_tracts_extent(&start) >= LEAST_HEAP;
}

/* What is due. */
static void act(void) {
  uint64_t now_ns = hearth_os_now_ns();

  if (now_ns >= windows.new_picks_due_ns) {
    take_picks(now_ns);
    windows.new_picks_due_ns = now_ns + hearth_sampler_draw(&windows.random, NEW_PICKS_GAP);
  }
  if (now_ns >= windows.due_ns) {
    take_window();
    windows.due_ns = hearth_os_now_ns() + draw_gap();
  }
}

static uint64_t time_left(void) {
  uint64_t now_ns = hearth_os_now_ns();
  uint64_t due_ns = windows.due_ns < windows.new_picks_due_ns ? windows.due_ns : windows.new_picks_due_ns;

  return due_ns > now_ns ? due_ns - now_ns : 0;
}

static void (*beside)(bool is_worth_it);

void hearth_windows_run_beside(void (*step)(bool is_worth_it)) { __atomic_store_n(&beside, step, __ATOMIC_RELEASE); }

static void run(void) {
  for (bool is_due = false; hearth_own_thread_wait(is_due ? time_left() : IDLE_GAP); is_due = is_worth_it()) {
    void (*step)(bool) = __atomic_load_n(&beside, __ATOMIC_ACQUIRE);
    if (is_due && is_worth_it())
      act();
    if (step)
      step(is_due);
  }
}

static bool is_wanted(void) {
  const hearth_runtime_options *options = &hearth_rt.options;

  return options->together == HEARTH_TOGETHER_ON && hearth_rt.path == HEARTH_PATH_RECORD && options->memory_cap == 0 &&
         options->format == HEARTH_FORMAT_HEARTH && hearth_os_is_main_alive();
}

void hearth_windows_begin(void) {
  if (!is_wanted() ||
      !hearth_touched_sums_create(&windows.touched, hearth_rt.mibs.count, HEARTH_LOOKS_MOST * HEARTH_SEEN_MOST) ||
      !hearth_pair_sums_create(&windows.pairs))
    return;
  windows.looks = hearth_os_map(hearth_os_whole_pages(sizeof *windows.looks));
  windows.start_ns = hearth_os_now_ns();
  windows.weight = 1;
  windows.left = OF_A_WEIGHT;
  hearth_sampler_begin(&windows.random, 1, hearth_rt.start_unix_ns ^ hearth_rt.pid << 40);
  windows.running = windows.looks && hearth_own_thread_begin(run, hearth_rt.options.clock == HEARTH_CLOCK_AUTO);
}

bool hearth_windows_are_taken(void) { return windows.running; }

static void forget(void) {
  hearth_touched_sums_forget(&windows.touched);
  hearth_pair_sums_forget(&windows.pairs);
  windows.picks.count = windows.picks.halvings = 0;
  for (unsigned i = 0; i < HEARTH_RAW_TOTALS; ++i)
    windows.totals[i] = 0;
}

void hearth_windows_forget(void) {
  if (!hearth_windows_hold())
    return;
  forget();
  hearth_windows_let_go();
}

void hearth_windows_end_in_child(void) { windows.running = false; }

/* -------------------------------------------------- for dumps -------------------------------------------------- */

/* A thread that the system has killed holds its lock for ever. */
bool hearth_windows_hold(void) {
  hearth_patience patience = {0};

  if (!windows.running)
    return false;
  while (!hearth_lock_try(&windows.lock))
    if (!hearth_patience_left(&patience))
      return false;
  ++windows.dump;
  if (windows.totals[HEARTH_RAW_WINDOWS] > 0) {
    look_at_picks(hearth_os_now_ns());
    hearth_picks_show(&windows.picks, windows.dump, &windows.touched);
    return true;
  }
  hearth_windows_let_go();
  return false;
}

void hearth_windows_let_go(void) { hearth_lock_give(&windows.lock); }

void hearth_windows_totals(uint64_t *ret) {
  for (unsigned i = 0; i < HEARTH_RAW_TOTALS; ++i)
    ret[i] = windows.totals[i];
  ret[HEARTH_RAW_LOST_PAIRS] = windows.pairs.lost;
}

static uint64_t round_sum(uint64_t sum) {
  return (sum + (UINT64_C(1) << (HEARTH_SUMS_FRACTION - 1))) >> HEARTH_SUMS_FRACTION;
}

bool hearth_windows_touched(uint32_t context, uint32_t record, uint64_t *ret) {
  if (context >= windows.touched.count)
    return false;
  hearth_touched_row *row = &windows.touched.rows[context];
  if (row->window == 0)
    return false;
  row->dump = windows.dump;
  row->record = record;
  for (unsigned i = 0; i < HEARTH_RAW_TOUCHED_COLUMNS; ++i)
    ret[i] = i == HEARTH_RAW_TOUCHED_WINDOWS ? row->sums[i] : round_sum(row->sums[i]);
  ++ret[HEARTH_RAW_TOUCHED_LIVE];
  return true;
}

void hearth_windows_set_picks(uint32_t context, hearth_mib *mib) {
  if (context >= windows.touched.count)
    return;
  hearth_picks_set(&windows.touched.rows[context], windows.dump, mib);
}

bool hearth_windows_next_pair(uint32_t *at, uint64_t *ret) {
  while (*at < windows.pairs.size) {
    const hearth_pair_slot *slot = &windows.pairs.slots[(*at)++];
    const hearth_touched_row *a = &windows.touched.rows[slot->a], *b = &windows.touched.rows[slot->b];
    if (slot->b == 0 || a->dump != windows.dump || b->dump != windows.dump)
      continue;
    ret[HEARTH_RAW_PAIR_A] = a->record;
    ret[HEARTH_RAW_PAIR_B] = b->record;
    ret[HEARTH_RAW_PAIR_WINDOWS] = slot->windows;
    ret[HEARTH_RAW_PAIR_LINES] = round_sum(slot->lines);
    return true;
  }
  return false;
}

uint32_t hearth_windows_count_pairs(void) {
  uint64_t unused[HEARTH_RAW_PAIR_COLUMNS];
  uint32_t count = 0;

  for (uint32_t at = 0; hearth_windows_next_pair(&at, unused);)
    ++count;
  return count;
}
