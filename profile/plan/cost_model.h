/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cost model: what a layout makes a program touch, and the cycles that this takes.
 *
 *   subject   contexts that are one to the compiler, with weight
 *   window    a short part of the run
 *   scene     a made-up window. Profiles hold sums over windows; PLAN_SCENES scenes stand for them, in which as many
 *             subjects are touched as in windows, and together those that were (scenes.c)
 *   span      4^i windows in a row, for what a cache holds that is larger than a window's footprint
 *   moment    a scene or a span
 *   brief     the 4^i-th part of a window, for the first cache, which most windows fill many times
 *   unit      a line of 64 bytes, a page of 4 KiB, or a huge page of 2 MiB
 *   heap      blocks that lie together, in the order of their allocation: a pool, or those of the program's allocator
 *
 * Pages: blocks that are touched one by one lie on places, the pages that the blocks were on in the profiled run. Of n places
 * the share q is touched. In a heap of U units a unit with n / U of them is left alone with the probability (1 - q)^(n / U).
 * The logarithms add up, so L = n * -ln(1 - q), summed over subjects, is the heap's load, under which U * (1 - exp(-L / U))
 * units are touched, of whatever size. If all blocks of a page are touched, the program walks over neighbours: over the bytes
 * of a part of the subject's blocks, and whatever lies between them. That was as much as the pages hold beside the blocks of
 * the subjects that walk in this scene. Of subjects that do not, it is in the heap what part of their blocks is.
 *
 * Spans: a subject may touch the same slots in one window and the next: of n slots, n (1 - (1 - q)^k) are touched in k
 * windows, where a window touches the share q. So a span never touches more than there is in use, and a cache that holds all of
 * that has no misses.
 *
 * Briefs: a block is used by accesses that follow each other, and each use in a window is of any of the subject's slots that the
 * window touches. So little memory that is used much stays in the first cache, if it lies apart.
 *
 * Lines: those of the touched pages have slots, blocks or the lines of larger ones, of which so many are touched. A small block
 * lies across the border of two lines as often as its size and the 16 bytes of its alignment say. */
#ifndef HEARTH_COST_MODEL_H
#define HEARTH_COST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/indexed.h"

#define PLAN_SCENES  64u
#define PLAN_SPANS   9u
#define PLAN_MOMENTS (PLAN_SCENES + PLAN_SPANS) /* scenes first */
#define PLAN_BRIEFS  10u                        /* the first is the window */

typedef struct plan_subject {
  uint32_t leaf; /* number of its allocation call */
  hearth_class hotness;
  uint64_t scenes;            /* a bit for each in which it is touched */
  double blocks, peak_blocks; /* that live, on average and at most */
  double size;                /* that is asked for, of a block */
  double slots;               /* blocks, or lines of larger ones, that live */
  double touched;             /* slots that are touched, in a scene in which any is */
  double pages;               /* then: the load */
  double walk;                /* then: the part of the blocks that is walked over */
  double fill;                /* and the part of the pages under these that they took up in the profiled run */
  double pairs;               /* of malloc and free, in a window */
  double share;               /* of windows in which it is touched */
  double window_lines;        /* that a window touches, on average */
  double uses;                /* of its slots, in a window */
} plan_subject;

/* The part of the scenes in which it is touched. */
static inline double plan_share_of_scenes(const plan_subject *subject) {
  return __builtin_popcountll(subject->scenes) / (double)PLAN_SCENES;
}

/* Facts about an average window and run; times are those of the profiled run. */
typedef struct plan_time {
  double accesses; /* in a window */
  double plain_ns; /* that a window takes in a program that is not profiled; 0: not known */
  double windows;  /* in a run */
  double between
      [PLAN_MOMENTS]; /* bytes that lie between those walked over, for one of these and one that none walks over */
} plan_time;

enum plan_allocator { PLAN_GLIBC, PLAN_POOLS };

typedef struct plan_heap {
  double bytes, peak_bytes, blocks;                  /* that live; bytes are rounded as the allocator does */
  double slots;                                      /* each as often as lines that it lies on */
  double pairs;                                      /* of malloc and free, in a window */
  double touched[PLAN_MOMENTS], pages[PLAN_MOMENTS]; /* slots that are touched, as above; the load */
  double walked[PLAN_MOMENTS];                       /* bytes that are walked over */
  double walking[PLAN_MOMENTS];                      /* bytes of subjects that are */
  double brief[PLAN_BRIEFS]; /* slots that are touched, each as often as lines that it lies on */
} plan_heap;

/* Of a layout, or of one heap: averages over scenes. */
typedef struct plan_prediction {
  double lines, pages, huge_pages; /* touched in a window */
  double peak_bytes, steady_bytes; /* of memory */
  double cycles;                   /* in a window; of a heap not known */
} plan_prediction;

/* Cycles for one more of these, where a layout is; for choices that change little. */
typedef struct plan_prices {
  double line, page, steady_byte;
  double brief_line; /* in the brief that fills the first cache */
  uint32_t brief;    /* which that is */
} plan_prices;

void hearth_plan_heap_add(plan_heap *heap, const plan_subject *subject, enum plan_allocator allocator);
void hearth_plan_heap_join(plan_heap *heap, const plan_heap *other);

/* The heaps of a layout: the program's own allocator, the cold range, and pools. */
typedef struct plan_heaps {
  const plan_heap *own, *cold, *pools;
  uint32_t pool_count;
} plan_heaps;

plan_prediction hearth_plan_predict(const plan_heaps *heaps, const plan_time *time);
plan_prediction hearth_plan_predict_heap(const plan_heap *heap, const plan_time *time);
/* The cycles of a window but for those of its misses, where these are so many without hints. */
double hearth_plan_work(const plan_time *time, double misses);
/* Cycles that a byte of memory is worth in a window, where one without hints takes these cycles and this memory. */
double hearth_plan_memory_price(double cycles, double steady_bytes);
/* But for the price of memory. */
plan_prices hearth_plan_prices(const plan_heaps *heaps, const plan_time *time);
/* Cycles of a window that go to a heap's units, by these prices. */
double hearth_plan_heap_price(const plan_heap *heap, const plan_time *time, const plan_prices *prices, bool huge);
/* Cycles more if two heaps are one, of which one is touched much and the other little: what lies between the touched lines is fetched
 * ahead for nothing. */
double hearth_plan_dilution(const plan_heap *a, const plan_heap *b);
/* Is a range with so many bytes, all pools or the cold memory, in huge pages? */
bool hearth_plan_has_huge_pages(double range_bytes);

#endif
