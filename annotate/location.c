#include "location.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "hearth/ids.h"
#include "hearth/ir_facts.h"

typedef struct subprogram {
  LLVMMetadataRef key;
  uint64_t id;
  uint32_t line;
} subprogram;

/* Open addressing, power of two, at most half full. */
struct hearth_locator {
  enum hearth_id_scheme scheme;
  subprogram *slots;
  size_t capacity, used;
};

hearth_locator *hearth_locator_create(enum hearth_id_scheme scheme) {
  hearth_locator *locator = calloc(1, sizeof *locator);
  if (locator)
    locator->scheme = scheme;
  if (locator && (locator->slots = calloc(64, sizeof *locator->slots)))
    locator->capacity = 64;
  else
    free(locator), locator = NULL;
  return locator;
}

void hearth_locator_destroy(hearth_locator *locator) {
  if (locator)
    free(locator->slots);
  free(locator);
}

static subprogram *slot_of(subprogram *slots, size_t capacity, LLVMMetadataRef key) {
  size_t i = (size_t)((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (capacity - 1);
  while (slots[i].key && slots[i].key != key)
    i = (i + 1) & (capacity - 1);
  return &slots[i];
}

static bool grow(hearth_locator *locator) {
  size_t capacity = locator->capacity * 2;
  subprogram *slots = calloc(capacity, sizeof *slots);
  if (!slots)
    return false;
  for (size_t i = 0; i < locator->capacity; i++)
    if (locator->slots[i].key)
      *slot_of(slots, capacity, locator->slots[i].key) = locator->slots[i];
  free(locator->slots);
  locator->slots = slots;
  locator->capacity = capacity;
  return true;
}

static subprogram identify(const hearth_locator *locator, LLVMMetadataRef key) {
  size_t name_length, file_length;
  const char *name = hearth_ir_subprogram_name(key, &name_length);
  const char *file = hearth_ir_subprogram_file(key, &file_length);
  char path[4096]; /* the base name is at the end: cut at the front */
  size_t skip = file_length < sizeof path ? 0 : file_length - (sizeof path - 1);
  memcpy(path, file ? file + skip : "", file ? file_length - skip : 0);
  path[file ? file_length - skip : 0] = '\0';
  uint64_t id = locator->scheme == HEARTH_IDS_LLVM ? hearth_llvm_function_id(name ? name : "", name_length)
                                                   : hearth_function_id(name ? name : "", name_length, path);
  return (subprogram){key, id, hearth_ir_subprogram_line(key)};
}

static subprogram lookup(hearth_locator *locator, LLVMMetadataRef key) {
  if (locator->used * 2 >= locator->capacity && !grow(locator))
    return identify(locator, key);
  subprogram *slot = slot_of(locator->slots, locator->capacity, key);
  if (!slot->key) {
    *slot = identify(locator, key);
    locator->used++;
  }
  return *slot;
}

size_t hearth_locate(hearth_locator *locator, LLVMValueRef instruction, hearth_location chain[HEARTH_CHAIN_MAX]) {
  size_t n = 0;
  LLVMMetadataRef location = hearth_ir_instruction_location(instruction);
  for (; location && n < HEARTH_CHAIN_MAX; location = LLVMDILocationGetInlinedAt(location)) {
    LLVMMetadataRef scope = hearth_ir_scope_subprogram(LLVMDILocationGetScope(location));
    if (!scope)
      break;
    subprogram function = lookup(locator, scope);
    uint32_t line = LLVMDILocationGetLine(location);
    hearth_location *frame = &chain[n++];
    frame->function = function.id;
    frame->line = line - function.line;
    frame->column = LLVMDILocationGetColumn(location);
    frame->discriminator = hearth_ir_location_discriminator(location);
    frame->id = line && frame->column ? hearth_stack_id(frame->function, frame->line, frame->column) : 0;
  }
  return n;
}

void hearth_describe_inlining(LLVMValueRef instruction, char *buffer, size_t size) {
  LLVMMetadataRef location = hearth_ir_instruction_location(instruction);
  size_t used = 0;
  buffer[0] = '\0';
  while (location && (location = LLVMDILocationGetInlinedAt(location)) && used < size) {
    LLVMMetadataRef scope = hearth_ir_scope_subprogram(LLVMDILocationGetScope(location));
    if (!scope)
      return;
    size_t name_length, file_length;
    const char *name = hearth_ir_subprogram_name(scope, &name_length);
    const char *file = hearth_ir_subprogram_file(scope, &file_length);
    int n = snprintf(buffer + used, size - used, "%sinto %.*s at %.*s:%u", used ? ", " : " inlined ", (int)name_length,
                     name ? name : "", (int)file_length, file ? file : "", LLVMDILocationGetLine(location));
    used += n > 0 ? (size_t)n : 0;
  }
}
