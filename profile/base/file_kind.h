/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kind of a file, for messages about one that is of another kind than was wanted. */
#ifndef HEARTH_FILE_KIND_H
#define HEARTH_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* The kind of a file by its first bytes, and the command that takes it, as in "a trace: use 'hearth trace'"; NULL: not
 * known. */
const char *hearth_file_kind(const void *data, size_t size);

#define HEARTH_TEXT_FIRST_WORD "hearth-profile-text"

/* Do these bytes begin like a text twin? */
bool hearth_is_text_profile(const void *data, size_t size);

/* Do these bytes begin like a container (of any version)? */
bool hearth_llvm_is_container(const void *data, size_t size);

#endif
