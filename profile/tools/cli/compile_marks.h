/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which builds the objects of a link are of (hearth/compile_mark.h). */
#ifndef HEARTH_COMPILE_MARKS_H
#define HEARTH_COMPILE_MARKS_H

/* Warn, once, if objects among the link's arguments are of another build than the link. `mode` as in HEARTH, or "off"; `flags`
 * are those for clang. Looked at: objects, modules of bitcode and archives that are named by path; archives that -l finds in the
 * folders of -L, but for what has no mark there. */
void hearth_compile_marks_check(char *const *arguments, const char *mode, char *const *flags);

#endif
