/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table from the DIE that all copies of a function refer to, to one row; names and paths are read when the
 * row is made. */

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "dwarf_reader.h"

struct hearth_body_origin {
  const void *die;
  uint32_t function;
};

static bool is_of_die(const void *owner, uint32_t item, const void *key) {
  return ((const hearth_body_functions *)owner)->origins[item].die == key;
}

/* --- What debug information says ---------------------------------------------------------------------------------- */

static const char *integrated_string(const hearth_die *die, uint32_t name) {
  hearth_attribute attribute;
  return hearth_die_integrated(die, name, &attribute) ? hearth_attribute_string(&attribute) : NULL;
}

static const char *linkage_name(const hearth_die *die) {
  const char *name = integrated_string(die, DW_AT_linkage_name);
  return name ? name : integrated_string(die, DW_AT_MIPS_linkage_name);
}

/* The header of the line table of a unit; NULL: it has none that can be read. The last one is kept: functions of one
 * unit come together. */
static const hearth_line_header *line_header(hearth_body_functions *f, const hearth_die *root) {
  hearth_line_source source;
  if (f->files_of != root->unit) {
    f->files_of = root->unit;
    f->last_path = NULL;
    f->has_files = hearth_line_source_find(root, &source) && hearth_line_header_read(&source, &f->files);
  }
  return f->has_files ? &f->files : NULL;
}

/* A file of a line table, kept as long as the functions; "" if it has no such. Functions of one file come together.
 * False: out of memory. */
static bool keep_path(hearth_body_functions *f, const hearth_line_header *header, uint64_t number, const char **ret) {
  char *path;
  *ret = f->last_path && f->last_number == number ? f->last_path : "";
  if (**ret)
    return true;
  if (!hearth_array_grow(&f->paths, &f->path_capacity, f->path_count, sizeof *f->paths) ||
      !hearth_line_header_path(header, number, &path))
    return false;
  if (path)
    *ret = f->paths[f->path_count++] = path;
  f->last_path = path;
  f->last_number = number;
  return true;
}

/* The declaring file; "" if it is unknown. Number 0 is the unit's primary source file in DWARF 5, none before.
 * False: out of memory. */
static bool declaring_file(hearth_body_functions *f, const hearth_die *die, const hearth_die *files_of_tree,
                           const char **ret) {
  hearth_attribute attribute;
  uint64_t number;
  hearth_die elsewhere;
  *ret = "";
  if (!hearth_die_integrated(die, DW_AT_decl_file, &attribute) || !hearth_attribute_number(&attribute, &number) ||
      (number == 0 && attribute.unit->format.version < 5))
    return true;
  if (attribute.unit != die->unit) { /* a function of another unit, after link-time optimisation */
    if (hearth_die_root(attribute.unit, &elsewhere) != HEARTH_DWARF_OK)
      return true;
    files_of_tree = &elsewhere;
  }
  const hearth_line_header *header = line_header(f, files_of_tree);
  return !header || keep_path(f, header, number, ret);
}

/* In C the compiler leaves out linkage names, as they say nothing new there. */
static bool has_linkage_names(const hearth_die *die) {
  hearth_die root;
  if (hearth_die_root(die->unit, &root) != HEARTH_DWARF_OK)
    return false;
  switch (hearth_die_number(&root, DW_AT_language, 0)) {
  case DW_LANG_C_plus_plus:
  case DW_LANG_C_plus_plus_03:
  case DW_LANG_C_plus_plus_11:
  case DW_LANG_C_plus_plus_14:
    return true;
  default:
    return false;
  }
}

static bool entry_address(const hearth_die *die, uint64_t *ret) {
  hearth_attribute attribute;
  return (hearth_die_attribute(die, DW_AT_entry_pc, &attribute) && hearth_attribute_address(&attribute, ret)) ||
         (hearth_die_attribute(die, DW_AT_low_pc, &attribute) && hearth_attribute_address(&attribute, ret));
}

static const char *body_function_name_of(hearth_body_functions *f, const hearth_die *die, bool inlined,
                                         bool *ret_memory) {
  uint64_t address;
  const char *name = linkage_name(die);
  if (!name && !inlined && has_linkage_names(die) && entry_address(die, &address))
    name = hearth_code_names_mangled(f->names, address, ret_memory);
  return name ? name : integrated_string(die, DW_AT_name);
}

/* The first line; 0: unknown. */
static uint32_t first_line(const hearth_die *die) {
  hearth_attribute attribute;
  uint64_t line;
  return hearth_die_integrated(die, DW_AT_decl_line, &attribute) && hearth_attribute_number(&attribute, &line) &&
                 line <= INT32_MAX
             ? (uint32_t)line
             : 0;
}

bool hearth_body_functions_has_line(const hearth_die *die) { return first_line(die) > 0; }

static const void *body_function_place_of(const hearth_die *die) { return die->unit->contents.data + die->offset; }

/* The DIE that all bodies of a function refer to. One with code of its own may be named by its symbol: it is not shared
 * with inlined copies, whose symbol is unknown. */
