/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The peak of live bytes. Each thread counts by itself and tells of its changes in steps, so that malloc and free share
 * nothing for it; a thread that tells of a possible peak makes a dump due. */
#include "history.h"

#include "os.h"
#include "running_profile.h"
#include "thread_state.h"

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

void hearth_live_ask(void) {
  uint64_t due = __atomic_load_n(&hearth_rt.next_due_ns, __ATOMIC_RELAXED);

  while (due != UINT64_MAX &&
         !__atomic_compare_exchange_n(&hearth_rt.next_due_ns, &due, 0, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

/* Not while another thread is at a dump. */
static void ask_for_dump(void) {
  __atomic_store_n(&hearth_live_gate, true, __ATOMIC_RELAXED);
  __atomic_store_n(&is_due, true, __ATOMIC_RELAXED);
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
    hearth_history_peak();
  if (hearth_rt.tracks_peak && !__atomic_load_n(&is_due, __ATOMIC_RELAXED) && is_peak(most, grows))
    ask_for_dump();
}

void hearth_live_tell(void) { peak_tell(hearth_this_thread.live_change, hearth_this_thread.live_change > 0); }

void hearth_live_tell_before(void) { peak_tell(hearth_this_thread.live_change, false); }

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
  hearth_history_forget();
}
