/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's indexed profile (.profdata, .memprofdata) as far as Hearth reads and writes it, and Hearth's own trailer
 * behind one. Facts: docs/formats/llvm.md. Everything is little-endian; offsets are from the start of the file. */
#ifndef HEARTH_LLVM_CONTAINER_H
#define HEARTH_LLVM_CONTAINER_H

#include "hearth/layout.h"

#define HEARTH_LLVM_INDEXED_MAGIC   UINT64_C(0x8169666f72706cff) /* bytes ff 6c 70 72 6f 66 69 81 */
#define HEARTH_LLVM_VERSION_MASK    UINT64_C(0xffffffff)         /* the rest of the version field are flags: */
#define HEARTH_LLVM_FLAG_MEMPROF    (UINT64_C(1) << 62)          /* has a MemProf section */
#define HEARTH_LLVM_FIRST_WITH_HEAP 8u                           /* container version that has memprof_offset */
#define HEARTH_LLVM_LAST_CONTAINER  13u

typedef struct hearth_llvm_header {
  uint64_t magic, version, unused, hash_type;
  uint64_t functions_offset; /* control block of the hash table of functions */
  /* Since container version 8; 0 without the flag. Version 7 and older end here. */
  uint64_t memprof_offset;
  uint64_t binary_ids_offset; /* since 9 */
  uint64_t traces_offset;     /* since 10 */
  uint64_t vtables_offset;    /* since 12 */
} hearth_llvm_header;

/* Control block of a hash table on disk; a u64 offset for each bucket follows, 0 where it is empty. */
typedef struct hearth_llvm_table {
  uint64_t buckets, entries;
} hearth_llvm_table;

typedef struct __attribute__((packed)) hearth_llvm_frame {
  uint64_t function;    /* GUID */
  uint32_t line_offset; /* from the function's first line, modulo 2^32 */
  uint32_t column;
  uint8_t inlined;
} hearth_llvm_frame;

/* The last bytes of a file that has an indexed Hearth profile behind its own end, for readers of that profile. */
#define HEARTH_TRAILER_MAGIC UINT64_C(0x8158544852484581) /* bytes 81 45 48 52 48 54 58 81 */

typedef struct hearth_trailer {
  uint64_t offset,
      size;          /* of the profile; the offset is a multiple of 8, the trailer stands right behind the profile */
  uint64_t checksum; /* XXH3-64 of the two fields before */
  uint64_t magic;
} hearth_trailer;

HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_header) == 72);
HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_frame) == 17);
HEARTH_CHECK_LAYOUT(sizeof(hearth_trailer) == 32);

#endif
