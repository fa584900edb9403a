/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which calls allocate, and the names of their hinted forms: the functions of alloc_functions.def, and those that the
 * user listed (hearth_alloc_table_mark), whose declarations carry the attribute
 *
 *   "hearth-hinted"="NAME"    calls of the function are lowered to NAME
 *
 * which reaches links, too. */
#ifndef HEARTH_ALLOC_FUNCTIONS_H
#define HEARTH_ALLOC_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/status.h"
#include <llvm-c/Core.h>

/* Names of functions that the plugin makes (dispatch.h) begin so. */
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
  HEARTH_ALLOC_FAMILY_NEW_ARRAY,
  HEARTH_ALLOC_FAMILY_LISTED /* by the user: nothing is known of it */
} hearth_alloc_family;

/* A row of the table. */
typedef struct hearth_alloc_function {
  const char *name, *hinted, *signature, *size; /* NULL in that of listed functions */
  hearth_alloc_kind kind;
  hearth_alloc_family family;
} hearth_alloc_function;

#define HEARTH_ALLOC_NAME_MAX 255 /* length of names that a user may list */

/* The row of the function that a call calls directly, or NULL: not a call, an indirect one, another function,
 * one of the same name that is called with another type, one that the module defines itself, or a call that lowering
 * made. All functions that users listed share one row. Sizes may be narrower integers than the library's, and the
 * declaration may lack parameters or differ from the call, as in old C: `char *malloc();`, `void *malloc(unsigned);`. */
const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction);

/* The function that a call names, also through casts of its type; NULL if it names none. */
LLVMValueRef hearth_alloc_callee(LLVMValueRef call);

/* The type of the function that a call of the row's function calls: as the library declares it. */
LLVMTypeRef hearth_alloc_type(LLVMValueRef call, const hearth_alloc_function *row);

/* Does it call a function of alloc_functions.def with a type that cannot be converted to the library's? */
bool hearth_alloc_is_misdeclared(LLVMValueRef instruction);

/* Is there a row of this name in alloc_functions.def? */
bool hearth_alloc_is_known(const char *name);

/* The hinted form of a function that the user listed, not NUL-terminated; NULL if it is none. */
const char *hearth_alloc_hinted_form(LLVMValueRef function, size_t *ret_length);
void hearth_alloc_set_hinted_form(LLVMValueRef function, const char *hinted);
void hearth_alloc_forget_hinted_form(LLVMValueRef function);
/* Says whether the function can get one more parameter, and its arguments can be passed on. */
bool hearth_can_take_hint(LLVMValueRef function);
#define HEARTH_HINTED_PARAMETERS_MAX 8

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

/* ------------------------------------------------ the user's tables ------------------------------------------------ */

/* Tables of functions that users write: a line each, '#' begins a comment. */

#define HEARTH_TABLE_SPACE "\t\n\v\f\r "

typedef struct hearth_user_table {
  LLVMModuleRef module;
  const char *path;
  unsigned line; /* from 1 on */
  hearth_error *err;
} hearth_user_table;

/* `line` has no comment, and may be changed. */
typedef hearth_status hearth_user_table_line(const hearth_user_table *table, char *line);

/* `what` names the table in messages. Stops at the first error. Errors: E_IO, E_FORMAT for a NUL byte, those of
 * `read_line`. */
hearth_status hearth_user_table_read(LLVMModuleRef module, const char *path, const char *what,
                                     hearth_user_table_line *read_line, hearth_error *err);

/* ------------------------------------------------ alloc table ------------------------------------------------ */

/* The user's table of allocation functions, -memprof-alloc-functions: functions of the program that take hints in a
 * form of their own. A line is
 *
 *   NAME [HINTED]     # comment
 *
 * HINTED, NAME_hot_cold if it is left out, has the parameters of NAME and one more, last: uint8_t hint. The program
 * defines it; where it does not, calls go to NAME all the same. */

/* Mark the module's declarations of functions in the table (alloc_functions.h). Those that it defines are left
 * alone: there inlining and bits reach the allocation itself. E_IO, E_FORMAT, E_NOMEM, with file, line and remedy;
 * the module is then marked in part. */
hearth_status hearth_alloc_table_mark(LLVMModuleRef module, const char *path, hearth_error *err);

#endif
