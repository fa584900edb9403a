/* Scopes of one file. The walk over a unit's tree keeps only its shape: for each scope its DIE, its parent and its
 * addresses. It passes over what is inside scopes: that is walked one level further, to the scopes right inside, when an
 * address hits one. Most code of a program is in no stack, and is never looked at. Names and positions are read for scopes
 * that an address actually hits, once each. */
#include "dwarf_scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "scope_functions.h"
#include "scope_pieces.h"

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136 /* not yet named by elfutils 0.188 */
#endif

#define NOT_RESOLVED (UINT32_MAX - 1)
#define NOT_WALKED   UINT32_MAX
#define NO_INSIDE    (UINT32_MAX - 1)
/* Levels of inlining that are walked one by one: programs have fewer, and damaged trees shall not cost their depth squared. */
#define MAX_LEVELS 64u

typedef struct scope {
  uint64_t die; /* offset in the unit's tree */
  uint32_t unit, parent;
  uint32_t function; /* NOT_RESOLVED until an address hits the scope */
  uint32_t inside;   /* number of what is inside it; NOT_WALKED: not known; NO_INSIDE: nothing of its own */
  bool inlined;
  uint32_t call_line, call_column, call_discriminator; /* valid once resolved; of inlined scopes */
} scope;

/* The functions of one group of units. */
typedef struct indexed_group {
  hearth_scope_pieces pieces;
  bool indexed;
  bool whole; /* they are of all scopes, not only the outermost functions */
} indexed_group;

struct hearth_scopes {
  hearth_elf_file *binary;
  hearth_units *units;
  indexed_group *groups; /* hearth_units_group_count */
  scope *scopes;
  hearth_scope_pieces *insides; /* of scopes that addresses hit */
  hearth_scope_frame *frames;
  hearth_scope_functions functions;
  size_t scope_count, scope_capacity, inside_count, inside_capacity, frame_capacity;
  bool usable; /* a function with code and a first line was seen */
};

/* --- Walk --------------------------------------------------------------------------------------------------------- */

typedef struct walk {
  hearth_scopes *scopes;
  hearth_scope_pieces *pieces; /* to add to */
  const hearth_unit *unit;
  uint32_t unit_number;
  bool whole; /* also what is inside scopes with code */
} walk;

/* Keep a range of the scope to come. */
static bool add_range(void *context, uint64_t start, uint64_t end) {
  walk *w = context;
  return hearth_scope_pieces_add(w->pieces, start, end, (uint32_t)w->scopes->scope_count);
}

static hearth_status visit_function(walk *w, const hearth_die *die, uint32_t outer, uint32_t *ret_inner,
                                    bool *ret_descend, hearth_error *err) {
  hearth_scopes *s = w->scopes;
  size_t before = w->pieces->count;
  bool dropped, inlined = die->shape.tag == DW_TAG_inlined_subroutine;
  HEARTH_TRY(hearth_units_visit_ranges(s->units, w->unit, die, add_range, w, &dropped, err));
  if (w->pieces->count == before) {
    *ret_descend = !dropped; /* an abstract function may hold concrete ones; a dropped one holds dropped ones */
    return HEARTH_OK;
  }
  if (s->scope_count >= NOT_RESOLVED ||
      !hearth_array_grow(&s->scopes, &s->scope_capacity, s->scope_count, sizeof *s->scopes))
    return hearth_error_nomem(err);
  *ret_inner = (uint32_t)s->scope_count;
  s->scopes[s->scope_count++] = (scope){.die = die->offset,
                                        .unit = w->unit_number,
                                        .parent = inlined ? outer : HEARTH_NO_SCOPE,
                                        .function = NOT_RESOLVED,
                                        .inside = w->whole || !die->shape.has_children ? NO_INSIDE : NOT_WALKED,
                                        .inlined = inlined && outer != HEARTH_NO_SCOPE};
  s->usable = s->usable || (!inlined && hearth_scope_functions_has_line(die));
  *ret_descend = w->whole;
  return HEARTH_OK;
}

