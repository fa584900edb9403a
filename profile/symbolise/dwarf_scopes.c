/* Scopes of one file. Creating walks every unit once and keeps only the shape: for each scope its DIE, its parent and
 * its addresses. Names and positions are read for scopes that an address actually hits, once each.
 *
 * Scopes nest and their ranges overlap; a sweep over the sorted ranges cuts them into disjoint pieces, each labelled
 * with its innermost scope, so that a look-up is one binary search:
 *
 *     main    |-----------------------------|            pieces   main foo bar foo  main
 *     foo          |-------------|                                |---|---|---|----|-----|
 *     bar               |---|
 */
#include "dwarf_scopes.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136 /* not yet named by elfutils 0.188 */
#endif
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* gABI; glibc and elfutils of 2022 do not name it */
#endif

#define NO_SCOPE     UINT32_MAX
#define NOT_RESOLVED (UINT32_MAX - 1)

typedef struct scope {
  Dwarf_Die die;
  uint32_t unit, parent;
  uint32_t function; /* NOT_RESOLVED until an address hits the scope */
  bool inlined;
  uint32_t call_line, call_column, call_discriminator; /* valid once resolved; of inlined scopes */
} scope;

typedef struct piece {
  uint64_t start, end;
  uint32_t scope;
} piece;

struct hearth_scopes {
  char *path;
  Dwarf *dwarf;
  hearth_code_range *code;
  Dwarf_Die *units; /* the DIE that has the line table */
  scope *scopes;
  piece *pieces; /* while walking: the scopes' ranges; then disjoint and sorted */
  hearth_scope_function *functions;
  hearth_scope_frame *frames;
  size_t code_count, unit_count, scope_count, piece_count, function_count;
  size_t unit_capacity, scope_capacity, piece_capacity, function_capacity, frame_capacity;
  size_t usable_functions; /* with code and a first line */
};

/* Room for one more element in the array that the pointer at `array` points to, and which holds `count`. The pointer is
 * copied by bytes: it may be of any type. */
static bool grow(void *array, size_t *capacity, size_t count, size_t element) {
  void *moved;
  if (count < *capacity)
    return true;
  size_t more = *capacity ? *capacity * 2 : 64;
  memcpy(&moved, array, sizeof moved);
  moved = realloc(moved, more * element);
  if (!moved)
    return false;
  memcpy(array, &moved, sizeof moved);
  *capacity = more;
  return true;
}

static hearth_status no_memory(const hearth_scopes *s, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory while reading debug information", s->path);
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
    return 0;
  return (uint32_t)value;
}

/* --- Walk --------------------------------------------------------------------------------------------------------- */

static bool has_code(const hearth_scopes *s, uint64_t start, uint64_t end) {
  for (size_t i = 0; i < s->code_count; ++i)
    if (start >= s->code[i].start && end <= s->code[i].end && start < end && start != 0)
      return true;
  return false;
}

/* Keep the DIE's ranges as pieces of the scope to come. Functions that the linker dropped keep their debug information,
 * with addresses around 0 or at the very top: not a place with code.
 *   ret_kept, ret_dropped  numbers of ranges */
static hearth_status add_ranges(hearth_scopes *s, Dwarf_Die *die, size_t *ret_kept, size_t *ret_dropped,
                                hearth_error *err) {
  Dwarf_Addr base, start, end;
  ptrdiff_t offset = 0;
  *ret_kept = *ret_dropped = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
    if (!has_code(s, start, end)) {
      ++*ret_dropped;
      continue;
    }
    if (!grow(&s->pieces, &s->piece_capacity, s->piece_count, sizeof *s->pieces))
      return no_memory(s, err);
    s->pieces[s->piece_count++] = (piece){start, end, (uint32_t)s->scope_count};
    ++*ret_kept;
  }
  return HEARTH_OK;
}

static bool has_first_line(Dwarf_Die *die) {
  int line = 0;
  return dwarf_decl_line(die, &line) == 0 && line > 0;
}

