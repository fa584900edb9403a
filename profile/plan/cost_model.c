/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Misses follow from footprints: the units touched in windows of one length say how many are in longer and shorter ones, if
 * their number grows by a power of the time; from the time that it takes to fill a cache follows the rate at which new units
 * come in (Xiang, Ding, Luo and Bao, "HOTL: a higher order theory of locality", ASPLOS 2013). */
#include "cost_model.h"

#include "numbers.h"

enum { LINE = 64, PAGE = 4096, HUGE = 2 << 20 };

/* A server of x86-64 of the last ten years. Latencies are about half of those measured for dependent loads (Intel 64
 * Optimization Reference Manual, appendix E; 7-cpu.com), as misses overlap. */
static const double l2_lines = 2 << 14, l3_lines = 1 << 19; /* 2 MiB, and a share of 32 MiB */
static const double l2_miss = 30, l3_miss = 100;
static const double l1_pages = 64, l2_pages = 1536; /* translations; of both sizes */
static const double l1_page_miss = 4, l2_page_miss = 30;
static const double fault = 2000, huge_fault = 400000; /* clearing included, in a virtual machine */
static const double own_pair = 60, pool_pair = 44;     /* of malloc and free (test/bench/hotcold.sh) */
/* Cycles between two accesses of the heap where nothing misses. */
static const double cycles_per_access = 2.5;
/* Memory has a price, too: all of it as much as this part of the time. */
static const double memory_share = 0.05;

/* What a pool takes beside its blocks: half a unit of the adapter. */
static const double pool_waste = 32 << 10;
/* Pools together, and cold memory, get huge pages once there is so much of it. */
static const double huge_from = 8 << 20;

/* -------------------------------------------------- heaps ---------------------------------------------------- */

static double rounded(double size, enum plan_allocator allocator) {
  double whole = (double)(((uint64_t)size + 15) / 16 * 16);
  if (allocator == PLAN_POOLS)
    return whole > 16 ? whole : 16;
  whole = (double)(((uint64_t)size + 8 + 15) / 16 * 16); /* with its header */
  return whole > 32 ? whole : 32;
}

void hearth_plan_heap_add(plan_heap *heap, const plan_subject *s, enum plan_allocator allocator) {
  double size = rounded(s->size, allocator);
  heap->bytes += s->blocks * size;
  heap->peak_bytes += s->peak_blocks * size;
  heap->blocks += s->blocks;
  heap->slots += s->slots;
  heap->pairs += s->pairs;
  for (uint32_t i = 0; i < PLAN_SCENES; i++)
    if (s->scenes >> i & 1) {
      heap->touched[i] += s->touched;
      heap->pages[i] += s->pages;
      heap->walked[i] += s->walk * s->blocks * size;
      heap->walking[i] += s->walk > 0 ? s->blocks * size : 0;
    }
}

void hearth_plan_heap_join(plan_heap *heap, const plan_heap *other) {
  heap->bytes += other->bytes;
  heap->peak_bytes += other->peak_bytes;
  heap->blocks += other->blocks;
  heap->slots += other->slots;
  heap->pairs += other->pairs;
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    heap->touched[i] += other->touched[i];
    heap->pages[i] += other->pages[i];
    heap->walked[i] += other->walked[i];
    heap->walking[i] += other->walking[i];
  }
}

/* Pages of some size; a heap's last one is shared with others. */
static double touched_pages(const plan_heap *heap, const plan_time *time, uint32_t scene, double size) {
  if (heap->bytes <= 0)
    return 0;
  double units = heap->bytes / size, others = heap->bytes - heap->walking[scene];
  double walked = heap->walked[scene] * (1 + time->between[scene] * others) / heap->bytes;
  walked = walked < 1 ? walked : 1;
  return units * (walked + (1 - walked) * plan_covered(heap->pages[scene] / units));
}

/* Lines in so many touched pages of PAGE bytes. */
static double touched_lines(const plan_heap *heap, uint32_t scene, double pages) {
  double lines = pages * (PAGE / LINE);
  if (lines <= 0)
    return 0;
  double in_a_line = heap->slots / (heap->bytes / LINE), share = heap->touched[scene] / (lines * in_a_line);
  return share < 0.999 ? lines * plan_covered(-plan_ln(1 - share) * in_a_line) : lines;
}

/* Memory that stays when the blocks of the peak have died down to the average: pages go back once all of their blocks have
 * died. */
static double steady_bytes(const plan_heap *heap) {
  if (heap->blocks <= 0 || heap->peak_bytes <= 0)
    return 0;
  double live = heap->bytes / heap->peak_bytes, a_page = PAGE / (heap->bytes / heap->blocks);
  if (live >= 0.999)
    return heap->peak_bytes;
  return heap->peak_bytes * plan_covered(-plan_ln(1 - live) * (a_page > 1 ? a_page : 1));
}

plan_prediction hearth_plan_predict_heap(const plan_heap *heap, const plan_time *time) {
  plan_prediction p = {.peak_bytes = heap->peak_bytes, .steady_bytes = steady_bytes(heap)};
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    double pages = touched_pages(heap, time, i, PAGE);
    p.lines += touched_lines(heap, i, pages) / PLAN_SCENES;
    p.pages += pages / PLAN_SCENES;
    p.huge_pages += touched_pages(heap, time, i, HUGE) / PLAN_SCENES;
  }
  return p;
}

bool hearth_plan_has_huge_pages(double range_bytes) { return range_bytes >= huge_from; }

