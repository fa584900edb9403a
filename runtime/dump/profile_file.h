/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profile's file: its name, and its treatment when it cannot be written as a whole. Callers have the lock of
 * dumps. */
#ifndef HEARTH_RUNTIME_PROFILE_FILE_H
#define HEARTH_RUNTIME_PROFILE_FILE_H

#include "message.h"
#include "snapshot.h"

/* Write a snapshot to the profile's file, which the first one gives its name, and end it; a message names the error.
 * Where there is no room for all, contexts are left out. Returns whether it was written. */
bool hearth_profile_file_write(hearth_snapshot *snapshot);

/* Write a snapshot to the file of that name. Returns 0 or an error number. */
int hearth_profile_file_write_as(const hearth_snapshot *snapshot, const char *file, bool replace);

/* The name of this process's file, before a number is added because there is one: option log_path with its patterns replaced, and
 * with the process id, unless that is one of them or the option says which process goes without. */
void hearth_profile_file_name(hearth_text *name);

/* The same of files beside it, which are replaced and removed: no other process has that name, on any host. */
void hearth_profile_file_name_beside(hearth_text *name);

/* The same name for other processes, with words like "PID" for the parts that differ. */
void hearth_profile_file_name_others(hearth_text *name);

/* Is that a device, as /dev/null, which all processes write to? */
bool hearth_profile_file_is_device(void);

/* A message, once, if the file cannot be made any more. */
void hearth_profile_file_check_place(void);

void hearth_profile_file_make_directories(const char *file);

/* The name of the file that was written last; lives until the next one. */
const char *hearth_profile_file_written(void);

/* A forked child's profile has a name of its own. */
void hearth_profile_file_forget(void);

/* Patterns in names of files, as LLVM_PROFILE_FILE has them: %e program, %p process, %m build, %h host, %u number of the
 * start, %% a percent sign. */

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
