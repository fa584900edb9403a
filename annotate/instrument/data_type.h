/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which type an allocation call allocates. LLVM's IR does not say it, but source-shaped code gives it away. */
#ifndef HEARTH_DATA_TYPE_H
#define HEARTH_DATA_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>

#define HEARTH_TYPE_NAME 1024 /* longest name that is taken, with its NUL */

/* The name of the type, from the first of these sources that has one:
 *
 *   1. debug information that the front end attached to the call (-g, new expressions)
 *   2. the constructor that is called for the block
 *   3. the allocator class that the call is a member's of (std::allocator and its base): its template argument
 *   4. the pointee of the variable that the block is stored to (clang 20 and newer)
 *   5. the type that the pointer is cast to, or the struct whose members are accessed through it, also from a local
 *      variable. A struct larger than the block, if that has a constant size, is none; if several are left, that of
 *      exactly its size, else none
 *
 * False: none has. */
bool hearth_data_type_of(LLVMValueRef call, char name[HEARTH_TYPE_NAME]);

#endif
