/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two versions of a function's code between calls: a plain one, and one to count accesses in. Which of them runs is
 * decided where a stretch starts; the runtime has one stretch in so many counted (a burst). In llvm-c's words. */
#ifndef HEARTH_VERSIONS_H
#define HEARTH_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why the function cannot have two versions; NULL if it can. */
const char *hearth_versions_obstacle(LLVMValueRef function);

/* Remove what would be in the way: code that cannot be reached, and marks of the lifetime of variables that are moved. */
void hearth_versions_prepare(LLVMValueRef function);

/* Make them, of all code that leads to one of the `count` instructions whose accesses are to be counted, of which there is
 * one at least. `is_copied` says of a call of a function of this type that two copies of it do no harm: it makes no heap
 * block, so no profile shows its return address. There is no obstacle, and
 * the function is prepared. */
void hearth_versions_make(LLVMValueRef function, const LLVMValueRef *accesses, size_t count,
                          bool (*is_copied)(LLVMValueRef call));

/* Whether the block is of the version that counts; until hearth_versions_forget. */
bool hearth_versions_is_counted(LLVMBasicBlockRef block);
void hearth_versions_forget(LLVMValueRef function);

#ifdef __cplusplus
}
#endif
#endif
