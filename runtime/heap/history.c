/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The changes of live bytes at points of the grid are in one table, by context and point. Threads add to it without
 * locks. It grows up to a size; then, or when the run has passed many points, the grid's width is doubled: a point
 * becomes the next one that stays. What finds no room even then counts for no context.
 *
 * The shares of the peak are by context, each with the number of the peak that it is of: a new peak forgets all by
 * having another number. Two threads that begin a share at once may lose a block of it. */
#include "history.h"

#include "clock.h"
#include "os.h"
#include "running_profile.h"

#include "hearth/expect.h"

#include <string.h>

#define LEAST_ROOM  ((size_t)1 << 10) /* entries */
#define MOST_ROOM   ((size_t)1 << 17)
#define MOST_VIEW   (4 * MOST_ROOM) /* with live blocks */
#define FIRST_SHIFT 16u             /* the width at first: 65 us */
#define LAST_SHIFT  56u
#define MOST_POINTS (2 * HEARTH_RAW_POINTS)
#define FEW_POINTS  64u              /* fewer are not worth the room */
#define NO_ONE      (UINT32_MAX - 1) /* whose changes find no room under their context: an eighth is for these */
#define PLACES      4096u            /* for sums of contexts, several in each */
#define PART        256u             /* of all: contexts with less have no levels of their own */

/* All atomic. */
typedef struct share {
  uint32_t number;
  uint64_t bytes, blocks;
} share;

hearth_history_marks hearth_history = {.next_ns = UINT64_MAX};

static hearth_history_entry *entries; /* NULL: there is no history */
static size_t room;                   /* a power of two */
static uint32_t grid_shift;
static size_t used;   /* atomic, as are the following */
static share *shares; /* by context */
static uint64_t peak_ns;
static uint32_t peak_number = 1;
static bool peak_is_used; /* some share may have its number */
static bool is_due;

static size_t entries_size(size_t count) { return HEARTH_WHOLE_PAGES(count * sizeof *entries); }

static size_t shares_size(void) {
  return HEARTH_WHOLE_PAGES(((size_t)hearth_rt.options.max_contexts + 1) * sizeof *shares);
}

void hearth_history_begin(void) {
  shares = hearth_system_map_sparse(shares_size());
  entries = shares ? hearth_system_map(entries_size(MOST_ROOM)) : NULL;
  if (!entries)
    return;
  room = LEAST_ROOM;
  grid_shift = FIRST_SHIFT;
  hearth_history.next_ns = UINT64_C(1) << FIRST_SHIFT;
}

static void history_forget(void) {
  if (!entries)
    return;
  hearth_system_discard(entries, entries_size(MOST_ROOM));
  hearth_system_discard(shares, shares_size());
  used = 0;
  peak_ns = 0;
  is_due = false;
}

/* -- the table ------------------------------------------------------------------------------------------------------- */

/* The first point that is not before. */
static uint64_t point_after(uint64_t ns, uint32_t shift) { return (ns + (UINT64_C(1) << shift) - 1) >> shift; }

/* Entries of neighbouring points are neighbours. */
static size_t first_slot(uint32_t context, uint64_t point, size_t size) {
  return ((size_t)(context * UINT64_C(0x9e3779b97f4a7c15) >> 24) + (size_t)point) & (size - 1);
}

static bool history_is_full(size_t count, size_t size) { return count >= size / 8 * 7; }

/* One of the rest has to stay empty, for all searches to end. */
static bool history_takes_none(size_t count, size_t size) { return count >= size / 16 * 15; }

