/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that has pages of cold memory leave, for a bounded price.
 *
 * Once in an interval it looks at all cold memory, slice by slice (64 KiB), and has slices leave within a budget:
 * the costs so far, and the costs of a return of all pages that are out, stay within a share of the time since the
 * thread began. Costs are this thread's own processor time and the pages that came back, each at the time of a read
 * of a page. The thread measures that once in a round, so one slice leaves in each round in any case. So memory that
 * is not cold costs little more than that share, and the longer a program runs, the more may be out. A slice that
 * comes back at once stays for some rounds.
 *
 * That memory may change meanwhile: advice for memory that is no longer cold, or no longer there, does no harm, nor
 * does reading it through the system. */
#define _GNU_SOURCE
#include "heap_memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
  STACK_BYTES = 64 << 10,
  SLICE_PAGES = 16,
  SLICE_BYTES = SLICE_PAGES * HEARTH_PAGE_BYTES,
  PIECE_SLICES = HEARTH_SEGMENT_BYTES / SLICE_BYTES,
  PIECE_PAGES = HEARTH_SEGMENT_BYTES / HEARTH_PAGE_BYTES,
  PRICE_WEIGHT = 8, /* the price is a mean in which each sample has an eighth */
};

typedef struct cold_slice {
  uint8_t in_memory; /* pages, at this round's look */
  uint8_t last;      /* of these */
  uint8_t out;       /* pages that left, and were not seen back */
  bool just_left;    /* in the last round */
  uint8_t returns;   /* how often it came back at once, less the times that it did not */
  uint8_t rest;      /* rounds for which it stays */
} cold_slice;

/* Two MiB of cold memory. */
typedef struct cold_piece {
  char *start;
  unsigned round; /* that saw it last */
  cold_slice slice[PIECE_SLICES];
} cold_piece;

static _Atomic bool is_wanted; /* and not yet started */
static unsigned interval_s, cost_percent;

static struct {
  uint64_t begin_ns;
  uint64_t pages_back, pages_out;
  uint64_t own_ns;     /* of the thread, as of late */
  uint64_t price_ns;   /* of a page that comes back; 0: not known */
  unsigned pages_sent; /* in this round */
  char *sent;          /* one of them */
} budget;

static cold_piece *pieces; /* by address */
static size_t piece_count, piece_room;
static unsigned round_number;

void hearth_cold_thread_configure(unsigned seconds, unsigned percent) {
  interval_s = seconds;
  cost_percent = percent;
  hearth_cold_thread_after_fork();
}

void hearth_cold_thread_after_fork(void) { atomic_store_explicit(&is_wanted, interval_s > 0, memory_order_relaxed); }

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Budget. */

static bool budget_allows(unsigned pages) {
  if (!cost_percent || (!budget.pages_sent && pages <= SLICE_PAGES))
    return true;
  uint64_t allowed_ns = (nanoseconds(CLOCK_MONOTONIC) - budget.begin_ns) / 100 * cost_percent;
  uint64_t returns_ns = (budget.pages_back + budget.pages_out + pages) * budget.price_ns;
  return budget.price_ns && budget.own_ns + returns_ns <= allowed_ns;
}

/* Of the pages that were in memory before this round, one that left: no hole. It is read as the program would read
 * it, but for a page that is no longer there. False: the system forbids it. */
static bool budget_measure(void) {
  char byte;
  unsigned char is_in;
  struct iovec to = {&byte, 1}, from = {budget.sent, 1};
  if (!budget.pages_sent || mincore(budget.sent, HEARTH_PAGE_BYTES, &is_in) || is_in & 1)
    return true;
  uint64_t begin_ns = nanoseconds(CLOCK_MONOTONIC);
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
    return errno != EPERM && errno != ENOSYS;
  uint64_t price_ns = nanoseconds(CLOCK_MONOTONIC) - begin_ns;
  budget.price_ns =
      budget.price_ns ? (budget.price_ns * (PRICE_WEIGHT - 1) + price_ns) / PRICE_WEIGHT + 1 : price_ns + 1;
  return true;
}

/* Pieces. */

/* The next piece of cold memory from `from` on; NULL: there is none. Its first slices, of a segment, are the head. */
static char *next_piece(char *from, unsigned *ret_first_slice) {
  hearth_kind kind;
  char *start = hearth_kind_next(from, &kind);
  while (start && !hearth_is_cold(kind))
    start = hearth_kind_next(start + HEARTH_SEGMENT_BYTES, &kind);
  if (start)
    *ret_first_slice = hearth_is_segment(kind) ? HEARTH_MAP_SLOTS * HEARTH_SLOT_BYTES / SLICE_BYTES : 0;
  return start;
}

/* NULL: there is no memory for it. A piece that the last round did not see is a new one. */
static cold_piece *piece_at(char *start) {
  size_t low = 0, high = piece_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (pieces[middle].start < start)
      low = middle + 1;
    else
      high = middle;
  }
  bool is_new = low == piece_count || pieces[low].start != start;
  if (is_new) {
    cold_piece *array = hearth_array_grow(pieces, piece_count, &piece_room, sizeof *array);
    if (!array)
      return NULL;
    pieces = array;
    memmove(&pieces[low + 1], &pieces[low], (piece_count++ - low) * sizeof *pieces);
  }
  cold_piece *piece = &pieces[low];
  if (is_new || piece->round + 1 != round_number)
    *piece = (cold_piece){.start = start};
  piece->round = round_number;
  return piece;
}