/* One DIE of the walk. *ret_inner is the scope that its children are in; false in *ret_descend: they do not matter. */
static hearth_status visit(hearth_scopes *s, Dwarf_Die *die, uint32_t outer, uint32_t *ret_inner, bool *ret_descend,
                           hearth_error *err) {
  size_t kept, dropped;
  hearth_status status;
  *ret_inner = outer;
  *ret_descend = true;
  switch (dwarf_tag(die)) {
  case DW_TAG_subprogram:
  case DW_TAG_inlined_subroutine:
    status = add_ranges(s, die, &kept, &dropped, err);
    if (status != HEARTH_OK)
      return status;
    if (kept == 0) {
      *ret_descend = dropped == 0; /* an abstract function may hold concrete ones; a dropped one holds dropped ones */
      return HEARTH_OK;
    }
    if (s->scope_count >= NOT_RESOLVED || !grow(&s->scopes, &s->scope_capacity, s->scope_count, sizeof *s->scopes))
      return no_memory(s, err);
    bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
    *ret_inner = (uint32_t)s->scope_count;
    s->scopes[s->scope_count++] = (scope){.die = *die,
                                          .unit = (uint32_t)(s->unit_count - 1),
                                          .parent = inlined ? outer : NO_SCOPE,
                                          .function = NOT_RESOLVED,
                                          .inlined = inlined && outer != NO_SCOPE};
    s->usable_functions += !inlined && has_first_line(die);
    return HEARTH_OK;
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

typedef struct pending {
  Dwarf_Die die;
  uint32_t outer;
} pending;

/* Walk one unit's tree with a stack of its own (nesting depth is the input's). A sibling must lie behind: references
 * of damaged debug information could otherwise lead in circles. */
static hearth_status walk_unit(hearth_scopes *s, Dwarf_Die *unit, hearth_error *err) {
  pending *stack = NULL;
  size_t count = 0, capacity = 0;
  hearth_status status = HEARTH_OK;
  Dwarf_Die first;

  if (dwarf_child(unit, &first) != 0)
    return HEARTH_OK;
  if (!grow(&stack, &capacity, count, sizeof *stack))
    return no_memory(s, err);
  stack[count++] = (pending){first, NO_SCOPE};
  while (count > 0) {
    pending now = stack[--count];
    Dwarf_Die next;
    uint32_t inner;
    bool descend;
    status = visit(s, &now.die, now.outer, &inner, &descend, err);
    if (status != HEARTH_OK)
      break;
    if (!grow(&stack, &capacity, count + 1, sizeof *stack)) {
      status = no_memory(s, err);
      break;
    }
    if (dwarf_siblingof(&now.die, &next) == 0 && dwarf_dieoffset(&next) > dwarf_dieoffset(&now.die))
      stack[count++] = (pending){next, now.outer};
    if (descend && dwarf_child(&now.die, &next) == 0)
      stack[count++] = (pending){next, inner};
  }
  free(stack);
  return status;
}

static const char *split_name(Dwarf_Die *unit) {
  Dwarf_Attribute attribute;
  const char *name = NULL;
  if (dwarf_attr(unit, DW_AT_dwo_name, &attribute) || dwarf_attr(unit, DW_AT_GNU_dwo_name, &attribute))
    name = dwarf_formstring(&attribute);
  return name ? name : "a .dwo file";
}

static hearth_status walk_all(hearth_scopes *s, hearth_error *err) {
  Dwarf_CU *unit = NULL;
  Dwarf_Die die, split;
  uint8_t type;
  while (dwarf_get_units(s->dwarf, unit, &unit, NULL, &type, &die, &split) == 0) {
    if (type == DW_UT_type)
      continue;
    if (!grow(&s->units, &s->unit_capacity, s->unit_count, sizeof *s->units))
      return no_memory(s, err);
    s->units[s->unit_count++] = die;
    bool skeleton = type == DW_UT_skeleton;
    if (skeleton && dwarf_tag(&split) == DW_TAG_invalid && !dwarf_haschildren(&die))
      return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                              "%s: its debug information is split and %s was not found (keep the .dwo files where the "
                              "compiler put them, or compile without -gsplit-dwarf)",
                              s->path, split_name(&die));
    hearth_status status = walk_unit(s, skeleton && dwarf_tag(&split) != DW_TAG_invalid ? &split : &die, err);
    if (status != HEARTH_OK)
      return status;
  }
  return HEARTH_OK;
}

/* --- Pieces ------------------------------------------------------------------------------------------------------- */

/* By start, then the enclosing one first: the longer, then the lower scope number (parents are numbered first). */
static int compare_pieces(const void *a, const void *b) {
  const piece *x = a, *y = b;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return (x->scope > y->scope) - (x->scope < y->scope);
}

typedef struct sweep {
  piece *out;
  size_t count, capacity;
  uint64_t at; /* everything below is done */
} sweep;

/* The addresses from where the sweep is up to `end` belong to `scope`. */
static bool sweep_to(sweep *w, uint64_t end, uint32_t scope) {
  if (end <= w->at)
    return true;
  if (!grow(&w->out, &w->capacity, w->count, sizeof *w->out))
    return false;
  w->out[w->count++] = (piece){w->at, end, scope};
  w->at = end;
  return true;
}

/* Cut the ranges into disjoint pieces. `open` holds the ranges around the current address, innermost last. */
static hearth_status cut_pieces(hearth_scopes *s, hearth_error *err) {
  sweep w = {0};
  piece *open = NULL;
  size_t depth = 0, open_capacity = 0;
  bool ok = true;

  qsort(s->pieces, s->piece_count, sizeof *s->pieces, compare_pieces);
  for (size_t i = 0; ok && i <= s->piece_count; ++i) {
    uint64_t next = i < s->piece_count ? s->pieces[i].start : UINT64_MAX;
    while (ok && depth > 0 && open[depth - 1].end <= next) {
      ok = sweep_to(&w, open[depth - 1].end, open[depth - 1].scope);
      --depth;
    }
    if (i == s->piece_count)
      break;
    if (ok && depth > 0)
      ok = sweep_to(&w, next, open[depth - 1].scope);
    w.at = w.at > next ? w.at : next;
    ok = ok && grow(&open, &open_capacity, depth, sizeof *open);
    if (ok)
      open[depth++] = s->pieces[i];
  }
  free(open);
  free(s->pieces);
  s->pieces = w.out;
  s->piece_count = w.count;
  s->piece_capacity = w.capacity;
  return ok ? HEARTH_OK : no_memory(s, err);
}

/* --- Create ------------------------------------------------------------------------------------------------------- */

/* Decompress debug sections now: libdw passes over those it cannot decompress without a word. */
static hearth_status decompress(const hearth_scopes *s, Elf *elf, hearth_error *err) {
  size_t names = 0;
  Elf_Scn *section = NULL;
  if (elf_getshdrstrndx(elf, &names) != 0)
    return HEARTH_OK; /* no sections: found out below */
  while ((section = elf_nextscn(elf, section))) {
    GElf_Shdr shdr;
    GElf_Chdr chdr;
    if (!gelf_getshdr(section, &shdr) || !(shdr.sh_flags & SHF_COMPRESSED))
      continue;
    const char *name = elf_strptr(elf, names, shdr.sh_name);
    if (!name || strncmp(name, ".debug_", 7) != 0 || !gelf_getchdr(section, &chdr))
      continue;
    if (elf_compress(section, 0, 0) < 0)
      return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                              "%s: section %s is compressed with %s, which this libelf cannot read (link with -gz=zlib "
                              "or -gz=none, or run objcopy --decompress-debug-sections)",
                              s->path, name, chdr.ch_type == ELFCOMPRESS_ZSTD ? "zstd" : "an unknown method");
  }
  return HEARTH_OK;
}

