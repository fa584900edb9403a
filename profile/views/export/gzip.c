/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* zlib's deflate with a gzip header, through one buffer. */
#include "gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum {
  WINDOW_BITS = 15 + 16, /* 16: with gzip's header and trailer */
  MEMORY_LEVEL = 8,      /* zlib's default */
  BUFFER_SIZE = 1 << 16
};

struct hearth_gzip {
  z_stream z;
  FILE *stream;
  unsigned char buffer[BUFFER_SIZE];
};

hearth_status hearth_gzip_create(FILE *stream, hearth_gzip **ret, hearth_error *err) {
  hearth_gzip *gzip = calloc(1, sizeof *gzip);
  *ret = NULL;
  if (gzip && deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                           Z_DEFAULT_STRATEGY) == Z_OK) {
    gzip->stream = stream;
    *ret = gzip;
    return HEARTH_OK;
  }
  free(gzip);
  return hearth_error_nomem(err);
}

static hearth_status deflate_all(hearth_gzip *gzip, int flush, hearth_error *err) {
  do {
    gzip->z.next_out = gzip->buffer;
    gzip->z.avail_out = BUFFER_SIZE;
    if (deflate(&gzip->z, flush) == Z_STREAM_ERROR)
      return hearth_error_set(err, HEARTH_E_IO, "zlib refuses to compress");
    fwrite(gzip->buffer, 1, BUFFER_SIZE - gzip->z.avail_out, gzip->stream);
  } while (gzip->z.avail_out == 0);
  return HEARTH_OK;
}

hearth_status hearth_gzip_write(hearth_gzip *gzip, const void *data, size_t size, hearth_error *err) {
  const unsigned char *at = data;
  while (size > 0) {
    size_t part = size < UINT_MAX ? size : UINT_MAX;
    gzip->z.next_in = (unsigned char *)at; /* zlib's type lacks const; it only reads */
    gzip->z.avail_in = (unsigned)part;
    HEARTH_TRY(deflate_all(gzip, Z_NO_FLUSH, err));
    at += part;
    size -= part;
  }
  return HEARTH_OK;
}

hearth_status hearth_gzip_finish(hearth_gzip *gzip, hearth_error *err) {
  gzip->z.avail_in = 0;
  return deflate_all(gzip, Z_FINISH, err);
}

void hearth_gzip_destroy(hearth_gzip *gzip) {
  if (gzip)
    deflateEnd(&gzip->z);
  free(gzip);
}