/* One DIE of the walk. *ret_inner is the scope that its children are in; false in *ret_descend: they do not matter. */
static hearth_status visit(walk *w, const hearth_die *die, uint32_t outer, uint32_t *ret_inner, bool *ret_descend,
                           hearth_error *err) {
  *ret_inner = outer;
  *ret_descend = true;
  switch (die->shape.tag) {
  case DW_TAG_subprogram:
  case DW_TAG_inlined_subroutine:
    return visit_function(w, die, outer, ret_inner, ret_descend, err);
  case DW_TAG_lexical_block:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
  case DW_TAG_namespace:
  case DW_TAG_module:
  case DW_TAG_class_type:
  case DW_TAG_structure_type:
  case DW_TAG_union_type:
    return HEARTH_OK;
  default:
    *ret_descend = false;
    return HEARTH_OK;
  }
}

/* The DIEs that the walk is in. */
typedef struct open_dies {
  uint32_t *scopes; /* that their children are in */
  size_t count, capacity;
} open_dies;

static hearth_status enter(open_dies *open, uint32_t scope, hearth_error *err) {
  if (!hearth_array_grow(&open->scopes, &open->capacity, open->count, sizeof *open->scopes))
    return hearth_error_nomem(err);
  open->scopes[open->count++] = scope;
  return HEARTH_OK;
}

static hearth_status die_status(const walk *w, hearth_dwarf_status status, hearth_error *err) {
  return hearth_units_status(w->scopes->units, status, err);
}

/* Go through a DIE: *at moves to its first child, or behind it and what is below it. */
static hearth_status walk_die(walk *w, const hearth_die *die, open_dies *open, uint64_t *at, hearth_error *err) {
  uint32_t inner;
  bool descend;
  HEARTH_TRY(visit(w, die, open->scopes[open->count - 1], &inner, &descend, err));
  if (!die->shape.has_children || !descend)
    return die_status(w, hearth_die_pass_tree(die, at), err);
  HEARTH_TRY(die_status(w, hearth_die_pass(die, at), err));
  return enter(open, inner, err);
}

/* Walk what is below a DIE with a stack of its own (nesting depth is the input's). `outer` is the scope that it is. */
static hearth_status walk_tree(walk *w, const hearth_die *tree, uint32_t outer, open_dies *open, hearth_error *err) {
  hearth_die die;
  uint64_t at;
  bool end;
  if (!tree->shape.has_children)
    return HEARTH_OK;
  HEARTH_TRY(die_status(w, hearth_die_pass(tree, &at), err));
  HEARTH_TRY(enter(open, outer, err));
  while (open->count > 0) {
    HEARTH_TRY(die_status(w, hearth_die_next(tree->unit, &at, &die, &end), err));
    if (end)
      --open->count;
    else
      HEARTH_TRY(walk_die(w, &die, open, &at, err));
  }
  return HEARTH_OK;
}

static hearth_status walk_below(walk *w, const hearth_die *tree, uint32_t outer, hearth_error *err) {
  open_dies open = {0};
  hearth_status status = walk_tree(w, tree, outer, &open, err);
  free(open.scopes);
  return status;
}

/* --- Index -------------------------------------------------------------------------------------------------------- */

/* Index the outermost functions of a group's units, if that has not been done; or all scopes. */
static hearth_status index_group(hearth_scopes *s, uint32_t number, bool whole, hearth_error *err) {
  indexed_group *g = &s->groups[number];
  if (g->indexed && g->whole >= whole)
    return HEARTH_OK;
  g->pieces.count = 0; /* of an attempt that failed, or of functions alone */
  g->indexed = false;
  for (uint32_t i = hearth_units_first(s->units, number); i != UINT32_MAX; i = hearth_units_next(s->units, i)) {
    hearth_unit *unit;
    HEARTH_TRY(hearth_units_open(s->units, i, &unit, err));
    HEARTH_TRY(walk_below(&(walk){s, &g->pieces, unit, i, whole}, &unit->tree, HEARTH_NO_SCOPE, err));
  }
  if (!hearth_scope_pieces_order(&g->pieces))
    return hearth_error_nomem(err);
  g->indexed = true;
  g->whole = whole;
  return HEARTH_OK;
}

static hearth_status scope_die(hearth_scopes *s, const scope *sc, hearth_unit **ret_unit, hearth_die *ret,
                               hearth_error *err) {
  HEARTH_TRY(hearth_units_open(s->units, sc->unit, ret_unit, err));
  return hearth_units_status(s->units, hearth_die_at((*ret_unit)->tree.unit, sc->die, ret), err);
}