static hearth_status check_usable(const hearth_scopes *s, hearth_error *err) {
  if (s->unit_count == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: no debug information (compile with -gmlt -fdebug-info-for-profiling, do not strip)",
                            s->path);
  if (s->usable_functions == 0)
    return hearth_error_set(err, HEARTH_E_NO_DEBUG_INFO,
                            "%s: its debug information does not say where functions begin (compile with "
                            "-fdebug-info-for-profiling beside -gmlt)",
                            s->path);
  return HEARTH_OK;
}

hearth_status hearth_scopes_create(const char *path, Elf *elf, const hearth_code_range *code, size_t code_count,
                                   hearth_scopes **ret, hearth_error *err) {
  *ret = NULL;
  hearth_scopes *s = calloc(1, sizeof *s);
  if (!s || !(s->path = strdup(path)) || !(s->code = calloc(code_count + 1, sizeof *code))) {
    hearth_scopes_destroy(s);
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
  }
  memcpy(s->code, code, code_count * sizeof *code);
  s->code_count = code_count;
  hearth_status status = decompress(s, elf, err);
  if (status == HEARTH_OK)
    s->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  if (status == HEARTH_OK && s->dwarf)
    status = walk_all(s, err);
  if (status == HEARTH_OK)
    status = check_usable(s, err);
  if (status == HEARTH_OK)
    status = cut_pieces(s, err);
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
  if (s->dwarf)
    dwarf_end(s->dwarf);
  free(s->path);
  free(s->code);
  free(s->units);
  free(s->scopes);
  free(s->pieces);
  free(s->functions);
  free(s->frames);
  free(s);
}