double hearth_plan_heap_price(const plan_heap *heap, const plan_time *time, const plan_prices *prices, bool huge) {
  double lines = 0, translated = 0;
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    double pages = touched_pages(heap, time, i, PAGE);
    lines += touched_lines(heap, i, pages) / PLAN_SCENES;
    translated += (huge ? touched_pages(heap, time, i, HUGE) : pages) / PLAN_SCENES;
  }
  return lines * prices->line + (translated + 0.5) * prices->page + steady_bytes(heap) * prices->steady_byte;
}

/* -------------------------------------------------- misses --------------------------------------------------- */

/* Misses in a window that touches `units` of `all` with so many accesses, where `room` of them fit. */
static double misses(double units, double all, double accesses, double room) {
  if (all <= room || units <= 1 || accesses <= units)
    return all <= room ? 0 : units;
  double power = plan_ln(units) / plan_ln(accesses); /* units = time ^ power; one access touches one */
  power = power < 0.2 ? 0.2 : power;
  double count = power * room * plan_exp(plan_ln(units / room) / power) * (1 - room / all);
  return count < accesses ? count : accesses;
}

/* What a window touches, and what there is. */
typedef struct footprint {
  double lines, pages, all_lines, all_pages; /* pages of any size: translations */
} footprint;

static double line_cycles(const footprint *f, const plan_time *time) {
  return misses(f->lines, f->all_lines, time->accesses, l2_lines) * l2_miss +
         misses(f->lines, f->all_lines, time->accesses, l3_lines) * l3_miss;
}

static double page_cycles(const footprint *f, const plan_time *time) {
  return misses(f->pages, f->all_pages, time->accesses, l1_pages) * l1_page_miss +
         misses(f->pages, f->all_pages, time->accesses, l2_pages) * l2_page_miss;
}

static double pool_bytes(const plan_heaps *heaps) {
  double bytes = 0;
  for (uint32_t i = 0; i < heaps->pool_count; i++)
    bytes += heaps->pools[i].bytes;
  return bytes;
}

static void add_to_footprint(footprint *f, const plan_heap *heap, const plan_time *time, uint32_t scene, double page) {
  double pages = touched_pages(heap, time, scene, PAGE);
  f->lines += touched_lines(heap, scene, pages);
  f->all_lines += heap->bytes / LINE;
  f->pages += page == PAGE ? pages : touched_pages(heap, time, scene, page);
  f->all_pages += heap->bytes / page;
}

static double page_bytes(double range_bytes) { return hearth_plan_has_huge_pages(range_bytes) ? HUGE : PAGE; }

static double fault_cycles(double bytes, bool huge) { return huge ? bytes / HUGE * huge_fault : bytes / PAGE * fault; }

static footprint footprint_of(const plan_heaps *heaps, const plan_time *time, uint32_t scene, bool huge) {
  footprint f = {0};
  add_to_footprint(&f, heaps->own, time, scene, PAGE);
  add_to_footprint(&f, heaps->cold, time, scene, page_bytes(heaps->cold->bytes));
  for (uint32_t i = 0; i < heaps->pool_count; i++)
    add_to_footprint(&f, &heaps->pools[i], time, scene, huge ? HUGE : PAGE);
  return f;
}

static void add_prediction(plan_prediction *to, const plan_heap *heap, const plan_time *time) {
  plan_prediction p = hearth_plan_predict_heap(heap, time);
  to->lines += p.lines;
  to->pages += p.pages;
  to->huge_pages += p.huge_pages;
  to->peak_bytes += p.peak_bytes;
  to->steady_bytes += p.steady_bytes;
}

plan_prediction hearth_plan_predict(const plan_heaps *heaps, const plan_time *time) {
  plan_prediction p = {0};
  bool huge = hearth_plan_has_huge_pages(pool_bytes(heaps));
  add_prediction(&p, heaps->own, time);
  add_prediction(&p, heaps->cold, time);
  double faults = fault_cycles(heaps->own->peak_bytes, false) +
                  fault_cycles(heaps->cold->peak_bytes, hearth_plan_has_huge_pages(heaps->cold->bytes));
  double pairs = heaps->own->pairs * own_pair + heaps->cold->pairs * pool_pair;
  for (uint32_t i = 0; i < heaps->pool_count; i++) {
    double peak = heaps->pools[i].peak_bytes;
    add_prediction(&p, &heaps->pools[i], time);
    p.peak_bytes += pool_waste;
    p.steady_bytes += pool_waste;
    pairs += heaps->pools[i].pairs * pool_pair;
    faults += fault_cycles(peak, huge);
  }
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    footprint f = footprint_of(heaps, time, i, huge);
    p.cycles += (line_cycles(&f, time) + page_cycles(&f, time)) / PLAN_SCENES;
  }
  p.cycles += faults / time->windows + pairs;
  return p;
}

double hearth_plan_work(const plan_time *time) { return time->accesses * cycles_per_access; }

double hearth_plan_memory_price(double cycles, double steady_bytes) {
  return steady_bytes > 0 ? memory_share * cycles / steady_bytes : 0;
}

plan_prices hearth_plan_prices(const plan_heaps *heaps, const plan_time *time) {
  bool huge = hearth_plan_has_huge_pages(pool_bytes(heaps));
  footprint sum = {0};
  double lines = 0, pages = 0;
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    footprint f = footprint_of(heaps, time, i, huge);
    sum.lines += f.lines;
    sum.pages += f.pages;
    lines += line_cycles(&f, time);
    pages += page_cycles(&f, time);
  }
  return (plan_prices){.line = sum.lines > 0 ? lines / sum.lines : 0, .page = sum.pages > 0 ? pages / sum.pages : 0};
}