/* Keep the pieces of what is inside a scope. Takes them over on success. */
static hearth_status keep_inside(hearth_scopes *s, uint32_t outer, const hearth_scope_pieces *pieces,
                                 hearth_error *err) {
  if (pieces->count == 0) {
    s->scopes[outer].inside = NO_INSIDE;
    return HEARTH_OK;
  }
  if (!hearth_array_grow(&s->insides, &s->inside_capacity, s->inside_count, sizeof *s->insides))
    return hearth_error_nomem(err);
  s->scopes[outer].inside = (uint32_t)s->inside_count;
  s->insides[s->inside_count++] = *pieces;
  return HEARTH_OK;
}

/* Index the scopes inside a scope, if that has not been done: those right inside, or all. */
static hearth_status index_inside(hearth_scopes *s, uint32_t outer, bool whole, hearth_error *err) {
  hearth_unit *unit;
  hearth_die die;
  hearth_scope_pieces pieces = {0};
  scope *sc = &s->scopes[outer];
  if (sc->inside != NOT_WALKED)
    return HEARTH_OK;
  HEARTH_TRY(scope_die(s, sc, &unit, &die, err));
  hearth_status status = walk_below(&(walk){s, &pieces, unit, sc->unit, whole}, &die, outer, err);
  if (status == HEARTH_OK && !hearth_scope_pieces_order(&pieces))
    status = hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = keep_inside(s, outer, &pieces, err);
  if (status != HEARTH_OK)
    hearth_scope_pieces_free(&pieces);
  return status;
}

/* --- Create ------------------------------------------------------------------------------------------------------- */

/* Is this debug information of the kind that is needed? The first unit with code tells, as a rule. */
static hearth_status check_usable(hearth_scopes *s, hearth_error *err) {
  const char *path = hearth_elf_file_path(s->binary);
  uint32_t count = hearth_units_group_count(s->units);
  if (count == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: no debug information (compile with -gmlt -fdebug-info-for-profiling, do not strip)",
                            path);
  for (uint32_t i = 0; !s->usable && i < count; ++i)
    HEARTH_TRY(index_group(s, i, false, err));
  if (!s->usable)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: its debug information does not say where functions begin (compile with "
                            "-fdebug-info-for-profiling beside -gmlt)",
                            path);
  return HEARTH_OK;
}

hearth_status hearth_scopes_create(hearth_elf_file *binary, hearth_elf_file *debug_file,
                                   hearth_debug_directories directories, const hearth_code_range *code,
                                   size_t code_count, hearth_scopes **ret, hearth_error *err) {
  *ret = NULL;
  hearth_scopes *s = calloc(1, sizeof *s);
  if (!s)
    return hearth_error_nomem(err);
  s->binary = binary;
  s->functions.file = debug_file;
  hearth_status status = hearth_units_create(binary, debug_file, directories, code, code_count, &s->units, err);
  if (status == HEARTH_OK && !(s->groups = calloc(hearth_units_group_count(s->units) + 1, sizeof *s->groups)))
    status = hearth_error_nomem(err);
  if (status == HEARTH_OK)
    status = check_usable(s, err);
  if (status != HEARTH_OK) {
    hearth_scopes_destroy(s);
    return status;
  }
  *ret = s;
  return HEARTH_OK;
}

