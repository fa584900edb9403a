/* Tells an allocator that gives hints to calls in libraries (HEARTH_HOTCOLD=library-calls=FILE) where the word is that decision
 * sites set bits in, as the program starts:
 *
 *   define linkonce_odr hidden void @__hearth_announce.PLAN() comdat {   ; in llvm.global_ctors
 *     if (&hearth_hotcold_contexts) hearth_hotcold_contexts(PLAN, &word);
 *   } */
#ifndef HEARTH_ANNOUNCEMENT_H
#define HEARTH_ANNOUNCEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* Whether the module is changed: it may have the announcement already. */
bool hearth_announce_word(LLVMModuleRef module, uint64_t plan, LLVMValueRef word);

#endif
