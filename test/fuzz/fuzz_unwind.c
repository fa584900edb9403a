/* Fuzz target: call frame information, as .eh_frame_hdr with .eh_frame behind it. Nothing outside is read, whatever it
 * says, and rules are such as unwinding can use. */
#include <stdlib.h>
#include <string.h>

#include "cfi.h"

#define BASE      ((uintptr_t)1 << 32)
#define FUNCTIONS 64u
#define ROWS_AT   12u /* of the table in the header, 8 bytes each */

static const uint8_t *bytes;
static size_t byte_count;

static bool copy(uintptr_t address, void *to, size_t size) {
  if (address < BASE || address - BASE > byte_count || size > byte_count - (address - BASE))
    return false;
  memcpy(to, bytes + (address - BASE), size);
  return true;
}

static void look_up(uintptr_t pc) {
  hearth_cfi_rule rule = hearth_cfi_find(BASE, pc, copy);
  if (rule.kind > HEARTH_CFI_ROOT || rule.rbp > 0 || rule.known)
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bytes = data;
  byte_count = size;
  for (size_t at = ROWS_AT; at + 8 <= size && at < ROWS_AT + 8 * FUNCTIONS; at += 8) {
    int32_t start;
    memcpy(&start, data + at, sizeof start);
    for (uintptr_t offset = 0; offset < 256; offset = 3 * offset + 1)
      look_up(BASE + (uintptr_t)(intptr_t)start + offset);
  }
  look_up(UINTPTR_MAX);
  return 0;
}
