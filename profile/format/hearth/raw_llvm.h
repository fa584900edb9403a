/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Raw profile, LLVM's layout version 5 (LLVM 22), as far as Hearth writes and reads it. Facts: docs/formats/raw.md.
 * All offsets are from the start of a dump; everything is little-endian; sections are 8-byte aligned. */
#ifndef HEARTH_RAW_LLVM_H
#define HEARTH_RAW_LLVM_H

#include "hearth/layout.h"

#define HEARTH_LLVM_RAW_MAGIC   UINT64_C(0xff6d70726f667281)
#define HEARTH_LLVM_RAW_VERSION 5u

typedef struct hearth_llvm_raw_header {
  uint64_t magic, version, total_size, segment_offset, mib_offset, stack_offset;
} hearth_llvm_raw_header;

typedef struct hearth_llvm_raw_segment { /* section: u64 count, then these */
  uint64_t start, end, offset /* load address of the module */, build_id_size;
  uint8_t build_id[32];
} hearth_llvm_raw_segment;

/* Section: u64 count, then for each: u64 stack id, this record, histogram_size u16 counters. Times in ms since start. */
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

/* A counter of 16 bits: the lower 12, times 2 to the power of the others. */
static inline uint64_t hearth_llvm_raw_counter(uint16_t stored) { return (uint64_t)(stored & 0xfff) << (stored >> 12); }

HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_header) == 48);
HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_segment) == 64);
HEARTH_CHECK_LAYOUT(sizeof(hearth_llvm_raw_mib) == 144);

#endif