void hearth_scopes_destroy(hearth_scopes *s) {
  if (!s)
    return;
  for (uint32_t i = 0; s->groups && i < hearth_units_group_count(s->units); ++i)
    hearth_scope_pieces_free(&s->groups[i].pieces);
  for (size_t i = 0; i < s->inside_count; ++i)
    hearth_scope_pieces_free(&s->insides[i]);
  hearth_units_destroy(s->units);
  hearth_scope_functions_free(&s->functions);
  free(s->groups);
  free(s->insides);
  free(s->scopes);
  free(s->frames);
  free(s);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

/* The outermost scope of an address, or HEARTH_NO_SCOPE. A function nested in another (GNU C, Ada) has code outside it: what no
 * outermost function covers is looked for in all scopes. */
static hearth_status outermost(hearth_scopes *s, uint64_t address, uint32_t *ret, hearth_error *err) {
  uint32_t number = hearth_units_group_at(s->units, address);
  *ret = HEARTH_NO_SCOPE;
  if (number == HEARTH_NO_GROUP)
    return HEARTH_OK;
  const indexed_group *g = &s->groups[number];
  HEARTH_TRY(index_group(s, number, false, err));
  *ret = hearth_scope_pieces_find(&g->pieces, address);
  if (*ret != HEARTH_NO_SCOPE || g->whole)
    return HEARTH_OK;
  HEARTH_TRY(index_group(s, number, true, err));
  *ret = hearth_scope_pieces_find(&g->pieces, address);
  return HEARTH_OK;
}

/* The innermost scope of an address, or HEARTH_NO_SCOPE. */
static hearth_status innermost(hearth_scopes *s, uint64_t address, uint32_t *ret, hearth_error *err) {
  HEARTH_TRY(outermost(s, address, ret, err));
  for (uint32_t level = 1, inner = *ret; inner != HEARTH_NO_SCOPE; ++level) {
    *ret = inner;
    HEARTH_TRY(index_inside(s, inner, level == MAX_LEVELS, err));
    uint32_t inside = s->scopes[inner].inside;
    inner = inside == NO_INSIDE ? HEARTH_NO_SCOPE : hearth_scope_pieces_find(&s->insides[inside], address);
  }
  return HEARTH_OK;
}

/* 0: there is no such, or it is too large. */
static uint32_t number_attribute(const hearth_die *die, uint32_t name) {
  uint64_t value = hearth_die_number(die, name, 0);
  return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Read what the walk left unread: the scope's function and where it was called from. */
static hearth_status resolve(hearth_scopes *s, scope *sc, hearth_error *err) {
  hearth_unit *unit;
  hearth_die die;
  if (sc->function != NOT_RESOLVED)
    return HEARTH_OK;
  HEARTH_TRY(scope_die(s, sc, &unit, &die, err));
  if (sc->inlined) {
    sc->call_line = number_attribute(&die, DW_AT_call_line);
    sc->call_column = number_attribute(&die, DW_AT_call_column);
    sc->call_discriminator = number_attribute(&die, DW_AT_GNU_discriminator);
  }
  return hearth_scope_functions_get(&s->functions, &die, &unit->files, sc->inlined, &sc->function)
             ? HEARTH_OK
             : hearth_error_nomem(err);
}

static hearth_status leaf_position(hearth_scopes *s, const scope *sc, uint64_t address, hearth_scope_frame *ret,
                                   hearth_error *err) {
  hearth_unit *unit;
  hearth_line_row row;
  *ret = (hearth_scope_frame){0};
  HEARTH_TRY(hearth_units_open(s->units, sc->unit, &unit, err));
  HEARTH_TRY(hearth_units_line(s->units, unit, address, &row, err));
  if (row.line != 0)
    *ret = (hearth_scope_frame){.line = row.line, .column = row.column, .discriminator = row.discriminator};
  return HEARTH_OK;
}

hearth_status hearth_scopes_frames(hearth_scopes *s, uint64_t address, const hearth_scope_frame **ret_frames,
                                   size_t *ret_count, hearth_error *err) {
  size_t count = 0;
  hearth_scope_frame position;
  uint32_t at;
  *ret_frames = NULL;
  *ret_count = 0;
  HEARTH_TRY(innermost(s, address, &at, err));
  if (at != HEARTH_NO_SCOPE)
    HEARTH_TRY(leaf_position(s, &s->scopes[at], address, &position, err));
  while (at != HEARTH_NO_SCOPE) {
    scope *sc = &s->scopes[at];
    HEARTH_TRY(resolve(s, sc, err));
    if (!hearth_array_grow(&s->frames, &s->frame_capacity, count, sizeof *s->frames))
      return hearth_error_nomem(err);
    position.function = sc->function;
    position.inlined = sc->inlined;
    s->frames[count++] = position;
    position =
        (hearth_scope_frame){.line = sc->call_line, .column = sc->call_column, .discriminator = sc->call_discriminator};
    at = sc->parent;
  }
  *ret_frames = s->frames;
  *ret_count = count;
  return HEARTH_OK;
}

const hearth_scope_function *hearth_scopes_function(const hearth_scopes *s, uint32_t function) {
  return &s->functions.rows[function];
}