static char *slice_start(const cold_piece *piece, unsigned slice) { return piece->start + (size_t)slice * SLICE_BYTES; }

/* A slice that left in the last round and has more than a quarter of its pages back is not cold, whatever its
 * blocks' hints say (or it cannot leave): it stays for one round, then for three, up to 63, as often as that
 * happens. One that comes back later was out for a round, and that was the gain. */
static void look_at_slice(cold_slice *slice, const unsigned char is_in[SLICE_PAGES]) {
  enum { MOST_RETURNS = 6 };
  unsigned in_memory = 0;
  for (unsigned i = 0; i < SLICE_PAGES; i++)
    if (is_in[i] & 1) {
      in_memory++;
      slice->last = (uint8_t)i;
    }
  unsigned back = in_memory < slice->out ? in_memory : slice->out;
  if (slice->just_left && back > slice->out / 4u) {
    slice->returns += slice->returns < MOST_RETURNS;
    slice->rest = (uint8_t)((1u << slice->returns) - 1);
  } else if (slice->rest) {
    slice->rest--;
  } else if (slice->just_left && slice->returns) {
    slice->returns--;
  }
  slice->just_left = false;
  slice->in_memory = (uint8_t)in_memory;
  slice->out = (uint8_t)(slice->out - back);
  budget.pages_back += back;
  budget.pages_out += slice->out;
}

static void look_at_pieces(void) {
  unsigned first;
  round_number++;
  budget.pages_out = budget.pages_sent = 0;
  budget.own_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  for (char *start = NULL; (start = next_piece(start, &first)); start += HEARTH_SEGMENT_BYTES) {
    unsigned char is_in[PIECE_PAGES];
    cold_piece *piece = piece_at(start);
    bool is_there = !mincore(start, HEARTH_SEGMENT_BYTES, is_in);
    for (unsigned i = first; piece && is_there && i < PIECE_SLICES; i++)
      look_at_slice(&piece->slice[i], is_in + (size_t)i * SLICE_PAGES);
  }
}

/* Neighbours leave together, since each writing to a file flushes the disk. False: no more is allowed. */
static bool send_slices(cold_piece *piece, bool *ret_known) {
  bool allowed = true;
  for (unsigned i = 0, end; *ret_known && allowed && i < PIECE_SLICES; i = end + 1) {
    unsigned pages = 0;
    for (end = i; end < PIECE_SLICES; end++) {
      cold_slice *slice = &piece->slice[end];
      if (!slice->in_memory || slice->rest || !(allowed = budget_allows(pages + slice->in_memory)))
        break;
      pages += slice->in_memory;
      slice->out = (uint8_t)(slice->out + slice->in_memory);
      slice->just_left = true;
      budget.sent = slice_start(piece, end) + (size_t)slice->last * HEARTH_PAGE_BYTES;
    }
    if (!pages)
      continue;
    *ret_known = hearth_cold_memory_send(slice_start(piece, i), (size_t)(end - i) * SLICE_BYTES);
    budget.pages_out += pages;
    budget.pages_sent += pages;
    budget.own_ns = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  }
  return allowed;
}

/* From the piece on at which the budget ended the last round: all have their turn. Returns the reason to
 * end the thread; NULL: it goes on. */
static const char *work_round(void) {
  static char *begin;
  bool known = true;
  size_t first = 0;
  look_at_pieces();
  while (first < piece_count && pieces[first].start < begin)
    first++;
  for (size_t i = 0; known && i < piece_count; i++) {
    cold_piece *piece = &pieces[(first + i) % piece_count];
    if (piece->round == round_number && !send_slices(piece, &known)) {
      begin = piece->start;
      break;
    }
  }
  return !known                              ? "the kernel is too old (before 5.4), or the memory is locked"
         : cost_percent && !budget_measure() ? "process_vm_readv, which measures the price, is forbidden"
                                             : NULL;
}

static void *cold_thread_run(void *unused) {
  const struct timespec interval = {.tv_sec = (time_t)interval_s};
  const char *failure = NULL;
  prctl(PR_SET_NAME, (unsigned long)"hearth-cold");
  memset(&budget, 0, sizeof budget); /* a forked process has its parent's numbers, which are not about its memory */
  pieces = NULL;
  piece_count = piece_room = 0;
  budget.begin_ns = nanoseconds(CLOCK_MONOTONIC);
  while (!failure) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
    failure = work_round();
  }
  hearth_malloc_warn("cold memory stays: ", failure);
  return unused;
}

static bool start_thread(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  long least = sysconf(_SC_THREAD_STACK_MIN);
  if (pthread_attr_init(&attributes))
    return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK_BYTES + (least > 0 ? (size_t)least : 0));
  bool started = !pthread_create(&thread, &attributes, cold_thread_run, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

/* pthread_create allocates; if that leads here again, the thread is no longer wanted. */
void hearth_cold_thread_ensure(void) {
  if (!atomic_load_explicit(&is_wanted, memory_order_relaxed) ||
      !atomic_exchange_explicit(&is_wanted, false, memory_order_relaxed))
    return;
  int saved_errno = errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!start_thread())
    hearth_malloc_warn("cold memory stays: its thread cannot be started", "");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = saved_errno;
}
