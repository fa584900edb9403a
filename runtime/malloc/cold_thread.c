/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that sleeps, asks whether a round is due, and has the system take pages of cold memory, piece by piece (two MiB). What
 * lies there may change meanwhile: advice for memory that is no longer cold, or no longer there, does no harm. */
#define _GNU_SOURCE
#include "cold_memory.h"

#include "malloc_messages.h"
#include "segments.h"
#include "system_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Linux 5.4; missing from older libc headers. */
#ifndef MADV_COLD
#define MADV_COLD    20
#define MADV_PAGEOUT 21
#endif

/* For cold=auto: which slices (64 KiB) of cold memory are to leave. A slice that was sent out, and has more than a quarter of those
 * pages in memory at the next round, is not cold, whatever its blocks' hints say (or it cannot leave): it stays for one round, then
 * for three, up to 63, as often as that happens again. One that comes back later was out for a round, which is what it left
 * for: it leaves again, and a return before is forgotten. */
enum { HEARTH_SLICE_PAGES = 16, HEARTH_SLICES = 32 };

typedef struct hearth_warm_slice {
  uint8_t sent;    /* pages that were in memory when the last round sent it; 0: it did not */
  uint8_t returns; /* how often it came back, less the times that it did not */
  uint8_t rest;    /* rounds for which it stays */
} hearth_warm_slice;

/* Before a round: so many of its pages are in memory. It leaves if `rest` is 0 then. */
static void hearth_warm_slice_look(hearth_warm_slice *slice, unsigned in_memory) {
  enum { MOST_RETURNS = 6 };
  if (slice->sent && in_memory > slice->sent / 4u) {
    slice->returns += slice->returns < MOST_RETURNS;
    slice->rest = (uint8_t)((1u << slice->returns) - 1);
  } else if (slice->rest) {
    slice->rest--;
  } else if (slice->sent && slice->returns) {
    slice->returns--;
  }
  slice->sent = slice->rest ? 0 : (uint8_t)in_memory;
}

enum {
  STACK_BYTES = 64 << 10,
  LONGEST_WAIT = 64, /* intervals */
  PIECE_PAGES = HEARTH_SEGMENT_BYTES / HEARTH_PAGE_BYTES,
};
_Static_assert(HEARTH_SLICES *HEARTH_SLICE_PAGES == PIECE_PAGES, "slices make a piece");

static _Atomic bool is_wanted; /* and not yet started */
static bool corrects_cold;
static unsigned interval_s;

void hearth_cold_thread_configure(bool corrects, unsigned seconds) {
  corrects_cold = corrects;
  interval_s = seconds;
  hearth_cold_thread_after_fork();
}

void hearth_cold_thread_after_fork(void) {
  atomic_store_explicit(&is_wanted, hearth_cold_memory_leaves() && interval_s, memory_order_relaxed);
}

unsigned hearth_cold_thread_wait(unsigned waited_s, unsigned least_s, size_t sent_bytes, size_t returned_bytes) {
  if (!sent_bytes || returned_bytes <= sent_bytes / 4)
    return least_s;
  return waited_s < least_s * (LONGEST_WAIT / 2) ? waited_s * 2 : least_s * LONGEST_WAIT;
}

/* The next piece of cold memory from `from` on; NULL: there is none. Its first pages, of a segment, are the head. */
static char *next_piece(char *from, unsigned *ret_first_page) {
  hearth_kind kind;
  char *piece = hearth_kind_next(from, &kind);
  while (piece && !hearth_is_cold(kind))
    piece = hearth_kind_next(piece + HEARTH_SEGMENT_BYTES, &kind);
  if (piece)
    *ret_first_page = hearth_is_segment(kind) ? HEARTH_MAP_SLOTS * HEARTH_SLOT_BYTES / HEARTH_PAGE_BYTES : 0;
  return piece;
}

typedef struct round {
  size_t pieces, resident_pages, sent_pages;
} round;

/* Pages of a slice that are in memory. */
static unsigned pages_in_memory(char *slice) {
  unsigned char is_in[HEARTH_SLICE_PAGES];
  unsigned count = 0;
  if (mincore(slice, sizeof is_in * HEARTH_PAGE_BYTES, is_in))
    return 0;
  for (unsigned i = 0; i < HEARTH_SLICE_PAGES; i++)
    count += is_in[i] & 1;
  return count;
}

static round look(void) {
  round now = {0};
  unsigned page;
  for (char *piece = NULL; (piece = next_piece(piece, &page)); piece += HEARTH_SEGMENT_BYTES) {
    now.pieces++;
    for (; page < PIECE_PAGES; page += HEARTH_SLICE_PAGES)
      now.resident_pages += pages_in_memory(piece + page * HEARTH_PAGE_BYTES);
  }
  return now;
}

