/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: call frame information, as .eh_frame_hdr with .eh_frame behind it. Nothing outside is read, whatever it
 * says, and rules are such as unwinding can use. */
#include <stdlib.h>
#include <string.h>

#include "unwind.h"

#define BASE      ((uintptr_t)1 << 32)
#define FUNCTIONS 64u
#define ROWS_AT   12u /* of the table in the header, 8 bytes each */

static const uint8_t *bytes;
static size_t byte_count;
static uintptr_t base; /* where the bytes seem to lie */

static bool copy(uintptr_t address, void *to, size_t size) {
  if (address < base || address - base > byte_count || size > byte_count - (address - base))
    return false;
  memcpy(to, bytes + (address - base), size);
  return true;
}

static void check(const hearth_cfi_tables *tables, uintptr_t pc) {
  hearth_cfi_rule rule = hearth_cfi_find(tables, pc);
  if (rule.kind > HEARTH_CFI_ROOT || rule.rbp > 0 || rule.known)
    abort();
}

/* All copied; and where they lie, but for the last third. */
static void look_up(uintptr_t offset) {
  base = BASE;
  check(&(hearth_cfi_tables){.header = base, .read = copy}, base + offset);
  base = (uintptr_t)bytes;
  check(&(hearth_cfi_tables){base, base, base + byte_count - byte_count / 3, copy}, base + offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes = data;
  byte_count = size;
  for (size_t at = ROWS_AT; at + 8 <= size && at < ROWS_AT + 8 * FUNCTIONS; at += 8) {
    int32_t start;
    memcpy(&start, data + at, sizeof start);
    for (uintptr_t offset = 0; offset < 256; offset = 3 * offset + 1)
      look_up((uintptr_t)(intptr_t)start + offset);
  }
  look_up(UINTPTR_MAX - base);
  return 0;
}
