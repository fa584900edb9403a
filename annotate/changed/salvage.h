/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles of sources that have changed since. If the profile knows calls of a function that are no longer where
 * they were, the function is aligned with its profile: the sequence of its calls in the source, by their callees,
 * with that of the profile. Calls that correspond get the profile's places. The function's other calls are unknown
 * to the profile, as are calls that may be one of several with different placements (alignment.h).
 *
 * A source file that the profile has nothing of was renamed if a function that other files can call, of a name that
 * the profile has once, makes all the calls at the places that the profile says: its functions are then those of
 * that other file, as far as this has functions of their names. */
#ifndef HEARTH_SALVAGE_H
#define HEARTH_SALVAGE_H

#include "call_sites.h"
#include "hearth/profile.h"
#include "placer.h"

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

/* A function in which it cannot be told which of several calls is which: they are nowhere that the profile knows. */
typedef struct hearth_doubtful_function {
  LLVMValueRef function;
  uint32_t line; /* of one of the calls */
} hearth_doubtful_function;

typedef struct hearth_salvage {
  hearth_moved_function *functions; /* functions that changed, by id */
  hearth_moved_call *calls;         /* of each function by line and column */
  hearth_doubtful_function *doubtful;
  size_t n_functions, functions_room, n_calls, calls_room, n_doubtful, doubtful_room;
  /* Row of a function of the profile that has the name of one of this module, though the module's file is not in the
   * profile and does not seem to be renamed. HEARTH_NONE: there is no such function. */
  uint32_t namesake;
} hearth_salvage;

/* Compare a module with the profile. Takes time in proportion to the module's calls and, if one of its functions has changed,
 * to all stacks and contexts of the profile; functions of very many calls (HEARTH_ALIGNMENT_LIMIT) are not aligned. `locator` gives
 * places as they are, and `placer` is the profile's. Errors: those of reading a profile, E_NOMEM; destroy accepts NULL. */
hearth_status hearth_salvage_create(LLVMModuleRef module, hearth_profile *profile, const hearth_placer *placer,
                                    hearth_locator *locator, const hearth_call_sites *sites, hearth_salvage **ret,
                                    hearth_error *err);
void hearth_salvage_destroy(hearth_salvage *salvage);

/* The known facts about a module's places, for a locator. Both may be NULL. */
hearth_known_places hearth_salvage_places(const hearth_salvage *salvage, const hearth_crowded_places *crowded);

/* ------------------------------------------------ moved calls ------------------------------------------------ */

/* How a module tells a link which of its functions have changed since they were profiled, and where their calls were: salvage
 * needs the calls as they were written, which only compiling sees. It is named metadata, a node for each
 * function, and linkers put those of all modules together:
 *
 *   !memprof.moved = !{!0}
 *   !0 = !{i64 FUNCTION, i64 OLD_FUNCTION, i32 CALLS, i32 LINE, i32 COLUMN, i32 OLD_LINE, i32 OLD_COLUMN, ...} */

/* Adds a node for each function that has changed; nothing if there is none. */
void hearth_moved_calls_write(LLVMModuleRef module, const hearth_salvage *salvage);

/* Reads the module's nodes; the caller passes the result to hearth_salvage_destroy. NULL if there are none, or out of
 * memory. Other nodes are passed over. */
hearth_salvage *hearth_moved_calls_read(LLVMModuleRef module);

#endif
