/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bodies of one file. The walk over a unit's tree keeps only its shape: for each body its DIE, its parent and its
 * addresses. It passes over the inside of bodies: that is walked one level further, to the bodies right inside, when
 * an address hits one. Most code of a program is in no stack, and is never looked at. Names and positions are read
 * for bodies that an address actually hits, once each. */
#include "debug_info.h"

#include <dwarf.h>
#include <stdlib.h>

#include "array.h"
#include "dwarf_reader.h"
#include "object_file.h"

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136 /* not yet named by elfutils 0.188 */
#endif

#define NOT_RESOLVED (UINT32_MAX - 1)
#define NOT_WALKED   UINT32_MAX
#define NO_INSIDE    (UINT32_MAX - 1)
/* Levels of inlining that are walked one by one: programs have fewer, and damaged trees shall not cost their depth
 * squared. */
#define MAX_LEVELS 64u

typedef struct body {
  uint64_t die; /* offset in the unit's tree */
  uint32_t unit, parent;
  uint32_t function; /* NOT_RESOLVED until an address hits the body */
  uint32_t inside;   /* number of its inside; NOT_WALKED: not known; NO_INSIDE: nothing of its own */
  bool inlined;
  uint32_t call_line, call_column, call_discriminator; /* valid once resolved; of inlined bodies */
} body;

/* The functions of a unit. */
typedef struct indexed_unit {
  hearth_body_pieces pieces;
  bool indexed;
  bool whole; /* they are of all bodies, not only the outermost functions */
} indexed_unit;

struct hearth_debug_info {
  hearth_elf_file *binary;
  hearth_elf_file *debug_file; /* NULL: `binary` has the debug information */
  hearth_code_names *names;
  hearth_units *units;
  indexed_unit *indexed; /* hearth_units_count */
  body *bodies;
  hearth_body_pieces *insides; /* of bodies that addresses hit */
  hearth_debug_frame *frames;
  hearth_body_functions functions;
  size_t body_count, body_capacity, inside_count, inside_capacity, frame_capacity;
  bool usable;    /* a function with code and a first line was seen */
  bool loaded;    /* addresses may be asked for */
  bool has_names; /* so may names */
};

/* --- Walk --------------------------------------------------------------------------------------------------------- */

typedef struct walk {
  hearth_debug_info *info;
  hearth_body_pieces *pieces; /* to add to */
  const hearth_unit *unit;
  uint32_t unit_number;
  bool whole; /* also the inside of bodies with code */
} walk;

/* Keep a range of the body to come. */
static bool add_range(void *context, uint64_t start, uint64_t end) {
  walk *w = context;
  return hearth_body_pieces_add(w->pieces, start, end, (uint32_t)w->info->body_count);
}

static hearth_status visit_function(walk *w, const hearth_die *die, uint32_t outer, uint32_t *ret_inner,
                                    bool *ret_descend, hearth_error *err) {
  hearth_debug_info *d = w->info;
  size_t before = w->pieces->count;
  bool dropped, inlined = die->shape.tag == DW_TAG_inlined_subroutine;
  HEARTH_TRY(hearth_units_visit_ranges(d->units, w->unit, die, add_range, w, &dropped, err));
  if (w->pieces->count == before) {
    *ret_descend = !dropped; /* an abstract function may hold concrete ones; a dropped one holds dropped ones */
    return HEARTH_OK;
  }
  if (d->body_count >= NOT_RESOLVED ||
      !hearth_array_grow(&d->bodies, &d->body_capacity, d->body_count, sizeof *d->bodies))
    return hearth_error_nomem(err);
  *ret_inner = (uint32_t)d->body_count;
  d->bodies[d->body_count++] = (body){.die = die->offset,
                                      .unit = w->unit_number,
                                      .parent = inlined ? outer : HEARTH_NO_BODY,
                                      .function = NOT_RESOLVED,
                                      .inside = w->whole || !die->shape.has_children ? NO_INSIDE : NOT_WALKED,
                                      .inlined = inlined && outer != HEARTH_NO_BODY};
  d->usable = d->usable || (!inlined && hearth_body_functions_has_line(die));
  *ret_descend = w->whole;
  return HEARTH_OK;
}

