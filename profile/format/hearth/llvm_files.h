/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's profiles as far as Hearth reads and writes them: indexed ones (docs/formats/llvm.md) and raw ones
 * (docs/formats/raw.md). Everything is little-endian. */
#ifndef HEARTH_LLVM_FILES_H
#define HEARTH_LLVM_FILES_H

#include "hearth/expect.h"

/* LLVM's indexed profile (.profdata, .memprofdata) as far as Hearth reads and writes it, and Hearth's own trailer
 * behind one. Facts: docs/formats/llvm.md. Everything is little-endian; offsets are from the start of the file. */

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

/* ------------------------------------------------ raw profile ------------------------------------------------ */

/* Raw profile, LLVM's layout version 5 (LLVM 22), as far as Hearth writes and reads it. Facts: docs/formats/raw.md.
 * All offsets are from the start of a dump; everything is little-endian; sections are 8-byte aligned. */

#define HEARTH_LLVM_RAW_MAGIC   UINT64_C(0xff6d70726f667281)
#define HEARTH_LLVM_RAW_VERSION 5u

typedef struct hearth_llvm_raw_header {
  uint64_t magic, version, total_size, segment_offset, mib_offset, stack_offset;
} hearth_llvm_raw_header;

typedef struct hearth_llvm_raw_segment { /* section: u64 count, then these */
  uint64_t start, end, offset /* load address of the module */, build_id_size;
  uint8_t build_id[32];
} hearth_llvm_raw_segment;

/* Section: u64 count, then for each: u64 stack id, this record, histogram_size u16 counters. Times in ms since
 * start. */
typedef struct __attribute__((packed)) hearth_llvm_raw_mib {
  uint32_t alloc_count;
  uint64_t total_access_count, min_access_count, max_access_count;
  uint64_t total_size;
  uint32_t min_size, max_size;
  uint32_t alloc_timestamp, dealloc_timestamp;
  uint64_t total_lifetime;
  uint32_t min_lifetime, max_lifetime;
  uint32_t alloc_cpu, dealloc_cpu;
  uint32_t num_migrated_cpu, num_lifetime_overlaps, num_same_alloc_cpu, num_same_dealloc_cpu;
  uint64_t data_type_id;
  uint64_t total_access_density;
  uint32_t min_access_density, max_access_density;
  uint64_t total_lifetime_access_density;
  uint32_t min_lifetime_access_density, max_lifetime_access_density;
  uint32_t histogram_size;
  uint64_t histogram_pointer; /* meaningless in a file */
} hearth_llvm_raw_mib;

/* Stack section: u64 count, then for each: u64 stack id, u64 n, n addresses (leaf first, inside the call). */

/* A counter of 16 bits: the lower 12, times 2 to the power of the others. A number beyond its range becomes the
 * greatest; lower bits are rounded. */
static inline uint64_t hearth_llvm_raw_counter(uint16_t stored) { return (uint64_t)(stored & 0xfff) << (stored >> 12); }

static inline uint16_t hearth_llvm_raw_put_counter(uint64_t count) {
  unsigned power = 0;

  for (; power < 15 && ((count >> power) + (power && count >> (power - 1) & 1)) > 0xfff; ++power)
    ;
  uint64_t rounded = (count >> power) + (power && count >> (power - 1) & 1);
  return (uint16_t)(power << 12 | (rounded < 0xfff ? rounded : 0xfff));
}

HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_header) == 48);
HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_segment) == 64);
HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_mib) == 144);

#endif
