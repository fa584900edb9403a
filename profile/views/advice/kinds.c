/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tests of all kinds. Their thresholds are explained in docs/tools.md, "hearth advise": change both in one commit. */
#include <inttypes.h>
#include <string.h>

#include "findings.h"
#include "groups.h"
#include "hearth/profile.h"
#include "print.h"

static const double least_share = 0.01; /* of the whole: less is not worth a change */
enum {
  LEAST_SHORT_LIVED = 100000, /* blocks in a run */
  LEAST_SHORT_LIVED_MIB = 64, /* or so much of them: to touch it costs what making as many blocks does */
  LEAST_STEPS = 1000,         /* of growth in a run */
  LEAST_LEAKED = 100,         /* blocks */
  LEAST_OVERSIZE = 256,       /* bytes of a block: four granules */
  MOST_OVERSIZE = 128 << 10,  /* larger ones are mapped: pages that nothing accesses take no memory */
  LEAST_LOOKS = 8,            /* at pages */
  WORD = 8,
  LINE = 64
};

static const double MOST_TOUCHED = 0.125; /* of looks, at memory that is not in use */
static const double LEAST_LATE = 0.95;    /* of picks, in memory that has served */

#define SAY(finding, ...) snprintf((finding)->evidence, sizeof(finding)->evidence, __VA_ARGS__)

typedef struct sizes_text {
  char c[80];
} sizes_text;

/* "72 bytes", "72 to 96 bytes". */
static sizes_text sizes_of(const hearth_mib *m) {
  sizes_text text;
  if (m->MinSize == m->MaxSize)
    snprintf(text.c, sizeof text.c, "%" PRIu64 " bytes", m->MaxSize);
  else
    snprintf(text.c, sizeof text.c, "%" PRIu64 " to %" PRIu64 " bytes", m->MinSize, m->MaxSize);
  return text;
}

static double average_ns(const hearth_mib *m) { return hearth_ratio((double)m->TotalLifetime, (double)m->AllocCount); }

static double work_share(const hearth_advice_whole *w, uint64_t allocs) {
  return hearth_ratio((double)allocs, (double)w->allocs);
}

static double memory_share(const hearth_advice_whole *w, const hearth_place_sum *p) {
  return hearth_ratio((double)p->byte_seconds, (double)w->byte_seconds);
}

static hearth_amount_text held(const hearth_advice_whole *w, const hearth_place_sum *p) {
  return hearth_amount_bytes((uint64_t)hearth_ratio((double)p->byte_seconds * 1e9, w->duration_ns * w->runs));
}

/* Sums of short-lived contexts only: a function as node_new makes blocks that stay for one caller, and temporary
 * ones for another. */
static bool is_short_lived(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->brief;
  char of[32] = "", at_once[64] = "";
  double blocks = work_share(w, m->AllocCount), bytes = hearth_ratio((double)m->TotalSize, (double)w->bytes);
  bool many = (double)m->AllocCount >= LEAST_SHORT_LIVED * w->runs;
  bool much = (double)m->TotalSize >= LEAST_SHORT_LIVED_MIB * w->runs * (1 << 20);
  if (m->AllocCount <= p->grown_allocs || !(many || much))
    return false; /* what a container outgrows is a ladder: one finding is enough */
  f->saving = much && (!many || bytes > blocks) ? HEARTH_SAVES_BYTES : HEARTH_SAVES_ALLOCATIONS;
  f->share = f->saving == HEARTH_SAVES_BYTES ? bytes : blocks;
  if (m->AllocCount < p->mib.AllocCount)
    snprintf(of, sizeof of, "of %" PRIu64 " ", p->mib.AllocCount);
  if (w->tallied)
    snprintf(at_once, sizeof at_once, "; %.0f%% are freed before their thread allocates or frees another",
             100 * hearth_ratio((double)m->HEARTH_TALLY_TEMPORARY, (double)m->AllocCount));
  SAY(f, "%" PRIu64 " %sblocks of %s live %s on average%s", m->AllocCount, of, sizes_of(m).c,
      hearth_amount_time(average_ns(m)).c, at_once);
  return true;
}

