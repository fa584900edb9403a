/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings on global variables. One says what all globals of its kind have in common, and names those of most bytes. Small ones
 * are left out: switches of the program, which another input may set. */
#include "hearth/global_advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "print.h"

typedef enum finding_kind {
#define HEARTH_GLOBAL_ADVICE(NAME, name, stores, title, remedy) KIND_##NAME,
#include "hearth/global_advice_kinds.def"
  FINDING_KINDS
} finding_kind;

static const struct {
  const char *name, *title, *remedy;
  bool needs_stores;
} finding_kinds[] = {
#define HEARTH_GLOBAL_ADVICE(NAME, name, stores, title, remedy) {name, title, remedy, stores},
#include "hearth/global_advice_kinds.def"
};

enum {
  TABLE_LEAST = 64,   /* bytes */
  LARGE_LEAST = 4096, /* a page */
  READS_LEAST = 10,   /* for each store of a table that is written once */
  SHOWN = 5
};

typedef struct global_finding {
  uint64_t count, bytes;
  hearth_global largest[SHOWN];
  size_t shown;
} global_finding;

typedef struct global_advice {
  global_finding findings[FINDING_KINDS];
  uint64_t runs;
  bool has_globals, has_stores;
} global_advice;

static bool is_writable(const hearth_global *g) {
  const enum hearth_global_kind kind = hearth_global_kind_of(g->flags);
  return kind == HEARTH_GLOBAL_DATA || kind == HEARTH_GLOBAL_BSS;
}

static uint64_t line_count(const hearth_global *g) { return (g->size + 63) / 64; }

static bool is_written_once(const hearth_global *g, uint64_t runs) {
  return g->stores > 0 && g->stores <= hearth_repeat_SUM((g->size + 7) / 8, runs) &&
         g->accesses - g->stores >= hearth_repeat_SUM(g->stores, READS_LEAST);
}

static bool is_found(finding_kind kind, const hearth_global *g, uint64_t runs) {
  const bool is_table = is_writable(g) && g->flags & HEARTH_GLOBAL_STORES && g->size >= TABLE_LEAST;
  switch (kind) {
  case KIND_CONSTANT:
    return is_table && g->accesses > 0 && g->stores == 0;
  case KIND_ONCE:
    return is_table && g->accesses > g->stores && is_written_once(g, runs);
  case KIND_SPARSE:
    return g->size >= LARGE_LEAST && g->accesses > 0 && g->touched_lines <= line_count(g) / 4;
  case KIND_UNTOUCHED:
    return g->size >= LARGE_LEAST && g->accesses == 0;
  case FINDING_KINDS:
    break;
  }
  return false;
}

static bool is_larger(const hearth_global *a, const hearth_global *b) {
  return a->size != b->size ? a->size > b->size : strcmp(a->name, b->name) < 0;
}

static void add(global_finding *f, const hearth_global *g) {
  size_t at = f->shown < SHOWN ? f->shown++ : SHOWN;
  f->count++;
  f->bytes = hearth_merge_SUM(f->bytes, g->size);
  for (; at > 0 && is_larger(g, &f->largest[at - 1]); at--)
    if (at < SHOWN)
      f->largest[at] = f->largest[at - 1];
  if (at < SHOWN)
    f->largest[at] = *g;
}

static hearth_status find(hearth_profile *profile, global_advice *ret, hearth_error *err) {
  hearth_profile_summary summary;
  *ret = (global_advice){.has_globals = hearth_profile_global_count(profile) > 0};
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  ret->runs = summary.runs;
  for (uint32_t i = 0; i < hearth_profile_global_count(profile); i++) {
    hearth_global g;
    HEARTH_TRY(hearth_profile_get_global(profile, i, &g, err));
    ret->has_stores |= (g.flags & HEARTH_GLOBAL_STORES) != 0;
    for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
      if (is_found(kind, &g, ret->runs))
        add(&ret->findings[kind], &g);
  }
  return HEARTH_OK;
}

