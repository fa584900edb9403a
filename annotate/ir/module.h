/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module, as all passes see it: its symbols; its allocation calls, and the functions that take their place; the
 * places of its calls, in ids of the profile; and where the profile wants blocks to lie. */
#ifndef HEARTH_MODULE_H
#define HEARTH_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "hearth/indexed.h"
#include "hearth/plan.h"
#include "hearth/program_tables.h"
#include "hearth/status.h"

/* ------------------------------------------------ symbols ------------------------------------------------ */

/* Code of other modules cannot name it. */
bool hearth_is_local(LLVMValueRef global);
/* Has it one of these names, or a name that begins so? NULL ends the list. */
bool hearth_is_named(LLVMValueRef global, const char *const *names);
bool hearth_is_named_like(LLVMValueRef global, const char *const *prefixes);
/* Has a function one of these attributes of LLVM's there? NULL ends the list. */
bool hearth_has_attribute(LLVMValueRef function, LLVMAttributeIndex place, const char *const *names);

/* Which global variables are profiled, and what they are called in profiles: by the instrumentation, and again by the
 * compilation that uses the profile. */

typedef struct hearth_global_name {
  char name[HEARTH_GLOBAL_NAME_MAX + 1];
  char file[HEARTH_GLOBAL_NAME_MAX + 1]; /* base name; "": of a string literal */
  uint32_t line;                         /* 0: unknown */
  uint32_t flags;                        /* as in hearth_global_row */
} hearth_global_name;

/* False: it is none that is profiled. Those are defined here for good, lie in the section that the compiler chooses,
 * and are not thread-local. A string literal, which has no name, is called by its content. */
bool hearth_global_name_of(LLVMValueRef global, hearth_global_name *ret);

/* Bytes. */
uint64_t hearth_global_size(LLVMTargetDataRef layout, LLVMValueRef global);

/* ------------------------------------------------ allocation functions ------------------------------------------------ */

/* Which calls allocate. */

/* Names of functions that the plugin makes begin so. */
#define HEARTH_OWN_PREFIX "__hearth_"

/* The bits of LLVM's attribute allockind (LangRef, "Function Attributes"). */
typedef enum hearth_alloc_kind {
  HEARTH_ALLOC_OTHER = 0,
  HEARTH_ALLOC_REALLOC = 1 << 1,
  HEARTH_ALLOC_UNINITIAL = 1 << 0 | 1 << 3,
  HEARTH_ALLOC_ZEROED = 1 << 0 | 1 << 4,
  HEARTH_ALLOC_ALIGNED = 1 << 0 | 1 << 3 | 1 << 5
} hearth_alloc_kind;

typedef enum hearth_alloc_family {
  HEARTH_ALLOC_FAMILY_C,
  HEARTH_ALLOC_FAMILY_NEW,
  HEARTH_ALLOC_FAMILY_NEW_ARRAY
} hearth_alloc_family;

/* A row of the table. */
typedef struct hearth_alloc_function {
  const char *name, *hinted, *signature, *size;
  hearth_alloc_kind kind;
  hearth_alloc_family family;
} hearth_alloc_function;

enum { HEARTH_ALLOC_PARAMETERS_MAX = 4 };

/* The row of the function that a call calls directly, or NULL: not a call, an indirect one, another function, one of
 * the same name that is called with another type, one that the module defines itself, or a call that lowering made.
 * Sizes may be narrower integers than the library's, and the declaration may lack parameters or differ from the call,
 * as in old C: `char *malloc();`, `void *malloc(unsigned);`. */
const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction);

/* The function that a call names, also through casts of its type; NULL if it names none. */
LLVMValueRef hearth_alloc_callee(LLVMValueRef call);

/* The type of the function that a call of the row's function calls: as the library declares it. */
LLVMTypeRef hearth_alloc_type(LLVMValueRef call, const hearth_alloc_function *row);

/* Note, before coroutines are split, that the call allocates the frame of one, if it does. */
void hearth_alloc_note_frame(LLVMValueRef call);
/* Says whether the program calls the function as one like any other, which is to stay: not in a new expression, nor
 * for the frame of a coroutine, where the compiler calls it by name. */
bool hearth_alloc_is_by_name(LLVMValueRef call);

/* Of a call: does it make many of the profile's allocations? */
void hearth_alloc_note_frequent(LLVMValueRef call, bool is_frequent);
bool hearth_alloc_is_frequent(LLVMValueRef call);
/* Of a call: do its cold blocks stay in memory, since some of its contexts are but dormant (HEARTH_PLACEMENT_DORMANT)? */
void hearth_alloc_note_dormant(LLVMValueRef call);
bool hearth_alloc_is_dormant(LLVMValueRef call);

/* Whether a function type is this: letters for result and parameters, as in the table. */
bool hearth_has_signature(LLVMTypeRef type, const char *signature);

/* Is it one that the plugin made? Its calls of the plain function are not the program's. */
bool hearth_is_dispatch(LLVMValueRef function);

/* ------------------------------------------------ pointer calls ------------------------------------------------ */

