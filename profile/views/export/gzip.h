/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A gzip file (RFC 1952), written to a stream as it comes. Equal content gives equal bytes: no name, no time. */
#ifndef HEARTH_GZIP_H
#define HEARTH_GZIP_H

#include <stdio.h>

#include "hearth/status.h"

typedef struct hearth_gzip hearth_gzip;

/* The stream is borrowed; its errors stay in it. */
hearth_status hearth_gzip_create(FILE *stream, hearth_gzip **ret, hearth_error *err);
hearth_status hearth_gzip_write(hearth_gzip *gzip, const void *data, size_t size, hearth_error *err);
/* Write the remaining bytes and the trailer. Nothing may follow but destroy. */
hearth_status hearth_gzip_finish(hearth_gzip *gzip, hearth_error *err);
void hearth_gzip_destroy(hearth_gzip *gzip); /* accepts NULL */

#endif