/* Containers that grow show in stacks, realloc in a trace. */
static bool is_ladder(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  uint64_t grew = w->tallied ? p->mib.HEARTH_TALLY_GREW : 0;
  f->share = work_share(w, p->grown_allocs + grew);
  if ((double)(p->grown_allocs + grew) < LEAST_STEPS * w->runs)
    return false;
  if (grew > p->grown_allocs)
    SAY(f, "realloc makes blocks larger %" PRIu64 " times, with %s to copy at most; %s", grew,
        hearth_amount_bytes(p->mib.HEARTH_TALLY_COPIED_BYTES).c, sizes_of(&p->mib).c);
  else
    SAY(f, "containers grow %" PRIu64 " times, to blocks of %s", p->grown_allocs, sizes_of(&p->mib).c);
  return true;
}

static bool stays(const hearth_mib *m) { return m->LiveAtExit >= m->AllocCount - m->AllocCount / 10; }

void hearth_advice_note_end(hearth_advice_whole *w, const hearth_place_sum *place) {
  if (place->mib.AllocCount == 0 || average_ns(&place->mib) < w->duration_ns / 4)
    return;
  if (stays(&place->mib))
    w->places_left++;
  else
    w->places_freed++;
}

/* Most of what lives long is freed when the program ends, so that what stays was lost. */
static bool frees_at_end(const hearth_advice_whole *w) {
  return w->places_freed > 0 && w->places_freed >= 3 * w->places_left;
}

/* As many blocks are made at any time of the run as at any other: what a program reads, builds and then uses has
 * another average age. */
static bool grows_steadily(const hearth_advice_whole *w, const hearth_mib *m) {
  double all = w->duration_ns, lives = average_ns(m);
  return (double)m->MaxLifetime >= 0.9 * all && (double)m->MinLifetime <= 0.1 * all && lives >= 0.4 * all &&
         lives <= 0.6 * all;
}

/* Blocks that are made all through the run, and stay. */
static bool is_leak(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->mib;
  bool frees = frees_at_end(w);
  f->share = memory_share(w, p);
  if (m->LiveAtExit < LEAST_LEAKED || !stays(m) || (double)(m->MaxLifetime - m->MinLifetime) < w->duration_ns / 2 ||
      !(frees || grows_steadily(w, m)))
    return false;
  SAY(f, "%" PRIu64 " of %" PRIu64 " blocks, %s, are live at exit; the oldest lived %s, the youngest %s; %s",
      m->LiveAtExit, m->AllocCount, hearth_amount_bytes(hearth_quantity_of(HEARTH_QUANTITY_LIVE, m)).c,
      hearth_amount_time((double)m->MaxLifetime).c, hearth_amount_time((double)m->MinLifetime).c,
      frees ? "the program frees other memory when it ends" : "they grow steadily from beginning to end");
  return true;
}

/* The share of the blocks' bytes that lie in granules with accesses. */
static double used_share(const hearth_mib *m) {
  return hearth_ratio((double)m->TotalPercentUtilized, 100 * (double)m->AllocCount);
}

/* The share of moments at which its pages were touched, if looks tell it. */
static double touched_share(const hearth_mib *m) {
  return m->Looks >= LEAST_LOOKS ? (double)m->TouchedLooks / (double)m->Looks : 0;
}

/* No more accesses than writing the touched bytes once takes; and looks at pages, since code without counters may
 * use what counters saw nothing of. */