/* Calls of an allocation function through a pointer, as libxml2 makes all of its: `xmlMallocFunc xmlMalloc =
 * malloc;`. The profile says that such a call allocates, but not by which function; its type does. The call is
 * promoted:
 *
 *   p = xmlMalloc(n);   ->   p = xmlMalloc == malloc ? malloc(n) : xmlMalloc(n);
 *
 * The direct call gets contexts and a hint like any other. Where the pointer leads elsewhere, blocks are placed as
 * before. */

/* Is it a call through a pointer that was not promoted yet? */
bool hearth_is_pointer_call(LLVMValueRef call);

/* The function that a pointer call may lead to, by its type: malloc, calloc or realloc. NULL if it cannot be promoted;
 * *ret_why says why, for a remark. */
const char *hearth_pointer_callee(LLVMValueRef call, const char **ret_why);

/* Promote a pointer call that has such a function. Returns the direct call. */
LLVMValueRef hearth_promote_pointer_call(LLVMValueRef call);

/* ------------------------------------------------ dispatch ------------------------------------------------ */

/* Lowered calls that link everywhere: each goes to a function in the module itself, which calls the hinted function
 * if the program has one, and the plain one without the hint otherwise:
 *
 *   define linkonce_odr hidden ptr @__hearth_malloc_hot_cold(i64 %0, i8 %1) comdat {
 *     if (&malloc_hot_cold) return malloc_hot_cold(%0, %1); else return malloc(%0);
 *   }
 *
 * `malloc_hot_cold` is a weak reference, which ld.so resolves to an allocator that was linked as shared object,
 * preloaded, or is in the program. Nothing under the name of a hinted function is defined, so nothing can come
 * before the allocator's or tcmalloc's. */

/* The function to call in place of an allocation call of this row, with its arguments and a hint; made if the module
 * lacks it. NULL if one of the names is taken by something else. */
LLVMValueRef hearth_dispatch_for(LLVMValueRef call, const hearth_alloc_function *row);

/* The begin of a function without blocks: the builder goes on where the weak reference is bound. Returns the block for
 * programs without it. */
LLVMBasicBlockRef hearth_build_if_bound(LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef weak);
/* A tail call of `callee`, of that type, whose result is returned. */
LLVMValueRef hearth_build_tail_call(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef callee,
                                    LLVMValueRef *arguments, unsigned n);

/* Make a definition, or a declaration that will become one, one for the program, whichever modules have it; never
 * visible outside of the program or library that it is linked into. */
void hearth_share_global(LLVMModuleRef module, LLVMValueRef global, const char *name);

/* For a variable of threads that any module may define: at a fixed distance from the thread's pointer. Linkers write
 * that distance into programs' code; it is not known yet in code that may become part of a library, as that of -fPIE
 * may. */
LLVMThreadLocalMode hearth_thread_model(LLVMModuleRef module);

/* ------------------------------------------------ places ------------------------------------------------ */

/* From debug locations to the ids of the profile, and the calls of a module by their places. */

/* Remembers the ids of subprograms. One for a module; not thread-safe. */
typedef struct hearth_locator hearth_locator;

/* ------------------------------------------------ call sites ------------------------------------------------ */

/* The calls of a module by their places in the source: they show which call stands where the profile has another
 * one. */

typedef struct hearth_call_site {
  uint64_t function; /* id of the function whose source it is in */
  uint32_t line, column, discriminator;
  uint64_t inlined;  /* id of the function that was inlined here; 0: `call` is the call that was written here */
  LLVMValueRef call; /* one of the calls that inlining put here, otherwise */
} hearth_call_site;

typedef struct hearth_call_sites {
  hearth_call_site *items; /* by function, line, column */
  size_t count, room;
} hearth_call_sites;

/* All calls with known places, inlined calls included; no intrinsics. E_NOMEM. Free `sites` also after an error. */
hearth_status hearth_call_sites_collect(hearth_call_sites *sites, LLVMModuleRef module, hearth_locator *locator,
                                        hearth_error *err);
void hearth_call_sites_free(hearth_call_sites *sites);

/* One call of each place at which calls of several discriminators stand, as those of a macro do. At all other places
 * a call is the one that the profile has there, whatever its discriminator: releases of LLVM number them
 * differently, and so does an edit further on in the line. E_NOMEM. Free in any case. */
hearth_status hearth_call_sites_find_crowded(hearth_call_sites *crowded, const hearth_call_sites *sites,
                                             hearth_error *err);

