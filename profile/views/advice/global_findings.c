/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings on global variables. One says what all globals of its kind have in common, and names those of most bytes.
 * Small ones are left out: switches of the program, which another input may set. Which variables share a cache line
 * is the linker's choice: the symbols of the program say it, not those of the profiled build. */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/advice.h"
#include "hearth/global.h"
#include "object_file.h"
#include "print.h"

typedef enum finding_kind {
  KIND_CONSTANT,
  KIND_ONCE,
  KIND_SPARSE,
  KIND_UNTOUCHED,
  KIND_SHARED,
  FINDING_KINDS
} finding_kind;

/* docs/tools.md, "hearth advise", explains each with its threshold: change both in one commit. */
static const struct {
  const char *name, *title, *remedy;
} finding_kinds[] = {{"constant", "tables that are read and never written",
                      "make them const: they can then be shared and are protected"},
                     {"once", "tables that are written once and then read",
                      "make them when the program is compiled, or keep them apart from what is written often"},
                     {"sparse", "large tables of which little is accessed",
                      "make them smaller, or move the part that is used into a table of its own"},
                     {"untouched", "large tables that are not accessed at all",
                      "leave them out, or build with 'hearth flags use --globals', which puts them apart"},
                     {"shared", "variables that are read, in a cache line with one that is written often",
                      "if other threads read than write, begin each of the two on a line of its own: alignas(64)"}};

enum {
  LINE = 64,          /* bytes */
  LARGE_LEAST = 4096, /* a page */
  READS_LEAST = 10,   /* for each store of a table that is written once */
  READ_MOSTLY = 100,  /* for each store of a variable that shares a line */
  OFTEN = 1000,       /* the part of all reads, and of all stores, that is much */
  SHOWN = 5
};

typedef struct found_global {
  hearth_global global;
  const char *beside; /* shared: the variable of the same line that is written */
  uint64_t rank;
} found_global;

typedef struct global_finding {
  uint64_t count, bytes;
  found_global largest[SHOWN];
  size_t shown;
} global_finding;

typedef struct global_advice {
  global_finding findings[FINDING_KINDS];
  uint64_t runs, reads, stores; /* the last two: of globals whose stores were counted */
  bool has_stores;
} global_advice;

static bool is_writable(const hearth_global *g) {
  const enum hearth_global_kind kind = hearth_global_kind_of(g->flags);
  return kind == HEARTH_GLOBAL_DATA || kind == HEARTH_GLOBAL_BSS;
}

static bool is_written_once(const hearth_global *g, uint64_t runs) {
  return g->stores > 0 && g->stores <= hearth_repeat_SUM((g->size + 7) / 8, runs) &&
         g->accesses - g->stores >= hearth_repeat_SUM(g->stores, READS_LEAST);
}

static bool is_found(finding_kind kind, const hearth_global *g, uint64_t runs) {
  const bool is_table = is_writable(g) && g->flags & HEARTH_GLOBAL_STORES && g->size >= LINE;
  switch (kind) {
  case KIND_CONSTANT:
    return is_table && g->accesses > 0 && g->stores == 0;
  case KIND_ONCE:
    return is_table && g->accesses > g->stores && is_written_once(g, runs);
  case KIND_SPARSE:
    return g->size >= LARGE_LEAST && g->accesses > 0 && g->touched_lines <= hearth_global_line_count(g) / 4;
  case KIND_UNTOUCHED:
    return g->size >= LARGE_LEAST && g->accesses == 0;
  case KIND_SHARED: /* find_shared */
  case FINDING_KINDS:
    break;
  }
  return false;
}

static bool is_before(const found_global *a, const found_global *b) {
  return a->rank != b->rank ? a->rank > b->rank : strcmp(a->global.name, b->global.name) < 0;
}

static void global_finding_add(global_finding *f, const found_global *found) {
  size_t at = f->shown < SHOWN ? f->shown++ : SHOWN;
  f->count++;
  f->bytes = hearth_merge_SUM(f->bytes, found->global.size);
  for (; at > 0 && is_before(found, &f->largest[at - 1]); at--)
    if (at < SHOWN)
      f->largest[at] = f->largest[at - 1];
  if (at < SHOWN)
    f->largest[at] = *found;
}

/* ------------------------------------------------ shared lines ------------------------------------------------ */

