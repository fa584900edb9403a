/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Patterns in names of files, as LLVM_PROFILE_FILE has them: %e program, %p process, %m build, %h host, %u number of the
 * start, %% a percent sign. */
#ifndef HEARTH_RUNTIME_PATH_PATTERN_H
#define HEARTH_RUNTIME_PATH_PATTERN_H

#include "message.h"

/* The text that replaces each. */
typedef struct hearth_pattern_words {
  char program[208], process[24], build[72], host[72], start[24];
} hearth_pattern_words;

/* Add the pattern with its words in place. Other letters do not change. */
void hearth_pattern_add(hearth_text *text, const char *pattern, const hearth_pattern_words *words);

/* Does it have that letter? */
bool hearth_pattern_has(const char *pattern, char letter);

/* The first "%" with a letter that is none of these, or at the end; NULL: there is none. */
const char *hearth_pattern_find_unknown(const char *pattern);

/* Add a name literally. */
void hearth_pattern_add_literal(hearth_text *text, const char *name);

/* Those of this process. */
hearth_pattern_words hearth_pattern_words_of_process(void);

#endif