static void print_global(const hearth_global *g, FILE *out) {
  fputs("   ", out);
  hearth_print_name(g->name, 0, out);
  if (*g->file) {
    fputs("  ", out);
    hearth_print_name(g->file, 0, out);
  }
  if (g->line)
    fprintf(out, ":%" PRIu32, g->line);
  fprintf(out, ": %s of %s, %" PRIu64 " access%s", hearth_amount_bytes(g->size).c,
          hearth_global_kind_name(hearth_global_kind_of(g->flags)), g->accesses, g->accesses == 1 ? "" : "es");
  if (g->flags & HEARTH_GLOBAL_STORES && g->accesses > 0)
    fprintf(out, ", %" PRIu64 " of them store%s", g->stores, hearth_plural(g->stores));
  if (g->accesses > 0)
    fprintf(out, ", in %" PRIu64 " of %" PRIu64 " line%s", g->touched_lines, line_count(g),
            hearth_plural(line_count(g)));
  fputc('\n', out);
}

static void print_finding(finding_kind kind, const global_finding *f, FILE *out) {
  fprintf(out, "\n%s (%s): %" PRIu64 " global%s, %s\n", finding_kinds[kind].title, finding_kinds[kind].name, f->count,
          hearth_plural(f->count), hearth_amount_bytes(f->bytes).c);
  for (size_t i = 0; i < f->shown; i++)
    print_global(&f->largest[i], out);
  if (f->count > f->shown)
    fprintf(out, "   ... and %" PRIu64 " more\n", f->count - f->shown);
  fprintf(out, "   remedy: %s\n", finding_kinds[kind].remedy);
}

hearth_status hearth_global_advice_print_text(hearth_profile *profile, const char *name, FILE *out, hearth_error *err) {
  global_advice a;
  unsigned count = 0;
  HEARTH_TRY(find(profile, &a, err));
  if (!a.has_globals)
    return hearth_stream_flush(out, err);
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    count += a.findings[kind].count > 0;
  fputc('\n', out);
  hearth_print_name(name, 0, out);
  fprintf(out, ": %u finding%s on global variables\n", count, hearth_plural(count));
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    if (a.findings[kind].count > 0)
      print_finding(kind, &a.findings[kind], out);
  if (!a.has_stores)
    fputs("\nnot looked for: constant, once (needs stores: -mllvm -memprof-global-stores)\n", out);
  return hearth_stream_flush(out, err);
}

static void write_finding(finding_kind kind, const global_finding *f, hearth_json *json) {
  hearth_json_line_open(json, '{');
  hearth_json_key_string(json, "kind", finding_kinds[kind].name);
  hearth_json_key_string(json, "title", finding_kinds[kind].title);
  HEARTH_JSON_MEMBERS(json, f, count, bytes);
  hearth_json_key_string(json, "remedy", finding_kinds[kind].remedy);
  hearth_json_key_array(json, "largest");
  for (size_t i = 0; i < f->shown; i++) {
    const hearth_global *g = &f->largest[i];
    hearth_json_line_open(json, '{');
    HEARTH_JSON_MEMBERS(json, g, name, file, line, size, accesses, touched_lines);
    if (g->flags & HEARTH_GLOBAL_STORES)
      hearth_json_key_uint(json, "stores", g->stores);
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
  hearth_json_close(json, '}');
}

hearth_status hearth_global_advice_write_json(hearth_profile *profile, hearth_json *json, hearth_error *err) {
  global_advice a;
  HEARTH_TRY(find(profile, &a, err));
  hearth_json_key_array(json, "global_findings");
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    if (a.findings[kind].count > 0)
      write_finding(kind, &a.findings[kind], json);
  hearth_json_close(json, ']');
  hearth_json_key_array(json, "globals_not_looked_for");
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    if (!a.has_globals || (finding_kinds[kind].needs_stores && !a.has_stores))
      hearth_json_string(json, finding_kinds[kind].name);
  hearth_json_close(json, ']');
  return HEARTH_OK;
}
