/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* In a link, LLVM replaces allocation calls by others, and drops the attachments that it does not know: malloc and
 * memset by calloc, realloc of nothing by malloc, strndup by strdup. The new call has the old one's debug location, and
 * that alone. So the attachments of calls are noted before the link optimises, and given back at its end, where the
 * profile is not at hand. */
#ifndef HEARTH_REPLACED_CALLS_H
#define HEARTH_REPLACED_CALLS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The attachments of the calls of one module. One for a pipeline, which runs on one thread. */
typedef struct hearth_noted_calls hearth_noted_calls;

/* NULL when out of memory. */
hearth_noted_calls *hearth_noted_calls_create(void);
void hearth_noted_calls_destroy(hearth_noted_calls *noted); /* accepts NULL */

/* Forget all notes, and note the attachments of the module's allocation calls; nothing if the module is not in a
 * link. */
void hearth_noted_calls_note(hearth_noted_calls *noted, LLVMModuleRef module);

/* Give allocation calls without attachments those that were noted of the call at their place, wherever that was inlined
 * to since; then forget the notes. True if the module changed. */
bool hearth_noted_calls_give_back(hearth_noted_calls *noted, LLVMModuleRef module);

#ifdef __cplusplus
}
#endif
#endif
