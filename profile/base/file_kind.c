/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tells kinds of files by their first bytes: the magic numbers of the formats, the first words of texts. */
#include "file_kind.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "hearth/indexed.h"
#include "hearth/llvm_container.h"
#include "hearth/raw.h"
#include "hearth/raw_llvm.h"
#include "hearth/trace_blocks.h"

#define RAW_PROFILE "a raw profile: use 'hearth index'"

static bool begins_with(const void *data, size_t size, const char *text) {
  return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

bool hearth_is_text_profile(const void *data, size_t size) {
  size_t length = strlen(HEARTH_TEXT_FIRST_WORD);
  return size > length && memcmp(data, HEARTH_TEXT_FIRST_WORD, length) == 0 &&
         strchr(" \t", ((const char *)data)[length]);
}

bool hearth_llvm_is_container(const void *data, size_t size) {
  uint64_t magic = 0;
  if (size >= sizeof magic)
    memcpy(&magic, data, sizeof magic);
  return magic == HEARTH_LLVM_INDEXED_MAGIC;
}

static const char *kind_of_raw(const void *data, size_t size) {
  hearth_raw_header header;
  if (size < sizeof header)
    return RAW_PROFILE;
  memcpy(&header, data, sizeof header);
  return header.flags & HEARTH_RAW_OCCASION_MASK ? "a heap dump: use 'hearth heap'" : RAW_PROFILE;
}

/* As llvm-profdata prints it. What begins otherwise it does not read either. */
static bool is_llvm_yaml(const void *data, size_t size) {
  return begins_with(data, size, "---\n# MemProfSummary:") || begins_with(data, size, "---\nHeapProfileRecords:") ||
         begins_with(data, size, "---\nDataAccessProfiles:");
}

static const char *kind_of_text(const void *data, size_t size) {
  if (hearth_is_text_profile(data, size))
    return "the text form of a profile: use 'hearth index'";
  if (begins_with(data, size, "hearth-trace-text "))
    return "the text of a trace: use the trace itself";
  if (is_llvm_yaml(data, size))
    return "LLVM's YAML: make an indexed profile of it with 'llvm-profdata merge --memprof-full-schema'";
  if (begins_with(data, size, "\177ELF"))
    return "a program or library: 'hearth index' takes it with --binary";
  return NULL;
}

const char *hearth_file_kind(const void *data, size_t size) {
  const uint64_t magic_llvm_counters = UINT64_C(0xff6c70726f667281); /* LLVM's InstrProf, raw */
  uint64_t magic = 0;
  if (size >= sizeof magic)
    memcpy(&magic, data, sizeof magic);
  if (magic == HEARTH_INDEXED_MAGIC)
    return "an indexed profile: use 'hearth show' or 'hearth report'";
  if (magic == HEARTH_RAW_MAGIC)
    return kind_of_raw(data, size);
  if (magic == HEARTH_RAW_SNAPSHOTS_MAGIC)
    return RAW_PROFILE;
  if (magic == HEARTH_TRACE_MAGIC)
    return "a trace: use 'hearth trace', 'hearth report' or 'hearth index'";
  if (magic == HEARTH_LLVM_RAW_MAGIC)
    return "a raw profile of LLVM's MemProf: use 'hearth index'";
  if (magic == magic_llvm_counters)
    return "a raw profile of -fprofile-generate, not of the heap";
  if (hearth_llvm_is_container(data, size))
    return "an indexed profile of LLVM: use 'hearth merge'";
  return kind_of_text(data, size);
}
