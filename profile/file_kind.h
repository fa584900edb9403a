/* What a file is, for messages about one that is of another kind than was wanted. */
#ifndef HEARTH_FILE_KIND_H
#define HEARTH_FILE_KIND_H

#include <stddef.h>

/* By a file's first bytes: what it is, and which command takes it, as in "a trace: use 'hearth trace'"; NULL: not known. */
const char *hearth_file_kind(const void *data, size_t size);

#endif