/* Returns 1 for a new entry, else 0. There is always an empty one. */
static size_t add_at(hearth_history_entry *table, size_t size, uint32_t context, uint64_t point, uint64_t bytes) {
  uint64_t key = ((uint64_t)context + 1) << 32 | point, known;
  size_t slot = first_slot(context, point, size);

  for (;; slot = (slot + 1) & (size - 1)) {
    known = __atomic_load_n(&table[slot].key, __ATOMIC_RELAXED);
    if (known == 0)
      __atomic_compare_exchange_n(&table[slot].key, &known, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (known == 0 || known == key)
      break;
  }
  __atomic_fetch_add(&table[slot].bytes, (int64_t)bytes, __ATOMIC_RELAXED);
  return known == 0;
}

/* It is asked for until it is done. */
static void ask_for_room(void) {
  if (!__atomic_exchange_n(&is_due, true, __ATOMIC_RELAXED))
    hearth_live_ask();
}

static void add_to_table(uint32_t context, uint64_t at_ns, uint64_t bytes) {
  size_t count = __atomic_load_n(&used, __ATOMIC_RELAXED);

  if (bytes == 0 || history_takes_none(count, room))
    return;
  if (__builtin_expect(history_is_full(count, room), false))
    context = NO_ONE;
  if (add_at(entries, room, context, point_after(at_ns, grid_shift), bytes) == 0)
    return;
  count = __atomic_add_fetch(&used, 1, __ATOMIC_RELAXED);
  if (count == room / 2 + 1)
    ask_for_room();
}

/* -- marks ----------------------------------------------------------------------------------------------------------- */

static void raise_to(uint64_t *mark, uint64_t ns) {
  uint64_t known = __atomic_load_n(mark, __ATOMIC_RELAXED);

  while (known < ns && !__atomic_compare_exchange_n(mark, &known, ns, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static __attribute__((noinline)) void pass_points(uint64_t now_ns) {
  uint64_t point = now_ns >> grid_shift;

  raise_to(&hearth_history.behind_ns, (point << grid_shift) + 1);
  __atomic_store_n(&hearth_history.next_ns, (point + 1) << grid_shift, __ATOMIC_RELAXED);
  if (point >= MOST_POINTS)
    ask_for_room();
}

/* More bytes are live than ever: as of the last event of this thread, whose later ones are told from it. Headers
 * round times down, to steps that grow with the run. The thread's next event is put into the next step, so that its
 * block is not taken for one that was there. */
static void note_heap_peak(void) {
  hearth_thread_clock *clock = &hearth_this_thread.clock;

  if (!entries || clock->shown <= hearth_rt.start_ns)
    return;
  uint64_t steps = (clock->shown - hearth_rt.start_ns) / HEARTH_CLOCK_STEP;
  unsigned shift = hearth_header_time_shift(steps);
  uint64_t next_ns = (((steps >> shift) + 1) << shift) * HEARTH_CLOCK_STEP;
  if (__atomic_exchange_n(&peak_is_used, false, __ATOMIC_RELAXED))
    __atomic_fetch_add(&peak_number, 1, __ATOMIC_RELAXED);
  raise_to(&peak_ns, next_ns - 1);
  raise_to(&hearth_history.behind_ns, next_ns);
  clock->shown = hearth_rt.start_ns + next_ns - HEARTH_CLOCK_STEP;
}

static void add_to_share(const hearth_history_memo *memo) {
  share *share = &shares[memo->context];

  if (memo->number != __atomic_load_n(&peak_number, __ATOMIC_RELAXED))
    return; /* there is a higher peak */
  if (__atomic_load_n(&share->number, __ATOMIC_RELAXED) != memo->number) {
    __atomic_store_n(&share->bytes, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&share->blocks, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&share->number, memo->number, __ATOMIC_RELEASE);
  }
  __atomic_fetch_add(&share->bytes, memo->peak_bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&share->blocks, memo->peak_blocks, __ATOMIC_RELAXED);
}

hearth_history_share hearth_history_at_peak(uint32_t context) {
  const share *share = entries ? &shares[context] : NULL;

  return share && share->number == peak_number ? (hearth_history_share){share->bytes, share->blocks}
                                               : (hearth_history_share){0, 0};
}

/* -- blocks ---------------------------------------------------------------------------------------------------------- */

static void flush_peak(hearth_history_memo *memo) {
  if (memo->peak_bytes | memo->peak_blocks)
    add_to_share(memo);
  memo->peak_bytes = memo->peak_blocks = 0;
}

static void flush_begun(hearth_history_memo *memo) {
  add_to_table(memo->context, memo->first_ns, memo->begun);
  memo->begun = 0;
}

static void flush_ended(hearth_history_memo *memo) {
  add_to_table(memo->context, memo->last_ns, 0 - memo->ended);
  memo->ended = 0;
}

static __attribute__((noinline)) void flush_memo(hearth_history_memo *memo) {
  flush_peak(memo);
  flush_begun(memo);
  flush_ended(memo);
}

void hearth_history_flush(hearth_history_memo *memos) {
  for (unsigned i = 0; entries && i < HEARTH_HISTORY_MEMOS; i++)
    flush_memo(&memos[i]);
}

/* A block of so many bytes, or so many bytes of a block. */
static inline void add_to_memo(hearth_history_memo *memo, const hearth_block *block, uint64_t end_ns, uint64_t bytes,
                               uint64_t blocks) {
  uint64_t width = UINT64_C(1) << grid_shift;
  uint64_t first_ns = (block->alloc_ns + width - 1) & (0 - width), last_ns = (end_ns + width - 1) & (0 - width);

  if (memo->context != block->context) {
    flush_memo(memo);
    memo->context = block->context;
  }
  if (block->alloc_ns <= __atomic_load_n(&peak_ns, __ATOMIC_RELAXED)) {
    uint32_t number = __atomic_load_n(&peak_number, __ATOMIC_RELAXED);
    if (memo->number != number)
      flush_peak(memo);
    if (!__atomic_load_n(&peak_is_used, __ATOMIC_RELAXED))
      __atomic_store_n(&peak_is_used, true, __ATOMIC_RELAXED);
    memo->number = number;
    memo->peak_bytes += bytes;
    memo->peak_blocks += blocks;
  }
  if (first_ns >= last_ns)
    return;
  if (memo->first_ns != first_ns)
    flush_begun(memo);
  if (memo->last_ns != last_ns)
    flush_ended(memo);
  memo->first_ns = first_ns;
  memo->last_ns = last_ns;
  memo->begun += bytes;
  memo->ended += bytes;
}

static __attribute__((noinline)) void note_at_once(const hearth_block *block, uint64_t end_ns, uint64_t bytes,
                                                   uint64_t blocks) {
  hearth_history_memo own = {.context = block->context};

  add_to_memo(&own, block, end_ns, bytes, blocks);
  flush_memo(&own);
}

__attribute__((noinline)) void hearth_history_note(hearth_history_memo *memos, const hearth_block *block,
                                                   uint64_t end_ns) {
  uint64_t weight = hearth_mib_weight(block);

  if (__builtin_expect(end_ns >= __atomic_load_n(&hearth_history.next_ns, __ATOMIC_RELAXED), false))
    pass_points(end_ns);
  if (__builtin_expect(!memos, false))
    note_at_once(block, end_ns, block->size * weight, weight);
  else
    add_to_memo(&memos[block->context % HEARTH_HISTORY_MEMOS], block, end_ns, block->size * weight, weight);
}

void hearth_history_grow(const hearth_block *block, uint64_t more) {
  if (entries && hearth_this_thread.clock.shown > hearth_rt.start_ns)
    note_at_once(block, hearth_this_thread.clock.shown - hearth_rt.start_ns, 0 - more, 0);
}

/* -- room ------------------------------------------------------------------------------------------------------------ */

bool hearth_history_is_due(void) { return __atomic_load_n(&is_due, __ATOMIC_RELAXED); }

/* In a table of `size` entries. With `halve`, each other point goes, and what changed there changes at the next one. */
static void rebuild(hearth_history_entry *scratch, size_t size, bool halve) {
  size_t count = 0;

  for (size_t i = 0; i < room; i++)
    if (entries[i].key && entries[i].bytes)
      scratch[count++] = entries[i];
  memset(entries, 0, room * sizeof *entries);
  used = 0;
  room = size;
  grid_shift += halve;
  for (size_t i = 0; i < count; i++) {
    uint64_t point = (uint32_t)scratch[i].key;
    used += add_at(entries, room, (uint32_t)(scratch[i].key >> 32) - 1, halve ? (point + 1) / 2 : point,
                   (uint64_t)scratch[i].bytes);
  }
}

void hearth_history_make_room(void) {
  uint64_t now_ns = hearth_history.next_ns - 1;
  size_t size = entries_size(room);
  hearth_history_entry *scratch = hearth_system_map(size);

  hearth_expect(used < room && (room & (room - 1)) == 0);

  while (scratch && now_ns >> grid_shift >= HEARTH_RAW_POINTS && grid_shift < LAST_SHIFT)
    rebuild(scratch, room, true);
  if (scratch && used > room / 4 && room < MOST_ROOM)
    rebuild(scratch, 2 * room, false);
  while (scratch && used > room / 2 && now_ns >> grid_shift >= FEW_POINTS)
    rebuild(scratch, room, true);
  if (scratch)
    hearth_system_unmap(scratch, size);
  pass_points(now_ns);
  __atomic_store_n(&is_due, false, __ATOMIC_RELAXED);
}

/* -- views ----------------------------------------------------------------------------------------------------------- */

static size_t history_view_size(const hearth_history_view *view) {
  return HEARTH_WHOLE_PAGES(view->room * sizeof *view->entries);
}

void hearth_history_view_create(hearth_history_view *view) {
  *view = (hearth_history_view){.room = room, .peak_ns = peak_ns};
  view->entries = entries ? hearth_system_map(history_view_size(view)) : NULL;
  if (!view->entries)
    return;
  memcpy(view->entries, entries, room * sizeof *entries);
  for (size_t i = 0; i < room; i++) /* of the copy: other threads may add to the table meanwhile */
    view->used += view->entries[i].key != 0;
}

static void view_grow(hearth_history_view *view) {
  hearth_history_view larger = *view;

  larger.room *= 2;
  larger.entries = hearth_system_map(history_view_size(&larger));
  if (!larger.entries)
    return;
  for (size_t i = 0; i < view->room; i++)
    if (view->entries[i].key)
      add_at(larger.entries, larger.room, (uint32_t)(view->entries[i].key >> 32) - 1, (uint32_t)view->entries[i].key,
             (uint64_t)view->entries[i].bytes);
  hearth_history_view_destroy(view);
  *view = larger;
}

uint64_t hearth_history_view_add(hearth_history_view *view, const hearth_block *block) {
  uint64_t weight = hearth_mib_weight(block);

  if (view->used > view->room / 2 && view->room < MOST_VIEW)
    view_grow(view);
  uint32_t context = history_is_full(view->used, view->room) ? NO_ONE : block->context;
  if (!history_takes_none(view->used, view->room)) /* where there was no memory to grow */
    view->used +=
        add_at(view->entries, view->room, context, point_after(block->alloc_ns, grid_shift), block->size * weight);
  return block->alloc_ns <= view->peak_ns ? weight : 0;
}

static void sift(hearth_history_entry *heap, size_t at, size_t count) {
  hearth_history_entry moved = heap[at];

  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    child += child + 1 < count && heap[child].key < heap[child + 1].key;
    if (heap[child].key <= moved.key)
      break;
    heap[at] = heap[child];
  }
  heap[at] = moved;
}

static void sort_entries(hearth_history_entry *rows, size_t count) {
  for (size_t i = count / 2; i-- > 0;)
    sift(rows, i, count);
  for (size_t end = count; end-- > 1;) {
    hearth_history_entry first = rows[0];
    rows[0] = rows[end];
    rows[end] = first;
    sift(rows, 0, end);
  }
}

/* The first row of a context or of one behind it. */
static size_t find_rows(const hearth_history_view *view, uint64_t context) {
  size_t low = 0, high = view->used;

  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (view->entries[middle].key >> 32 < context + 1)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first part of the run whose middle is not before the point. */
static size_t history_part_of(const hearth_history_view *view, uint64_t point) {
  size_t low = 0, high = HEARTH_RAW_POINTS;

  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (view->middles[middle] < point)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void sum_levels(const hearth_history_view *view, size_t first, size_t end, uint64_t ret[HEARTH_RAW_POINTS]) {
  int64_t level = 0;

  memset(ret, 0, HEARTH_RAW_POINTS * sizeof *ret);
  for (; first < end; first++) {
    size_t part = history_part_of(view, (uint32_t)view->entries[first].key);
    if (part < HEARTH_RAW_POINTS)
      ret[part] += (uint64_t)view->entries[first].bytes;
  }
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++) {
    level += (int64_t)ret[i];
    ret[i] = level > 0 ? (uint64_t)level : 0;
  }
}

static hearth_history_sum sum_up_levels(const uint64_t levels[HEARTH_RAW_POINTS]) {
  hearth_history_sum sum = {0};

  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++) {
    sum.total += levels[i];
    sum.most = levels[i] > sum.most ? levels[i] : sum.most;
  }
  return sum;
}

static bool is_heavy(const hearth_history_view *view, hearth_history_sum sum) {
  return sum.total > 0 && (sum.total >= view->all.total / PART || sum.most >= view->all.most / PART);
}

/* Most contexts are light, by far: the entries of others alone are sorted. A place stands for several contexts, and
 * has the sum of their bytes. Returns how many entries are left. */
static size_t leave_out_light(const hearth_history_view *view, size_t count) {
  static uint64_t begun[PLACES]; /* signal stacks are small; the dumping thread has a lock */
  size_t left = 0;

  memset(begun, 0, sizeof begun);
  for (size_t i = 0; i < count; i++)
    begun[(view->entries[i].key >> 32) % PLACES] += view->entries[i].bytes > 0 ? (uint64_t)view->entries[i].bytes : 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t most = begun[(view->entries[i].key >> 32) % PLACES];
    if (is_heavy(view, (hearth_history_sum){most * HEARTH_RAW_POINTS, most}))
      view->entries[left++] = view->entries[i];
  }
  return left;
}

void hearth_history_view_end(hearth_history_view *view, uint64_t duration_ns) {
  size_t count = 0;

  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    view->middles[i] = (uint64_t)((double)duration_ns * (double)(2 * i + 1) / (2 * HEARTH_RAW_POINTS)) >> grid_shift;
  for (size_t i = 0; i < view->room; i++)
    if (view->entries[i].key && view->entries[i].bytes)
      view->entries[count++] = view->entries[i];
  hearth_expect(count <= view->used && view->used < view->room);
  sum_levels(view, 0, count, view->levels);
  view->all = sum_up_levels(view->levels);
  view->used = leave_out_light(view, count);
  sort_entries(view->entries, view->used);
}

bool hearth_history_view_levels(const hearth_history_view *view, uint32_t context, uint64_t ret[HEARTH_RAW_POINTS]) {
  size_t first = find_rows(view, context), end = first;

  while (end < view->used && view->entries[end].key >> 32 == (uint64_t)context + 1)
    end++;
  if (end == first)
    return false;
  sum_levels(view, first, end, ret);
  return is_heavy(view, sum_up_levels(ret));
}

void hearth_history_view_destroy(hearth_history_view *view) {
  if (view->entries)
    hearth_system_unmap(view->entries, history_view_size(view));
  view->entries = NULL;
}

/* -- the peak ---------------------------------------------------------------------------------------------------------- */

/* Each thread counts by itself and tells of its changes in steps, so that malloc and free share nothing for it; a
 * thread that tells of a possible peak makes a dump due. */

/* A dump stops all threads. A block that ends may lower the live bytes by a step. A dump is due before that, if the
 * live bytes are 1 % more than those of the last dump, or 1/256 as far as that takes no more than a tenth of the time;
 * so the peak is found, to a step. As programs may end at any time, there is also one for each 1 % that the heap grows,
 * within the same tenth. */
#define LEAST_STEP UINT64_C(1024)
#define MOST_STEP  (UINT64_C(256) << 10)
#define STEP_PART  512
#define FINE_PART  256
#define FIRST_PEAK (UINT64_C(16) << 10)

uint64_t hearth_live_step = LEAST_STEP;

static int64_t live_bytes;    /* atomic, as are the following */
static uint64_t most_bytes;   /* that were ever live */
static uint64_t dumped_bytes; /* of these, when the peak was last dumped */
static uint64_t rest_until_ns;
static bool peak_is_due;
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

void hearth_live_ask(void) {
  uint64_t due = __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED);

  while (due != UINT64_MAX &&
         !__atomic_compare_exchange_n(&hearth_rt.next_due_ns, &due, 0, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

/* Not while another thread is at a dump. */
static void ask_for_dump(void) {
  __atomic_store_n(&hearth_live_gate, true, __ATOMIC_RELAXED);
  __atomic_store_n(&peak_is_due, true, __ATOMIC_RELAXED);
  hearth_live_ask();
}

static void peak_tell(int64_t change, bool grows) {
  hearth_this_thread.live_change = 0;
  int64_t now = __atomic_add_fetch(&live_bytes, change, __ATOMIC_RELAXED);
  uint64_t bytes = now > 0 ? (uint64_t)now : 0, step = bytes / STEP_PART;
  __atomic_store_n(&hearth_live_step,
                   step < LEAST_STEP  ? LEAST_STEP
                   : step > MOST_STEP ? MOST_STEP
                                      : step,
                   __ATOMIC_RELAXED);
  uint64_t known = __atomic_load_n(&most_bytes, __ATOMIC_RELAXED), most = note_most(bytes);
  if (bytes > known)
    note_heap_peak();
  if (hearth_rt.tracks_peak && !__atomic_load_n(&peak_is_due, __ATOMIC_RELAXED) && is_peak(most, grows))
    ask_for_dump();
}

void hearth_live_tell(void) { peak_tell(hearth_this_thread.live_change, hearth_this_thread.live_change > 0); }

void hearth_live_tell_before(void) { peak_tell(hearth_this_thread.live_change, false); }

bool hearth_live_is_at_peak(void) {
  return hearth_rt.tracks_peak && is_peak(__atomic_load_n(&most_bytes, __ATOMIC_RELAXED), false);
}

bool hearth_live_peak_is_due(void) { return __atomic_load_n(&peak_is_due, __ATOMIC_RELAXED); }

void hearth_live_let_go(void) { __atomic_store_n(&hearth_live_gate, false, __ATOMIC_RELAXED); }

void hearth_live_wait(void) {
  hearth_patience patience = {0};

  while (__atomic_load_n(&hearth_live_gate, __ATOMIC_RELAXED) &&
         __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED) == UINT64_MAX && hearth_patience_left(&patience))
    ;
}

bool hearth_live_take_peak(void) { return __atomic_exchange_n(&peak_is_due, false, __ATOMIC_RELAXED); }

static uint64_t count_live_bytes(void) {
  int64_t now = __atomic_load_n(&live_bytes, __ATOMIC_RELAXED);

  return now > 0 ? (uint64_t)now : 0;
}

hearth_live_stop hearth_live_note_stop(void) {
  return (hearth_live_stop){count_live_bytes(), __atomic_load_n(&most_bytes, __ATOMIC_RELAXED)};
}

void hearth_live_note_peak(uint64_t begin_ns, uint64_t most) {
  uint64_t end_ns = hearth_os_now_ns() - hearth_rt.start_ns;

  __atomic_store_n(&dumped_bytes, most, __ATOMIC_RELAXED);
  __atomic_store_n(&rest_until_ns, end_ns + 9 * (end_ns - begin_ns), __ATOMIC_RELAXED);
}

void hearth_live_forget_peak(void) {
  dumped_bytes = most_bytes = 0;
  live_bytes = 0; /* its parent's blocks do not count */
  history_forget();
}
