/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Misses follow from footprints, the units touched in windows of one length and in spans of several: from the time that it takes
 * to fill a cache follows the rate at which new units come in (Xiang, Ding, Luo and Bao, "HOTL: a higher order theory of
 * locality", ASPLOS 2013). */
#include "cost_model.h"

#include "numbers.h"

enum { LINE = 64, PAGE = 4096, HUGE = 2 << 20 };

/* A server of x86-64 of the last ten years. Latencies are about half of those measured for dependent loads (Intel 64
 * Optimization Reference Manual, appendix E; 7-cpu.com), as misses overlap. */
static const double l1_lines = 512, l2_lines = 2 << 14, l3_lines = 1 << 19; /* 32 KiB, 2 MiB, and a share of 32 MiB */
static const double l1_miss = 2, l2_miss = 30, l3_miss = 100;               /* processors fetch ahead into the first */
static const double l1_pages = 64, l2_pages = 1536;                         /* translations; of both sizes */
static const double l1_page_miss = 4, l2_page_miss = 30;
static const double lonely_line = 10; /* that was not fetched ahead, as the lines beside it are not touched */
static const double fault = 4000, huge_fault = 400000; /* clearing included, in a virtual machine */
static const double own_pair = 60, pool_pair = 44;     /* of malloc and free (test/bench/hinted.sh) */
/* Cycles between two accesses of the heap where nothing misses. A program that takes longer computes, or it waits: the profile does
 * not tell which. */
static const double least_per_access = 2.5, most_per_access = 16;
static const double cycles_per_ns = 2.7;
/* Memory has a price, too: all of it as much as this part of the time. */
static const double memory_share = 0.05;

/* What a pool takes beside its blocks: half a unit of the allocator. */
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

/* The lines that a slot of a block of this size lies on: its beginning is anywhere at 16 bytes, unless blocks of a pool fill
 * lines. */
static double lines_of_slot(double size, enum plan_allocator allocator) {
  uint64_t whole = (uint64_t)rounded(size, allocator);
  bool fills_lines = allocator == PLAN_POOLS && (LINE % whole == 0 || whole % LINE == 0);
  return size > LINE || fills_lines || size <= 16 ? 1 : 1 + (size - 16) / LINE;
}

/* The share that so many windows touch, if each touches this one. */
static double in_windows(double share, double windows) {
  return share < 0.999999 ? hearth_covered(-hearth_ln(1 - share) * windows) : 1;
}

static void add_spans(plan_heap *heap, const plan_subject *s, double bytes, double lines) {
  double share = plan_share_of_scenes(s), windows = 1;
  if (share <= 0 || s->slots <= 0)
    return;
  for (uint32_t i = PLAN_SCENES; i < PLAN_MOMENTS; i++, windows *= 4) {
    heap->touched[i] += lines * s->slots * in_windows(s->touched * share / s->slots, windows);
    heap->pages[i] += s->pages * share * windows;
    heap->walked[i] += in_windows(s->walk * share, windows) * bytes;
    heap->walking[i] += s->walk > 0 ? bytes : 0;
  }
}

static void add_briefs(plan_heap *heap, const plan_subject *s, double lines) {
  double slots = s->touched * plan_share_of_scenes(s), uses = s->uses;
  for (uint32_t i = 0; i < PLAN_BRIEFS && slots > 0; i++, uses /= 4)
    heap->brief[i] += lines * slots * hearth_covered(uses / slots);
}

void hearth_plan_heap_add(plan_heap *heap, const plan_subject *s, enum plan_allocator allocator) {
  double size = rounded(s->size, allocator);
  heap->bytes += s->blocks * size;
  heap->peak_bytes += s->peak_blocks * size;
  heap->blocks += s->blocks;
  heap->slots += s->slots * lines_of_slot(s->size, allocator);
  heap->pairs += s->pairs;
  for (uint32_t i = 0; i < PLAN_SCENES; i++)
    if (s->scenes >> i & 1) {
      heap->touched[i] += s->touched * lines_of_slot(s->size, allocator);
      heap->pages[i] += s->pages;
      heap->walked[i] += s->walk * s->blocks * size;
      heap->walking[i] += s->walk > 0 ? s->blocks * size : 0;
    }
  add_spans(heap, s, s->blocks * size, lines_of_slot(s->size, allocator));
  add_briefs(heap, s, lines_of_slot(s->size, allocator));
}

void hearth_plan_heap_join(plan_heap *heap, const plan_heap *other) {
  heap->bytes += other->bytes;
  heap->peak_bytes += other->peak_bytes;
  heap->blocks += other->blocks;
  heap->slots += other->slots;
  heap->pairs += other->pairs;
  for (uint32_t i = 0; i < PLAN_MOMENTS; i++) {
    heap->touched[i] += other->touched[i];
    heap->pages[i] += other->pages[i];
    heap->walked[i] += other->walked[i];
    heap->walking[i] += other->walking[i];
  }
  for (uint32_t i = 0; i < PLAN_BRIEFS; i++)
    heap->brief[i] += other->brief[i];
}

/* Pages of some size; a heap's last one is shared with others. */
static double touched_pages(const plan_heap *heap, const plan_time *time, uint32_t moment, double size) {
  if (heap->bytes <= 0)
    return 0;
  double units = heap->bytes / size, others = heap->bytes - heap->walking[moment];
  double walked = heap->walked[moment] * (1 + time->between[moment] * others) / heap->bytes;
  walked = walked < 1 ? walked : 1;
  return units * (walked + (1 - walked) * hearth_covered(heap->pages[moment] / units));
}

/* Lines in so many touched pages of PAGE bytes. */
static double touched_lines(const plan_heap *heap, uint32_t moment, double pages) {
  double lines = pages * (PAGE / LINE);
  if (lines <= 0)
    return 0;
  double in_a_line = heap->slots / (heap->bytes / LINE), share = heap->touched[moment] / (lines * in_a_line);
  return share < 0.999 ? lines * hearth_covered(-hearth_ln(1 - share) * in_a_line) : lines;
}

/* Memory that stays when the blocks of the peak have died down to the average: pages go back once all of their blocks have
 * died. */
static double steady_bytes(const plan_heap *heap) {
  if (heap->blocks <= 0 || heap->peak_bytes <= 0)
    return 0;
  double live = heap->bytes / heap->peak_bytes, a_page = PAGE / (heap->bytes / heap->blocks);
  if (live >= 0.999)
    return heap->peak_bytes;
  return heap->peak_bytes * hearth_covered(-hearth_ln(1 - live) * (a_page > 1 ? a_page : 1));
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

/* Of so many lines on touched pages, those that a brief touches. */
static double brief_lines(const plan_heap *heap, double lines, uint32_t brief) {
  return lines > 0 ? lines * hearth_covered(heap->brief[brief] / lines) : 0;
}

bool hearth_plan_has_huge_pages(double range_bytes) { return range_bytes >= huge_from; }

double hearth_plan_heap_price(const plan_heap *heap, const plan_time *time, const plan_prices *prices, bool huge) {
  double lines = 0, on_pages = 0, translated = 0;
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    double pages = touched_pages(heap, time, i, PAGE);
    lines += touched_lines(heap, i, pages) / PLAN_SCENES;
    on_pages += pages * (PAGE / LINE) / PLAN_SCENES;
    translated += (huge ? touched_pages(heap, time, i, HUGE) : pages) / PLAN_SCENES;
  }
  return lines * prices->line + (translated + 0.5) * prices->page + steady_bytes(heap) * prices->steady_byte +
         brief_lines(heap, on_pages, prices->brief) * prices->brief_line;
}

static double touched_slots(const plan_heap *heap) {
  double touched = 0;
  for (uint32_t i = 0; i < PLAN_SCENES; i++)
    touched += heap->touched[i] / PLAN_SCENES;
  return touched;
}

/* Of the touched lines of the one that is touched more, those that it has more than the other would at its size, by the other's share. */
double hearth_plan_dilution(const plan_heap *a, const plan_heap *b) {
  double more = touched_slots(a) * b->bytes - touched_slots(b) * a->bytes, bytes = a->bytes + b->bytes;
  return bytes > 0 ? (more < 0 ? -more : more) / bytes * lonely_line : 0;
}

/* -------------------------------------------------- misses --------------------------------------------------- */

/* The units that each moment touches, and the lines that each brief does, and all that there are; pages of any size:
 * translations. */
typedef struct footprint {
  double lines[PLAN_MOMENTS], pages[PLAN_MOMENTS], brief_lines[PLAN_BRIEFS];
  double all_lines, all_pages;
} footprint;

/* Misses in a window that touches more units than the room for them, `units`, with so many accesses: from one access to the
 * window the number of units grows by a power of the time. */
static double misses_within(double units, double accesses, double room) {
  if (units <= 1 || accesses <= units)
    return units;
  double power = hearth_ln(units) / hearth_ln(accesses);
  power = power < 0.2 ? 0.2 : power;
  double count = power * room * hearth_exp(hearth_ln(units / room) / power);
  return count < accesses ? count : accesses;
}

/* Misses in a window, if so many windows touch `few` units, at most the room, and four times as many windows touch `many`, more than the
 * room: between them the units grow by a power of the time. */
static double misses_between(double few, double many, double windows, double room) {
  double power = hearth_ln(many / few) / hearth_ln(4);
  return power * room / (windows * hearth_exp(hearth_ln(room / few) / power));
}

/* Misses in a window where several fill the room. */
static double misses_across(const double *units, double room) {
  double windows = 1;
  for (uint32_t i = PLAN_SCENES; i + 1 < PLAN_MOMENTS; i++, windows *= 4)
    if (units[i + 1] > room && units[i] > 0)
      return misses_between(units[i] < room ? units[i] : room, units[i + 1], windows, room);
  return 0;
}

/* Misses in a window, on average over scenes. */
static double misses(const double *units, double all, double accesses, double room) {
  double sum = 0, across = all > room ? misses_across(units, room) : 0;
  for (uint32_t i = 0; i < PLAN_SCENES && all > room; i++)
    sum += units[i] > room ? misses_within(units[i], accesses, room) : across < units[i] ? across : units[i];
  return sum / PLAN_SCENES;
}

/* Misses of the first cache in a window. *ret_brief fills it. */
static double misses_of_briefs(const footprint *f, uint32_t *ret_brief) {
  const double *lines = f->brief_lines;
  double windows = 1;
  *ret_brief = 0;
  for (uint32_t i = 0; i + 1 < PLAN_BRIEFS; i++) {
    windows /= 4;
    if (lines[i] <= l1_lines || lines[i + 1] > l1_lines || lines[i + 1] <= 0)
      continue;
    *ret_brief = i;
    return misses_between(lines[i + 1], lines[i], windows, l1_lines);
  }
  return 0;
}

static double brief_cycles(const footprint *f, uint32_t *ret_brief) { return misses_of_briefs(f, ret_brief) * l1_miss; }

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

static void add_to_footprint(footprint *f, const plan_heap *heap, const plan_time *time, double page) {
  double on_pages = 0;
  for (uint32_t i = 0; i < PLAN_MOMENTS; i++) {
    double pages = touched_pages(heap, time, i, PAGE);
    f->lines[i] += touched_lines(heap, i, pages);
    f->pages[i] += page == PAGE ? pages : touched_pages(heap, time, i, page);
    on_pages += i < PLAN_SCENES ? pages * (PAGE / LINE) / PLAN_SCENES : 0;
  }
  for (uint32_t i = 0; i < PLAN_BRIEFS; i++)
    f->brief_lines[i] += brief_lines(heap, on_pages, i);
  f->all_lines += heap->bytes / LINE;
  f->all_pages += heap->bytes / page;
}

static double page_bytes(double range_bytes) { return hearth_plan_has_huge_pages(range_bytes) ? HUGE : PAGE; }

static double fault_cycles(double bytes, bool huge) { return huge ? bytes / HUGE * huge_fault : bytes / PAGE * fault; }

static footprint footprint_of(const plan_heaps *heaps, const plan_time *time, bool huge) {
  footprint f = {0};
  add_to_footprint(&f, heaps->own, time, PAGE);
  add_to_footprint(&f, heaps->cold, time, page_bytes(heaps->cold->bytes));
  for (uint32_t i = 0; i < heaps->pool_count; i++)
    add_to_footprint(&f, &heaps->pools[i], time, huge ? HUGE : PAGE);
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
  footprint f = footprint_of(heaps, time, huge);
  uint32_t brief;
  p.cycles = brief_cycles(&f, &brief) + line_cycles(&f, time) + page_cycles(&f, time) + faults / time->windows + pairs;
  return p;
}

double hearth_plan_work(const plan_time *time, double misses) {
  double least = time->accesses * least_per_access, most = time->accesses * most_per_access;
  double rest = time->plain_ns * cycles_per_ns - misses;
  return rest > most ? most : rest > least ? rest : least;
}

double hearth_plan_memory_price(double cycles, double steady_bytes) {
  return steady_bytes > 0 ? memory_share * cycles / steady_bytes : 0;
}

plan_prices hearth_plan_prices(const plan_heaps *heaps, const plan_time *time) {
  footprint f = footprint_of(heaps, time, hearth_plan_has_huge_pages(pool_bytes(heaps)));
  double lines = 0, pages = 0;
  for (uint32_t i = 0; i < PLAN_SCENES; i++) {
    lines += f.lines[i] / PLAN_SCENES;
    pages += f.pages[i] / PLAN_SCENES;
  }
  uint32_t brief;
  double of_brief = brief_cycles(&f, &brief);
  return (plan_prices){.line = lines > 0 ? line_cycles(&f, time) / lines : 0,
                       .page = pages > 0 ? page_cycles(&f, time) / pages : 0,
                       .brief_line = of_brief > 0 ? of_brief / f.brief_lines[brief] : 0,
                       .brief = brief};
}