/* One DIE of the walk. *ret_inner is the body that its children are in; false in *ret_descend: they do not matter. */
static hearth_status debug_info_visit(walk *w, const hearth_die *die, uint32_t outer, uint32_t *ret_inner,
                                      bool *ret_descend, hearth_error *err) {
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
  uint32_t *bodies; /* that their children are in */
  size_t count, capacity;
} open_dies;

static hearth_status debug_info_enter(open_dies *open, uint32_t body, hearth_error *err) {
  HEARTH_TRY(
      hearth_check_memory(hearth_array_grow(&open->bodies, &open->capacity, open->count, sizeof *open->bodies), err));
  open->bodies[open->count++] = body;
  return HEARTH_OK;
}

static hearth_status die_status(const walk *w, hearth_dwarf_status status, hearth_error *err) {
  return hearth_units_status(w->info->units, status, err);
}

/* Go through a DIE: *at moves to its first child, or behind it and the DIEs below it. */
static hearth_status walk_die(walk *w, const hearth_die *die, open_dies *open, uint64_t *at, hearth_error *err) {
  uint32_t inner;
  bool descend;
  HEARTH_TRY(debug_info_visit(w, die, open->bodies[open->count - 1], &inner, &descend, err));
  if (!die->shape.has_children || !descend)
    return die_status(w, hearth_die_pass_tree(die, at), err);
  HEARTH_TRY(die_status(w, hearth_die_pass(die, at), err));
  return debug_info_enter(open, inner, err);
}

/* Walk the DIEs below a DIE with a stack of its own (nesting depth is the input's). `outer` is the DIE's body. */
static hearth_status walk_tree(walk *w, const hearth_die *tree, uint32_t outer, open_dies *open, hearth_error *err) {
  hearth_die die;
  uint64_t at;
  bool end;
  if (!tree->shape.has_children)
    return HEARTH_OK;
  HEARTH_TRY(die_status(w, hearth_die_pass(tree, &at), err));
  HEARTH_TRY(debug_info_enter(open, outer, err));
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
  free(open.bodies);
  return status;
}

/* --- Index -------------------------------------------------------------------------------------------------------- */

/* Index the outermost functions of a unit, if that has not been done; or all bodies. */
static hearth_status index_unit(hearth_debug_info *d, uint32_t number, bool whole, hearth_error *err) {
  indexed_unit *u = &d->indexed[number];
  hearth_unit *unit;
  if (u->indexed && u->whole >= whole)
    return HEARTH_OK;
  u->pieces.count = 0; /* of an attempt that failed, or of functions alone */
  u->indexed = false;
  HEARTH_TRY(hearth_units_open(d->units, number, &unit, err));
  HEARTH_TRY(walk_below(&(walk){d, &u->pieces, unit, number, whole}, &unit->tree, HEARTH_NO_BODY, err));
  HEARTH_TRY(hearth_check_memory(hearth_body_pieces_order(&u->pieces), err));
  u->indexed = true;
  u->whole = whole;
  return HEARTH_OK;
}

static hearth_status body_die(hearth_debug_info *d, const body *b, hearth_unit **ret_unit, hearth_die *ret,
                              hearth_error *err) {
  HEARTH_TRY(hearth_units_open(d->units, b->unit, ret_unit, err));
  return hearth_units_status(d->units, hearth_die_at((*ret_unit)->tree.unit, b->die, ret), err);
}

/* Keep the pieces of the inside of a body. Takes them over on success. */
static hearth_status keep_inside(hearth_debug_info *d, uint32_t outer, const hearth_body_pieces *pieces,
                                 hearth_error *err) {
  if (pieces->count == 0) {
    d->bodies[outer].inside = NO_INSIDE;
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_check_memory(
      hearth_array_grow(&d->insides, &d->inside_capacity, d->inside_count, sizeof *d->insides), err));
  d->bodies[outer].inside = (uint32_t)d->inside_count;
  d->insides[d->inside_count++] = *pieces;
  return HEARTH_OK;
}

