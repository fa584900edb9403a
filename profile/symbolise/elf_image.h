/* An ELF file made in memory of nothing but sections: how debug information that libdw cannot read as it is stored
 * (compressed with zstd, in a package of split units) is handed to it. */
#ifndef HEARTH_SYMBOLISE_ELF_IMAGE_H
#define HEARTH_SYMBOLISE_ELF_IMAGE_H

#include <libelf.h>

#include "symbolise/bytes.h"

typedef struct hearth_image_section {
  const char *name;
  size_t size;
  uint8_t *content; /* set by create: `size` zero bytes in the image, to be filled */
} hearth_image_section;

typedef struct hearth_elf_image {
  uint8_t *data;
  size_t size;
} hearth_elf_image;

/* Lay out an image. The caller frees ret->data, after all that reads it. False: out of memory. */
bool hearth_elf_image_create(hearth_image_section *sections, size_t count, hearth_elf_image *ret);

#endif
