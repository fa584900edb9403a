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

#include "hearth/profile.h"
#include "location.h"
#include "placer.h"

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

/* Compare a module with the profile. Takes time in proportion to the module's calls and, if one of its functions has changed,
 * to all stacks and contexts of the profile; functions of very many calls (HEARTH_ALIGNMENT_LIMIT) are not aligned. `locator` gives
 * places as they are, and `placer` is the profile's. Errors: those of reading a profile, E_NOMEM; destroy accepts NULL. */
hearth_status hearth_salvage_create(LLVMModuleRef module, hearth_profile *profile, const hearth_placer *placer,
                                    hearth_locator *locator, const hearth_call_sites *sites, hearth_salvage **ret,
                                    hearth_error *err);
void hearth_salvage_destroy(hearth_salvage *salvage);

/* ------------------------------------------------ moved calls ------------------------------------------------ */

/* How a module tells a link which of its functions have changed since they were profiled, and where their calls were: salvage
 * needs the calls as they were written, which only compiling sees. It is named metadata, a node for each
 * function, and linkers put those of all modules together:
 *
 *   !memprof.moved = !{!0}
 *   !0 = !{i64 FUNCTION, i64 OLD_FUNCTION, i32 CALLS, i32 LINE, i32 COLUMN, i32 OLD_LINE, i32 OLD_COLUMN, ...} */

/* Adds a node for each function that has changed; nothing if there is none. */
void hearth_moved_calls_write(LLVMModuleRef module, const hearth_moved_calls *moved);

/* Adds the functions of the module's nodes to `moved`, which is empty, as far as memory goes. Other nodes are passed over. */
void hearth_moved_calls_read(LLVMModuleRef module, hearth_moved_calls *moved);
void hearth_moved_calls_free(hearth_moved_calls *moved);

#endif