/* --- Look up ------------------------------------------------------------------------------------------------------ */

static uint32_t innermost(const hearth_scopes *s, uint64_t address) {
  size_t low = 0, high = s->piece_count; /* pieces below `low` end at or before the address, from `high` begin behind */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const piece *p = &s->pieces[middle];
    if (address < p->start)
      high = middle;
    else if (address >= p->end)
      low = middle + 1;
    else
      return p->scope;
  }
  return NO_SCOPE;
}

static const char *linkage_name(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  const char *name = NULL;
  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
    name = dwarf_formstring(&attribute);
  return name ? name : dwarf_diename(die);
}

/* The declaring file. Not dwarf_decl_file: up to elfutils 0.188 it takes number 0 for "none", which in DWARF 5 is the
 * unit's primary source file. */
static const char *declaring_file(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Half version = 0;
  Dwarf_Die unit;
  Dwarf_Files *files;
  size_t count = 0;
  if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
      dwarf_cu_info(attribute.cu, &version, NULL, &unit, NULL, NULL, NULL, NULL) != 0 || (number == 0 && version < 5) ||
      dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
    return "";
  const char *path = dwarf_filesrc(files, number, NULL, NULL);
  return path ? path : "";
}

/* Read what the walk left unread: the scope's function and where it was called from. */
static bool resolve(hearth_scopes *s, scope *sc) {
  if (sc->function != NOT_RESOLVED)
    return true;
  int start_line = 0;
  const char *name = linkage_name(&sc->die);
  if (sc->inlined) {
    sc->call_line = number_attribute(&sc->die, DW_AT_call_line);
    sc->call_column = number_attribute(&sc->die, DW_AT_call_column);
    sc->call_discriminator = number_attribute(&sc->die, DW_AT_GNU_discriminator);
  }
  if (!name || dwarf_decl_line(&sc->die, &start_line) != 0 || start_line <= 0) {
    sc->function = HEARTH_SCOPE_NO_FUNCTION;
    return true;
  }
  if (!grow(&s->functions, &s->function_capacity, s->function_count, sizeof *s->functions))
    return false;
  sc->function = (uint32_t)s->function_count;
  s->functions[s->function_count++] = (hearth_scope_function){name, declaring_file(&sc->die), (uint32_t)start_line};
  return true;
}

static hearth_scope_frame leaf_position(hearth_scopes *s, const scope *sc, uint64_t address) {
  hearth_scope_frame position = {0};
  Dwarf_Line *row = dwarf_getsrc_die(&s->units[sc->unit], address);
  int line = 0, column = 0;
  unsigned discriminator = 0;
  if (!row || dwarf_lineno(row, &line) != 0 || line <= 0)
    return position;
  position.line = (uint32_t)line;
  if (dwarf_linecol(row, &column) == 0 && column > 0)
    position.column = (uint32_t)column;
  if (dwarf_linediscriminator(row, &discriminator) == 0)
    position.discriminator = discriminator;
  return position;
}

hearth_status hearth_scopes_frames(hearth_scopes *s, uint64_t address, const hearth_scope_frame **ret_frames,
                                   size_t *ret_count, hearth_error *err) {
  size_t count = 0;
  uint32_t at = innermost(s, address);
  hearth_scope_frame position = {0};
  if (at != NO_SCOPE)
    position = leaf_position(s, &s->scopes[at], address);
  while (at != NO_SCOPE) {
    scope *sc = &s->scopes[at];
    if (!resolve(s, sc) || !grow(&s->frames, &s->frame_capacity, count, sizeof *s->frames))
      return no_memory(s, err);
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
  return &s->functions[function];
}