/* Position of the first one at this place or behind it. */
size_t hearth_call_sites_from(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

/* Is there one at this place? */
bool hearth_call_sites_has(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

/* ------------------------------------------------ locations ------------------------------------------------ */

#define HEARTH_CHAIN_MAX 256 /* longer inline chains are cut at the outside */

/* One frame of an inline chain. */
typedef struct hearth_location {
  uint64_t function; /* function id */
  uint32_t line;     /* offset from the function's first line */
  uint32_t column;
  uint32_t discriminator;
  bool moved;  /* the function has changed: this is the place in the profile */
  bool alone;  /* no call of another discriminator is known to stand there */
  uint64_t id; /* stack id; 0 if line or column are unknown: compiler-made and merged locations have neither */
} hearth_location;

/* Order of places within a function. Lines above the function's first are below 0. */
static inline int hearth_compare_places(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column) {
  if (line != other_line)
    return (int32_t)line < (int32_t)other_line ? -1 : 1;
  return (column > other_column) - (column < other_column);
}

/* A call's place now, and in the profile. */
typedef struct hearth_moved_call {
  uint32_t line, column;
  uint32_t old_line, old_column;
} hearth_moved_call;

typedef struct hearth_moved_function {
  uint64_t id;
  uint64_t old_id;     /* in the profile: another one if its file was renamed; 0: the same */
  size_t first, count; /* of the calls */
} hearth_moved_function;

typedef struct hearth_moved_calls {
  hearth_moved_function *functions; /* functions that changed, by id */
  hearth_moved_call *calls;         /* of each function by line and column */
  size_t n_functions, functions_room, n_calls, calls_room;
} hearth_moved_calls;

/* How a module tells a link which of its functions have changed since they were profiled, and where their calls
 * were: salvage needs the calls as they were written, which only compiling sees. It is named metadata, a node for
 * each function, and linkers put those of all modules together:
 *
 *   !memprof.moved = !{!0}
 *   !0 = !{i64 FUNCTION, i64 OLD_FUNCTION, i32 CALLS, i32 LINE, i32 COLUMN, i32 OLD_LINE, i32 OLD_COLUMN, ...} */

/* Adds a node for each function that has changed; nothing if there is none. */
void hearth_moved_calls_write(LLVMModuleRef module, const hearth_moved_calls *moved);

/* Adds the functions of the module's nodes to `moved`, which is empty, as far as memory goes. Other nodes are passed
 * over. */
void hearth_moved_calls_read(LLVMModuleRef module, hearth_moved_calls *moved);
void hearth_moved_calls_free(hearth_moved_calls *moved);

/* NULL when out of memory. Function ids are made by `scheme`. `moved` and
 * `crowded` (hearth_call_sites_find_crowded), both borrowed, hold facts that debug locations lack. `moved` NULL: no
 * function has changed; `crowded` NULL: no call is known to be alone at its place. */
hearth_locator *hearth_locator_create(enum hearth_id_scheme scheme, const hearth_moved_calls *moved,
                                      const hearth_call_sites *crowded);
void hearth_locator_destroy(hearth_locator *locator);

/* The frames of an instruction, innermost first, outwards through inlining, as far as they can be compared with
 * contexts in which recursion is folded: it is folded in them, too. Returns their number; 0 without location. */
size_t hearth_locate(hearth_locator *locator, LLVMValueRef instruction, hearth_location chain[HEARTH_CHAIN_MAX]);

/* The id of a function with debug information, in the profile; false without. */
bool hearth_locate_function(hearth_locator *locator, LLVMValueRef function, uint64_t *ret_id);
/* Is it one that has changed? */
bool hearth_locate_moved(hearth_locator *locator, LLVMValueRef function);

/* For messages: " inlined into g at a.c:12, into h at b.c:3", outwards, cut to fit; "" if it was not inlined. size
 * >= 1. */
void hearth_describe_inlining(LLVMValueRef instruction, char *buffer, size_t size);

/* ------------------------------------------------ placements ------------------------------------------------ */

/* Where the blocks of a profile's contexts are to lie: as its plan says, or if it has none, or the user asked for
 * classes (-memprof-classify), by their classes. */

typedef struct hearth_placer {
  hearth_classifier classifier;
  hearth_plan plan; /* `id` 0: there is none */
  bool by_plan;
} hearth_placer;

/* `by_plan`: unless the profile's plan has no placements. `classify` borrowed, for classes. Errors: those of reading a
 * profile. */
hearth_status hearth_placer_init(hearth_placer *placer, hearth_profile *profile, bool by_plan,
                                 const hearth_classify_options *classify, hearth_error *err);

/* Of the context in this row of the profile. */
typedef struct hearth_place {
  hearth_placement placement;
  bool is_light;   /* its bytes and accesses do not matter: it decides nothing */
  bool is_dormant; /* the placement is cold, in memory that stays */
} hearth_place;
hearth_place hearth_place_context(const hearth_placer *placer, uint32_t row, const hearth_mib *mib);

/* Of several contexts that are one to the compiler: `sum` of their numbers, `bytes` of each placement. */
hearth_place hearth_place_sum(const hearth_placer *placer, const hearth_mib *sum,
                              const uint64_t bytes[HEARTH_PLACEMENTS]);

/* The class of blocks that lie there, for allocators without pools. */
hearth_class hearth_placer_class(const hearth_placer *placer, hearth_placement placement);
/* A placement of the plan, or its class if not by plan. */
hearth_placement hearth_placer_of_plan(const hearth_placer *placer, uint32_t placement);

/* A set of placements has the bit 1 << placement for each. */
static inline uint64_t hearth_placement_bit(hearth_placement placement) { return UINT64_C(1) << placement; }
HEARTH_CHECK_LAYOUT(HEARTH_PLACEMENTS <= 64);

#endif