typedef struct placed_global {
  uint64_t address;
  hearth_global global;
} placed_global;

typedef struct placed_globals {
  placed_global *rows;
  size_t count, room;
} placed_globals;

/* Within a line at most: of a larger one it is not known which part is accessed. */
static hearth_status add_placed(placed_globals *p, hearth_profile *profile, const Elf64_Sym *symbol, const char *name,
                                const char *source, hearth_error *err) {
  const bool is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
  hearth_global g;
  hearth_status status =
      hearth_profile_find_global(profile, hearth_global_id(name, source, is_local ? HEARTH_GLOBAL_LOCAL : 0), &g, err);
  if (status != HEARTH_OK)
    return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
  if (!is_writable(&g) || !(g.flags & HEARTH_GLOBAL_STORES) || symbol->st_value % LINE + symbol->st_size > LINE)
    return HEARTH_OK;
  if (!hearth_array_grow(&p->rows, &p->room, p->count, sizeof *p->rows))
    return hearth_error_nomem(err);
  p->rows[p->count++] = (placed_global){symbol->st_value, g};
  return HEARTH_OK;
}

static hearth_status find_placed(placed_globals *p, hearth_profile *profile, hearth_elf_file *file, hearth_error *err) {
  hearth_symbol_table table = hearth_symbol_table_open(file, ".symtab", ".strtab");
  const char *name, *source = ""; /* of the local symbols that follow */
  Elf64_Sym symbol;
  if (table.rows.size == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO, "%s: no symbols: do not strip it", hearth_elf_file_path(file));
  while (hearth_symbol_table_next(&table, &symbol, &name)) {
    if (name && ELF64_ST_TYPE(symbol.st_info) == STT_FILE)
      source = hearth_base_name(name);
    else if (name && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF)
      HEARTH_TRY(add_placed(p, profile, &symbol, name, source, err));
  }
  return HEARTH_OK;
}

static int global_finding_compare_placed(const void *left, const void *right) {
  const placed_global *a = left, *b = right;
  return a->address != b->address ? (a->address < b->address ? -1 : 1) : strcmp(a->global.name, b->global.name);
}

static bool is_read_mostly(const global_advice *a, const hearth_global *g) {
  const uint64_t reads = g->accesses - g->stores;
  return reads > 0 && reads >= a->reads / OFTEN && reads >= hearth_repeat_SUM(g->stores, READ_MOSTLY);
}

/* Of the rows of one line. */
static void add_shared(global_advice *a, const placed_global *rows, size_t count) {
  const hearth_global *written = NULL;
  for (size_t i = 0; i < count; i++)
    if (!is_read_mostly(a, &rows[i].global) && rows[i].global.stores > (written ? written->stores : a->stores / OFTEN))
      written = &rows[i].global;
  for (size_t i = 0; written && i < count; i++)
    if (is_read_mostly(a, &rows[i].global))
      global_finding_add(&a->findings[KIND_SHARED],
                         &(found_global){rows[i].global, written->name, rows[i].global.accesses});
}

static hearth_status global_finding_find_shared(global_advice *a, hearth_profile *profile, const char *binary,
                                                hearth_error *err) {
  placed_globals p = {.rows = NULL};
  hearth_elf_file *file;
  HEARTH_TRY(hearth_elf_file_open(binary, &file, err));
  hearth_status status = a->has_stores ? find_placed(&p, profile, file, err) : HEARTH_OK;
  hearth_elf_file_close(file);
  if (p.count > 0)
    qsort(p.rows, p.count, sizeof *p.rows, global_finding_compare_placed);
  for (size_t i = 0, next; status == HEARTH_OK && i < p.count; i = next) {
    for (next = i + 1; next < p.count && p.rows[next].address / LINE == p.rows[i].address / LINE;)
      next++;
    add_shared(a, &p.rows[i], next - i);
  }
  free(p.rows);
  return status;
}