static const void *origin_of(const hearth_die *die, bool inlined) {
  hearth_attribute attribute;
  hearth_die origin;
  if (inlined && hearth_die_attribute(die, DW_AT_abstract_origin, &attribute) &&
      hearth_attribute_die(&attribute, &origin))
    return body_function_place_of(&origin);
  return body_function_place_of(die);
}

bool hearth_body_functions_get(hearth_body_functions *f, const hearth_die *die, const hearth_die *files, bool inlined,
                               uint32_t *ret) {
  bool memory = true;
  const void *origin = origin_of(die, inlined);
  uint64_t hash = id_table_mix((uintptr_t)origin);
  uint32_t known = id_table_find(&f->by_die, hash, is_of_die, f, origin);
  if (known != HEARTH_NONE) {
    *ret = f->origins[known].function;
    return true;
  }
  if (!id_table_reserve(&f->by_die) ||
      !hearth_array_grow(&f->origins, &f->origin_room, f->origin_count, sizeof *f->origins))
    return false;
  uint32_t row = HEARTH_DEBUG_NO_FUNCTION;
  const char *name = body_function_name_of(f, die, inlined, &memory);
  if (!memory)
    return false;
  uint32_t start_line = first_line(die);
  if (name && start_line > 0) {
    if (!hearth_array_grow(&f->rows, &f->capacity, f->count, sizeof *f->rows))
      return false;
    const char *path;
    if (!declaring_file(f, die, files, &path))
      return false;
    row = (uint32_t)f->count++;
    f->rows[row] = (hearth_debug_function){name, path, start_line};
  }
  id_table_insert(&f->by_die, hash, (uint32_t)f->origin_count);
  f->origins[f->origin_count++] = (struct hearth_body_origin){origin, row};
  *ret = row;
  return true;
}

void hearth_body_functions_free(hearth_body_functions *f) {
  for (size_t i = 0; i < f->path_count; ++i)
    free(f->paths[i]);
  HEARTH_FREE(f->paths, f->rows, f->origins, f->by_die.slots);
}

/* Ranges are sorted; where they overlap, a sweep over them cuts them into pieces. */

typedef hearth_body_piece piece;

bool hearth_body_pieces_add(hearth_body_pieces *p, uint64_t start, uint64_t end, uint32_t body) {
  if (!hearth_array_grow(&p->rows, &p->capacity, p->count, sizeof *p->rows))
    return false;
  p->rows[p->count++] = (piece){start, end, body};
  return true;
}

void hearth_body_pieces_free(hearth_body_pieces *p) {
  free(p->rows);
  *p = (hearth_body_pieces){0};
}

/* --- Sort --------------------------------------------------------------------------------------------------------- */

/* By start, then the enclosing one first: the longer, then the lower body number. */
static int body_function_compare(const void *a, const void *b) {
  const piece *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return (x->body > y->body) - (x->body < y->body);
}

/* --- Cut ---------------------------------------------------------------------------------------------------------- */

/* Do no pieces overlap? Rows are sorted. */
static bool is_disjoint(const hearth_body_pieces *p) {
  for (size_t i = 1; i < p->count; ++i)
    if (p->rows[i].start < p->rows[i - 1].end)
      return false;
  return true;
}

typedef struct sweep {
  hearth_body_pieces out;
  uint64_t at; /* everything below is done */
} sweep;

/* The addresses from where the sweep is up to `end` belong to `body`. */
static bool sweep_to(sweep *w, uint64_t end, uint32_t body) {
  if (end <= w->at)
    return true;
  uint64_t start = w->at;
  w->at = end;
  return hearth_body_pieces_add(&w->out, start, end, body);
}

/* Cut sorted ranges into disjoint pieces. `open` holds the ranges around the current address, innermost last. */
static bool body_function_cut(hearth_body_pieces *p) {
  sweep w = {0};
  piece *open = NULL;
  size_t depth = 0, open_capacity = 0;
  bool ok = true;

  for (size_t i = 0; ok && i <= p->count; ++i) {
    uint64_t next = i < p->count ? p->rows[i].start : UINT64_MAX;
    while (ok && depth > 0 && open[depth - 1].end <= next) {
      ok = sweep_to(&w, open[depth - 1].end, open[depth - 1].body);
      --depth;
    }
    if (i == p->count)
      break;
    if (ok && depth > 0)
      ok = sweep_to(&w, next, open[depth - 1].body);
    w.at = w.at > next ? w.at : next;
    ok = ok && hearth_array_grow(&open, &open_capacity, depth, sizeof *open);
    if (ok)
      open[depth++] = p->rows[i];
  }
  free(open);
  free(p->rows);
  *p = w.out;
  return ok;
}

bool hearth_body_pieces_order(hearth_body_pieces *p) {
  if (p->count > 1)
    qsort(p->rows, p->count, sizeof *p->rows, body_function_compare);
  return is_disjoint(p) || body_function_cut(p);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

uint32_t hearth_body_pieces_find(const hearth_body_pieces *p, uint64_t address) {
  size_t up_to = hearth_count_up_to(address, p->rows, p->count, sizeof *p->rows);
  return up_to > 0 && address < p->rows[up_to - 1].end ? p->rows[up_to - 1].body : HEARTH_NO_BODY;
}