static bool is_unused(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->mib;
  double touched = (double)m->TotalSize * used_share(m), accesses = (double)m->TotalAccessCount;
  f->share = memory_share(w, p);
  if (accesses * WORD > touched || m->Looks < LEAST_LOOKS || touched_share(m) > MOST_TOUCHED)
    return false;
  if (accesses == 0)
    SAY(f,
        "no access to %" PRIu64
        " blocks of %s was counted; %.0f%% of looks saw their pages in use; they hold %s on average",
        m->AllocCount, sizes_of(m).c, 100 * touched_share(m), held(w, p).c);
  else
    SAY(f,
        "%.1f accesses for each 8 bytes that were touched were counted, of %" PRIu64
        " blocks of %s; %.0f%% of looks saw "
        "their pages in use; they hold %s on average",
        accesses * WORD / touched, m->AllocCount, sizes_of(m).c, 100 * touched_share(m), held(w, p).c);
  return true;
}

/* One pass over a block from begin to end leaves half of it alone in the last half of its life, however it is freed.
 * Where a part of the memory is used late, as of a document or a database, the program cannot free the rest: it does
 * not know which part. */
static bool is_held(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->mib;
  double late = hearth_ratio((double)m->LatePicks, (double)m->Picks);
  f->share = memory_share(w, p) * late / 2;
  if (m->Picks < w->picks / 100 || late < LEAST_LATE || touched_share(m) > 1 - late + MOST_TOUCHED)
    return false;
  SAY(f,
      "%.0f%% of this memory is not accessed in the last half of its life; %" PRIu64
      " blocks of %s, which live %s and hold %s on "
      "average",
      100 * late, m->AllocCount, sizes_of(m).c, hearth_amount_time(average_ns(m)).c, held(w, p).c);
  return true;
}

static bool is_oversized(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->mib;
  double used = used_share(m), size = hearth_ratio((double)m->TotalSize, (double)m->AllocCount);
  f->share = memory_share(w, p) * (1 - used);
  if (m->TotalAccessCount == 0 || size < LEAST_OVERSIZE || size > MOST_OVERSIZE || used > 0.25)
    return false;
  SAY(f, "%.0f%% of %" PRIu64 " blocks of %s is accessed, at most %" PRIu64 "%% of one; they hold %s on average",
      100 * used, m->AllocCount, sizes_of(m).c, m->MaxPercentUtilized, held(w, p).c);
  return true;
}

/* Sets bits of 8-byte parts with accesses apart from those without; "8-15, 24-63". */
static void say_unused_parts(const hearth_place_sum *p, size_t words, char *to, size_t size) {
  size_t length = 0;
  *to = '\0';
  for (size_t i = 0, end; i < words; i = end) {
    bool used = i < p->count_count && p->counts[i] > 0;
    for (end = i + 1; end < words && (end < p->count_count && p->counts[end] > 0) == used;)
      end++;
    if (!used && length < size)
      length += (size_t)snprintf(to + length, size - length, "%s%zu-%zu", length ? ", " : "", i * WORD, end * WORD - 1);
  }
}

/* In blocks of one size: words without accesses, or words that have few of them beside the busiest. */
static bool is_fields(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  const hearth_mib *m = &p->mib;
  size_t words = (size_t)(m->MaxSize / WORD), unused = 0, busy = 0;
  uint64_t sum = 0, most = 0;
  char parts[120];
  if (m->MinSize != m->MaxSize || m->MaxSize < LINE / 2 || m->MaxSize > 4096 || p->count_count == 0)
    return false;
  for (size_t i = 0; i < words; i++) {
    uint64_t count = i < p->count_count ? p->counts[i] : 0;
    sum = hearth_merge_SUM(sum, count);
    most = count > most ? count : most;
    unused += count == 0;
  }
  for (size_t i = 0; i < words && i < p->count_count; i++)
    busy += p->counts[i] >= most / 10 && p->counts[i] > 0;
  bool mixed = m->MaxSize > LINE && busy * 4 <= words;
  f->share = memory_share(w, p) * (double)(mixed ? words - busy : unused) / (double)words;
  if (sum == 0 || (unused * 4 < words && !mixed))
    return false;
  say_unused_parts(p, words, parts, sizeof parts);
  SAY(f, "of %" PRIu64 " blocks of %" PRIu64 " bytes, %zu of %zu words are used much%s%s", m->AllocCount, m->MaxSize,
      busy, words, unused ? ", and none of the bytes " : "", parts);
  return true;
}