static size_t count_pieces(void) {
  size_t count = 0;
  unsigned page;
  for (char *piece = NULL; (piece = next_piece(piece, &page)); piece += HEARTH_SEGMENT_BYTES)
    count++;
  return count;
}

/* A round is due when the wait is over, or when memory has grown by an eighth. */
static void wait_for_work(unsigned wait_s, const round *last) {
  const struct timespec interval = {.tv_sec = (time_t)interval_s};
  unsigned waited_s = 0;
  do {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &interval, NULL);
    waited_s += interval_s;
  } while (waited_s < wait_s && count_pieces() <= last->pieces + last->pieces / 8);
}

/* False if the kernel knows no such advice, or the memory is locked. */
static bool send_out(char *start, size_t bytes) {
  /* Dirty pages of a file are not dropped: they are written first. */
  if (hearth_cold_memory_mode() == HEARTH_COLD_FILE)
    msync(start, bytes, MS_SYNC);
  int advice = hearth_cold_memory_mode() == HEARTH_COLD_ADVISE ? MADV_COLD : MADV_PAGEOUT;
  return !madvise(start, bytes, advice) || errno != EINVAL;
}

/* Notes on each piece. NULL: no memory, and all slices leave. */
typedef struct notes {
  char *piece;
  hearth_warm_slice slice[HEARTH_SLICES];
} notes;
static notes *all_notes; /* by address */
static size_t notes_count, notes_room;

static notes *notes_of(char *piece) {
  size_t low = 0, high = notes_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (all_notes[middle].piece < piece)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < notes_count && all_notes[low].piece == piece)
    return &all_notes[low];
  if (notes_count == notes_room) {
    size_t room = notes_room ? 2 * notes_room : 64, bytes = room * sizeof *all_notes;
    bytes = (bytes + HEARTH_PAGE_BYTES - 1) & -(size_t)HEARTH_PAGE_BYTES;
    notes *more = hearth_system_reserve(bytes, HEARTH_PAGE_BYTES);
    if (!more || !hearth_system_open(more, bytes))
      return NULL;
    for (size_t i = 0; i < notes_count; i++)
      more[i] = all_notes[i];
    all_notes = more; /* the old ones are little beside what they tell of */
    notes_room = room;
  }
  for (size_t i = notes_count++; i > low; i--)
    all_notes[i] = all_notes[i - 1];
  all_notes[low] = (notes){.piece = piece};
  return &all_notes[low];
}

static bool send_cold_slices(char *piece, unsigned page) {
  notes *notes = notes_of(piece);
  bool known = true;
  for (; page < PIECE_PAGES && known; page += HEARTH_SLICE_PAGES) {
    char *start = piece + page * HEARTH_PAGE_BYTES;
    hearth_warm_slice *slice = notes ? &notes->slice[page / HEARTH_SLICE_PAGES] : NULL;
    unsigned in_memory = pages_in_memory(start);
    if (slice)
      hearth_warm_slice_look(slice, in_memory);
    if (in_memory && !(slice && slice->rest))
      known = send_out(start, HEARTH_SLICE_PAGES * HEARTH_PAGE_BYTES);
  }
  return known;
}

static bool page_out(void) {
  bool known = true;
  unsigned page;
  for (char *piece = NULL; known && (piece = next_piece(piece, &page)); piece += HEARTH_SEGMENT_BYTES)
    known = corrects_cold ? send_cold_slices(piece, page)
                          : send_out(piece + page * HEARTH_PAGE_BYTES, (PIECE_PAGES - page) * HEARTH_PAGE_BYTES);
  /* Pages that are being written when they are to leave the program stay in the system's cache. */
  int descriptor = hearth_cold_memory_descriptor();
  if (descriptor >= 0)
    posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  return known;
}

/* Pages that are in memory now and were not then, except of new pieces. */
static size_t returned_pages(const round *then, const round *now) {
  size_t expected = then->resident_pages;
  if (now->pieces > then->pieces)
    expected += (now->pieces - then->pieces) * PIECE_PAGES;
  return now->resident_pages > expected ? now->resident_pages - expected : 0;
}

static void *run(void *unused) {
  round last = {0};
  unsigned wait_s = interval_s;
  prctl(PR_SET_NAME, (unsigned long)"hearth-cold");
  for (;;) {
    wait_for_work(wait_s, &last);
    round before = look();
    if (!page_out())
      break;
    if (!corrects_cold)
      wait_s = hearth_cold_thread_wait(wait_s, interval_s, last.sent_pages, returned_pages(&last, &before));
    last = look();
    last.sent_pages = before.resident_pages > last.resident_pages ? before.resident_pages - last.resident_pages : 0;
  }
  hearth_malloc_warn("cold memory stays: the kernel is too old (before 5.4), or the memory is locked", "");
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
  bool started = !pthread_create(&thread, &attributes, run, NULL);
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