/* Index the bodies inside a body, if that has not been done: those right inside, or all. */
static hearth_status index_inside(hearth_debug_info *d, uint32_t outer, bool whole, hearth_error *err) {
  hearth_unit *unit;
  hearth_die die;
  hearth_body_pieces pieces = {0};
  body *b = &d->bodies[outer];
  if (b->inside != NOT_WALKED)
    return HEARTH_OK;
  HEARTH_TRY(body_die(d, b, &unit, &die, err));
  hearth_status status = walk_below(&(walk){d, &pieces, unit, b->unit, whole}, &die, outer, err);
  if (status == HEARTH_OK && !hearth_body_pieces_order(&pieces))
    status = hearth_error_nomem(err);
  HEARTH_THEN(status, keep_inside(d, outer, &pieces, err));
  if (status != HEARTH_OK)
    hearth_body_pieces_free(&pieces);
  return status;
}

/* --- Create ------------------------------------------------------------------------------------------------------- */

/* Is this debug information of the kind that is needed? The first unit with code tells, as a rule. */
static hearth_status check_usable(hearth_debug_info *d, hearth_error *err) {
  const char *path = hearth_elf_file_path(d->binary);
  uint32_t count = hearth_units_count(d->units);
  if (count == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: no debug information (compile with -gmlt -fdebug-info-for-profiling, do not strip)",
                            path);
  for (uint32_t i = 0; !d->usable && i < count; ++i)
    HEARTH_TRY(index_unit(d, i, false, err));
  if (!d->usable)
    return hearth_error_set(
        err, HEARTH_E_NO_DEBUG_INFO,
        "%s: its debug information does not say where functions begin, or is split before DWARF 5 (compile with "
        "-fdebug-info-for-profiling beside -gmlt)",
        path);
  return HEARTH_OK;
}

hearth_debug_info *hearth_debug_info_create(hearth_elf_file *binary) {
  hearth_debug_info *d = calloc(1, sizeof *d);
  if (d)
    d->binary = binary;
  return d;
}

hearth_status hearth_debug_info_load(hearth_debug_info *d, hearth_debug_directories directories, hearth_error *err) {
  HEARTH_TRY(hearth_debug_file_find(d->binary, directories, &d->debug_file, err));
  hearth_elf_file *file = d->debug_file ? d->debug_file : d->binary;
  HEARTH_TRY(hearth_elf_file_unpack(file, err));
  d->functions.names = d->names = hearth_code_names_create(d->binary, d->debug_file);
  HEARTH_TRY(hearth_check_memory(d->names, err));
  HEARTH_TRY(hearth_units_create(d->binary, file, directories, &d->units, err));
  HEARTH_TRY(hearth_array_create(&d->indexed, hearth_units_count(d->units), sizeof *d->indexed, err));
  HEARTH_TRY(check_usable(d, err));
  d->loaded = true;
  return HEARTH_OK;
}

/* A binary without symbol names is no error if it has debug information. */
hearth_status hearth_debug_info_load_names(hearth_debug_info *d, hearth_error *err) {
  if (!d->names)
    d->names = hearth_code_names_create(d->binary, d->debug_file);
  HEARTH_TRY(hearth_check_memory(d->names, err));
  hearth_status status = hearth_code_names_load(d->names, err);
  d->has_names = status == HEARTH_OK;
  return status == HEARTH_E_NO_DEBUG_INFO && d->loaded ? HEARTH_OK : status;
}

bool hearth_debug_info_has_names(const hearth_debug_info *d) { return d->has_names; }

const char *hearth_debug_info_name(hearth_debug_info *d, uint64_t address) {
  return d->has_names ? hearth_code_names_find(d->names, address) : NULL;
}