static bool is_foreign(const hearth_advice_whole *w, const hearth_place_sum *p, hearth_finding *f) {
  uint64_t foreign = p->mib.HEARTH_TALLY_FOREIGN;
  f->share = work_share(w, foreign);
  if (foreign < LEAST_STEPS || foreign < p->mib.AllocCount / 2)
    return false;
  SAY(f, "%" PRIu64 " of %" PRIu64 " blocks are freed by another thread than they were allocated by", foreign,
      p->mib.AllocCount);
  return true;
}

/* `needs`: the data without which the kind is not looked for; `work`: it may save allocations or copies, else memory. */
static const struct {
  const char *name;
  hearth_advice_data needs;
  bool work;
  bool (*test)(const hearth_advice_whole *, const hearth_place_sum *, hearth_finding *);
  const char *title, *remedy;
} kinds[HEARTH_ADVICE_KINDS] = {
    [HEARTH_ADVICE_BRIEF] = {"short-lived", HEARTH_ADVICE_ANY, true, is_short_lived, "short-lived blocks",
                             "keep one buffer and use it again, reserve before a loop, or use the stack"},
    [HEARTH_ADVICE_LADDER] = {"ladder", HEARTH_ADVICE_ANY, true, is_ladder, "memory that grows step by step",
                              "reserve the size beforehand, or grow by a factor"},
    [HEARTH_ADVICE_LEAK] =
        {"leak", HEARTH_ADVICE_ANY, false, is_leak, "memory that grows and is never freed",
         "free it when it has served, or bound what keeps it; leave it if the program always ends soon"},
    [HEARTH_ADVICE_UNUSED] = {"unused", HEARTH_ADVICE_LOOKS, false, is_unused,
                              "memory that is hardly touched after it was written",
                              "do not make it, make it when it is needed, or free it early"},
    [HEARTH_ADVICE_OVERSIZED] = {"oversized", HEARTH_ADVICE_ACCESSES, false, is_oversized,
                                 "blocks larger than the part that is used",
                                 "allocate what is needed, or let the block grow"},
    [HEARTH_ADVICE_HELD] = {"held", HEARTH_ADVICE_PICKS, false, is_held,
                            "memory that is kept long after its last access",
                            "free the blocks once they have served, work on parts of the data, or keep them elsewhere"},
    [HEARTH_ADVICE_FIELDS] = {"fields", HEARTH_ADVICE_HISTOGRAM, false, is_fields,
                              "blocks with parts that nothing accesses, or of which few are used much",
                              "move the parts that are used little into a block of their own, or drop them"},
    [HEARTH_ADVICE_FOREIGN] = {"foreign", HEARTH_ADVICE_TRACE, true, is_foreign, "blocks that another thread frees",
                               "hand them back to their thread, or free them in batches"},
};

const char *hearth_advice_kind_name(hearth_advice_kind kind) { return kinds[kind].name; }
hearth_advice_data hearth_advice_needs(hearth_advice_kind kind) { return kinds[kind].needs; }
const char *hearth_advice_title(hearth_advice_kind kind) { return kinds[kind].title; }
const char *hearth_advice_remedy(hearth_advice_kind kind) { return kinds[kind].remedy; }

bool hearth_advice_test(const hearth_advice_whole *whole, const hearth_place_sum *place, hearth_advice_kind kind,
                        hearth_finding *ret) {
  hearth_advice_data needs = kinds[kind].needs;
  bool counts = needs >= HEARTH_ADVICE_ACCESSES && needs <= HEARTH_ADVICE_HISTOGRAM;
  ret->saving = kinds[kind].work ? HEARTH_SAVES_ALLOCATIONS : HEARTH_SAVES_MEMORY;
  if (counts && place->library_allocs > 0) /* others use it than those that count */
    return false;
  return place->mib.AllocCount > 0 && kinds[kind].test(whole, place, ret) && ret->share >= least_share;
}
