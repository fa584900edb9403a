/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles of sources that have changed since. If the profile knows calls of a function that are no longer where
 * they were, the function is aligned with its profile: the sequence of its calls in the source, by their callees,
 * with that of the profile. Calls that correspond get the profile's places. The function's other calls are unknown
 * to the profile, as are calls that may be one of several with different placements (hearth_doubts).
 *
 * A source file that the profile has nothing of was renamed if a function that other files can call, of a name that
 * the profile has once, makes all the calls at the places that the profile says: its functions are then those of
 * that other file, as far as this has functions of their names. */
#ifndef HEARTH_SALVAGE_H
#define HEARTH_SALVAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/profile.h"
#include "module.h"

/* A function in which it cannot be told which of several calls is which: they are nowhere that the profile knows. */
typedef struct hearth_doubtful_function {
  LLVMValueRef function;
  uint32_t line; /* of one of the calls */
} hearth_doubtful_function;

typedef struct hearth_salvage {
  hearth_moved_calls moved;
  hearth_doubtful_function *doubtful;
  size_t n_doubtful, doubtful_room;
  /* Row of a function of the profile that has the name of one of this module, though the module's file is not in the
   * profile and does not seem to be renamed. HEARTH_NONE: there is no such function. */
  uint32_t namesake;
} hearth_salvage;

/* Compare a module with the profile. Takes time in proportion to the module's calls and, if one of its functions has
 * changed, to all stacks and contexts of the profile; functions of very many calls (HEARTH_ALIGNMENT_LIMIT) are not
 * aligned. `locator` gives places as they are, and `placer` is the profile's. Errors: those of reading a profile,
 * E_NOMEM; destroy accepts NULL. */
hearth_status hearth_salvage_create(LLVMModuleRef module, hearth_profile *profile, const hearth_placer *placer,
                                    hearth_locator *locator, const hearth_call_sites *sites, hearth_salvage **ret,
                                    hearth_error *err);
void hearth_salvage_destroy(hearth_salvage *salvage);

/* ------------------------------------------------ alignment ------------------------------------------------ */

/* Two sequences with as much in common as possible, in order: a longest common subsequence. */

/* How alike item i of the first sequence and item k of the second are: 0 not at all. Sums are below 2^32. */
typedef uint32_t (*hearth_likeness)(size_t i, size_t k, void *data);

#define HEARTH_UNALIGNED       SIZE_MAX
#define HEARTH_ALIGNMENT_LIMIT (4u << 20) /* product of the lengths: 16 MiB while it runs */

/* For each of n items, the one of m that it is taken to be, or HEARTH_UNALIGNED; ascending. The sum of likenesses is
 * the greatest that there is; of several such alignments, that of the earliest items. False, and nothing written, if
 * the sequences are too long, or out of memory. */
bool hearth_align(size_t n, size_t m, hearth_likeness likeness, void *data, size_t *ret);

/* ------------------------------------------------ doubts ------------------------------------------------ */

/* Which calls of an alignment are guesses. Calls of one function look alike: where one of several was
 * inserted, deleted or put elsewhere, callees do not tell which of them is which. Columns do, where they are those
 * of calls in lines of their own and occur once, and lines do between two calls that are sure and moved by as many
 * lines. Without either a pair is in doubt. */

/* A call that the profile knows, of any discriminator. */
typedef struct hearth_old_call {
  uint32_t line, column;
  hearth_function_info callee; /* `name` NULL: unknown */
  uint64_t placements;         /* of contexts through it: a set */
  bool allocates;
  bool indirect; /* the callee is none that the function calls by name */
} hearth_old_call;

/* Calls of one place now: sites [first, end). */
typedef struct hearth_new_call {
  uint32_t line, column;
  size_t first, end;
} hearth_new_call;

typedef struct hearth_doubts {
  size_t n, m;
  const hearth_old_call *old; /* n, by line and column */
  const hearth_new_call *now; /* m, likewise */
  hearth_likeness is_alike;   /* do they call the same? */
  void *data;
  bool knows_end;  /* it is known by how many lines the code behind the function moved, against it */
  uint32_t end_by; /* lines that the code behind the function moved by, if knows_end */
} hearth_doubts;

/* `pairs` is the alignment. Of old calls that are in doubt, the pair is put right where lines decide it, kept where
 * all that the call may be have one class, or none that gets a hint, and else taken away (HEARTH_UNALIGNED).
 * *ret_first: one of the calls of the source that lost it, or may be one that did; m if there is none. False: out of
 * memory. */
bool hearth_doubts_decide(const hearth_doubts *doubts, size_t *pairs, size_t *ret_first);

/* ------------------------------------------------ functions of a file ------------------------------------------------ */

/* The functions of a source file, in the module and in the profile: how far apart they were, and are; and whether
 * another file had them, which is then this one under its former name, or another program's. */

/* A profile has no functions' ends, but where the next one of a file begins. If that moved, lines were inserted or
 * removed in the function or behind it. */
typedef struct hearth_spaced_function {
  uint32_t path, then, now; /* its first line in the profile and in the module */
} hearth_spaced_function;

typedef struct hearth_spacing {
  hearth_spaced_function *items; /* of all files, by path and line then */
  size_t count, room;
} hearth_spacing;

/* Find the spacing of functions that module and profile have. Errors: those of reading a profile, E_NOMEM; free
 * `spacing` also after an error. */
hearth_status hearth_spacing_find(hearth_spacing *spacing, LLVMModuleRef module, hearth_profile *profile,
                                  hearth_locator *locator, hearth_error *err);
void hearth_spacing_free(hearth_spacing *spacing);

/* By how many lines more than the function itself, which begins in line `now`, the next one of its file moved; false
 * if there is none, or it stands elsewhere now. */
bool hearth_spacing_behind(const hearth_spacing *spacing, const hearth_function_info *function, uint32_t now,
                           uint32_t *ret);

typedef struct hearth_namesake {
  LLVMValueRef function;
  const char *name; /* linkage name, without suffixes: name_length characters; the module's */
  size_t name_length;
  uint64_t id;
  uint32_t row;   /* in the profile: the last function of that name */
  uint32_t count; /* of these */
} hearth_namesake;

/* The functions of the module's source file, by name; none if the profile knows one of them, or if none that other
 * files could call has a namesake: file-local functions of one name have nothing to do with each other. Else takes
 * time in proportion to all functions of the profile. Errors: those of reading a profile, E_NOMEM. Free in any case. */
typedef struct hearth_namesakes {
  hearth_namesake *items;
  size_t count, room;
} hearth_namesakes;
hearth_status hearth_namesakes_find(hearth_namesakes *namesakes, LLVMModuleRef module, hearth_profile *profile,
                                    hearth_locator *locator, hearth_error *err);
void hearth_namesakes_free(hearth_namesakes *namesakes);

/* Is the function, which has debug information, declared in the module's source file, by the file's last name? */
bool hearth_is_of_source_file(LLVMValueRef function);

#endif