void hearth_debug_info_destroy(hearth_debug_info *d) {
  if (!d)
    return;
  for (uint32_t i = 0; d->indexed && i < hearth_units_count(d->units); ++i)
    hearth_body_pieces_free(&d->indexed[i].pieces);
  for (size_t i = 0; i < d->inside_count; ++i)
    hearth_body_pieces_free(&d->insides[i]);
  hearth_units_destroy(d->units);
  hearth_body_functions_free(&d->functions);
  hearth_code_names_destroy(d->names);
  hearth_elf_file_close(d->debug_file);
  HEARTH_FREE(d->indexed, d->insides, d->bodies, d->frames, d);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

/* The outermost body of an address, or HEARTH_NO_BODY. A function nested in another (GNU C, Ada) has code outside it:
 * an address that no outermost function covers is looked for in all bodies. */
static hearth_status outermost(hearth_debug_info *d, uint64_t address, uint32_t *ret, hearth_error *err) {
  uint32_t unit = hearth_units_at(d->units, address);
  *ret = HEARTH_NO_BODY;
  for (int whole = false; unit != HEARTH_NO_UNIT && whole <= true && *ret == HEARTH_NO_BODY; ++whole) {
    HEARTH_TRY(index_unit(d, unit, whole, err));
    *ret = hearth_body_pieces_find(&d->indexed[unit].pieces, address);
  }
  return HEARTH_OK;
}

/* The innermost body of an address, or HEARTH_NO_BODY. */
static hearth_status innermost(hearth_debug_info *d, uint64_t address, uint32_t *ret, hearth_error *err) {
  HEARTH_TRY(outermost(d, address, ret, err));
  for (uint32_t level = 1, inner = *ret; inner != HEARTH_NO_BODY; ++level) {
    *ret = inner;
    HEARTH_TRY(index_inside(d, inner, level == MAX_LEVELS, err));
    uint32_t inside = d->bodies[inner].inside;
    inner = inside == NO_INSIDE ? HEARTH_NO_BODY : hearth_body_pieces_find(&d->insides[inside], address);
  }
  return HEARTH_OK;
}

/* 0: there is no such, or it is too large. */
static uint32_t number_attribute(const hearth_die *die, uint32_t name) {
  uint64_t value = hearth_die_number(die, name, 0);
  return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Read the parts that the walk left unread: the body's function and the place of its call. */
static hearth_status resolve(hearth_debug_info *d, body *b, hearth_error *err) {
  hearth_unit *unit;
  hearth_die die;
  if (b->function != NOT_RESOLVED)
    return HEARTH_OK;
  HEARTH_TRY(body_die(d, b, &unit, &die, err));
  if (b->inlined) {
    b->call_line = number_attribute(&die, DW_AT_call_line);
    b->call_column = number_attribute(&die, DW_AT_call_column);
    b->call_discriminator = number_attribute(&die, DW_AT_GNU_discriminator);
  }
  return hearth_body_functions_get(&d->functions, &die, &unit->files, b->inlined, &b->function)
             ? HEARTH_OK
             : hearth_error_nomem(err);
}

static hearth_status leaf_position(hearth_debug_info *d, const body *b, uint64_t address, hearth_debug_frame *ret,
                                   hearth_error *err) {
  hearth_unit *unit;
  hearth_line_row row;
  *ret = (hearth_debug_frame){0};
  HEARTH_TRY(hearth_units_open(d->units, b->unit, &unit, err));
  HEARTH_TRY(hearth_units_line(d->units, unit, address, &row, err));
  if (row.line != 0)
    *ret = (hearth_debug_frame){.line = row.line, .column = row.column, .discriminator = row.discriminator};
  return HEARTH_OK;
}

hearth_status hearth_debug_info_frames(hearth_debug_info *d, uint64_t address, const hearth_debug_frame **ret_frames,
                                       size_t *ret_count, hearth_error *err) {
  size_t count = 0;
  hearth_debug_frame position;
  uint32_t at;
  *ret_frames = NULL;
  *ret_count = 0;
  if (!d->loaded)
    return HEARTH_OK;
  HEARTH_TRY(innermost(d, address, &at, err));
  if (at != HEARTH_NO_BODY)
    HEARTH_TRY(leaf_position(d, &d->bodies[at], address, &position, err));
  while (at != HEARTH_NO_BODY) {
    body *b = &d->bodies[at];
    HEARTH_TRY(resolve(d, b, err));
    HEARTH_TRY(hearth_check_memory(hearth_array_grow(&d->frames, &d->frame_capacity, count, sizeof *d->frames), err));
    position.function = b->function;
    position.inlined = b->inlined;
    d->frames[count++] = position;
    position =
        (hearth_debug_frame){.line = b->call_line, .column = b->call_column, .discriminator = b->call_discriminator};
    at = b->parent;
  }
  *ret_frames = d->frames;
  *ret_count = count;
  return HEARTH_OK;
}

const hearth_debug_function *hearth_debug_info_function(const hearth_debug_info *d, uint32_t function) {
  return &d->functions.rows[function];
}