static hearth_status global_finding_find(hearth_profile *profile, const char *binary, global_advice *ret,
                                         hearth_error *err) {
  hearth_profile_summary summary;
  *ret = (global_advice){.runs = 0};
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  ret->runs = summary.runs;
  for (uint32_t i = 0; i < hearth_profile_global_count(profile); i++) {
    found_global found = {.beside = NULL};
    HEARTH_TRY(hearth_profile_get_global(profile, i, &found.global, err));
    found.rank = found.global.size;
    if (found.global.flags & HEARTH_GLOBAL_STORES) {
      ret->has_stores = true;
      ret->reads = hearth_merge_SUM(ret->reads, found.global.accesses - found.global.stores);
      ret->stores = hearth_merge_SUM(ret->stores, found.global.stores);
    }
    for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
      if (is_found(kind, &found.global, ret->runs))
        global_finding_add(&ret->findings[kind], &found);
  }
  return binary ? global_finding_find_shared(ret, profile, binary, err) : HEARTH_OK;
}

/* ------------------------------------------------ output ------------------------------------------------ */

static void print_found(const found_global *found, FILE *out) {
  const hearth_global *g = &found->global;
  const uint64_t lines = hearth_global_line_count(g);
  fputs("   ", out);
  hearth_print_global(g, out);
  fprintf(out, ": %s of %s, %" PRIu64 " access%s", hearth_amount_bytes(g->size).c,
          hearth_global_kind_name(hearth_global_kind_of(g->flags)), g->accesses, g->accesses == 1 ? "" : "es");
  if (g->flags & HEARTH_GLOBAL_STORES && g->accesses > 0)
    fprintf(out, ", %" PRIu64 " of them store%s", g->stores, hearth_plural(g->stores));
  if (found->beside) {
    fputs(", beside ", out);
    hearth_print_name(found->beside, 0, out);
  } else if (g->accesses > 0)
    fprintf(out, ", in %" PRIu64 " of %" PRIu64 " line%s", g->touched_lines, lines, hearth_plural(lines));
  fputc('\n', out);
}

static void global_finding_print_finding(finding_kind kind, const global_finding *f, FILE *out) {
  fprintf(out, "\n%s (%s): %" PRIu64 " global%s, %s\n", finding_kinds[kind].title, finding_kinds[kind].name, f->count,
          hearth_plural(f->count), hearth_amount_bytes(f->bytes).c);
  for (size_t i = 0; i < f->shown; i++)
    print_found(&f->largest[i], out);
  if (f->count > f->shown)
    fprintf(out, "   ... and %" PRIu64 " more\n", f->count - f->shown);
  fprintf(out, "   remedy: %s\n", finding_kinds[kind].remedy);
}

hearth_status hearth_global_advice_print_text(hearth_profile *profile, const char *name, const char *binary, FILE *out,
                                              hearth_error *err) {
  global_advice a;
  unsigned count = 0;
  HEARTH_TRY(global_finding_find(profile, binary, &a, err));
  if (hearth_profile_global_count(profile) == 0)
    return hearth_stream_flush(out, err);
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    count += a.findings[kind].count > 0;
  fputc('\n', out);
  hearth_print_name(name, 0, out);
  fprintf(out, ": %u finding%s on global variables\n", count, hearth_plural(count));
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    if (a.findings[kind].count > 0)
      global_finding_print_finding(kind, &a.findings[kind], out);
  if (!a.has_stores)
    fputs("\nnot looked for: constant, once, shared (needs stores: -mllvm -memprof-global-stores)\n", out);
  else if (!binary)
    fputs("\nnot looked for: shared (needs the program: --binary)\n", out);
  return hearth_stream_flush(out, err);
}

static void global_finding_write_finding(finding_kind kind, const global_finding *f, hearth_json *json) {
  hearth_json_print(json, "\n{kind:%s, title:%s, count:%lu, bytes:%lu, remedy:%s, largest:[", finding_kinds[kind].name,
                    finding_kinds[kind].title, f->count, f->bytes, finding_kinds[kind].remedy);
  for (size_t i = 0; i < f->shown; i++) {
    hearth_json_line_open(json, '{');
    hearth_json_global(json, &f->largest[i].global);
    hearth_json_close(json, '}');
  }
  hearth_json_print(json, "]}");
}

hearth_status hearth_global_advice_write_json(hearth_profile *profile, hearth_json *json, hearth_error *err) {
  global_advice a;
  HEARTH_TRY(global_finding_find(profile, NULL, &a, err));
  hearth_json_key_array(json, "global_findings");
  for (finding_kind kind = 0; kind < FINDING_KINDS; kind++)
    if (a.findings[kind].count > 0)
      global_finding_write_finding(kind, &a.findings[kind], json);
  hearth_json_close(json, ']');
  return HEARTH_OK;
}
