/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node of named metadata for each changed function, written before the link. Reading sorts the functions of all
 * linked modules by id and keeps the first of equal ones. */
#include "salvage.h"

#include <stdlib.h>

#include "array.h"
#include "hearth/ir_facts.h"

#define MOVED "memprof.moved"

enum { HEAD_OPERANDS = 3, CALL_OPERANDS = 4 };

static LLVMMetadataRef integer(LLVMTypeRef type, uint64_t value) {
  return LLVMValueAsMetadata(LLVMConstInt(type, value, false));
}

static void moved_call_write_function(LLVMModuleRef module, const hearth_moved_calls *moved,
                                      const hearth_moved_function *function, LLVMMetadataRef *operands) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
  size_t n = 0;
  operands[n++] = integer(i64, function->id);
  operands[n++] = integer(i64, function->old_id);
  operands[n++] = integer(i32, function->count);
  for (size_t i = function->first; i < function->first + function->count; i++) {
    const hearth_moved_call *call = &moved->calls[i];
    const uint32_t numbers[CALL_OPERANDS] = {call->line, call->column, call->old_line, call->old_column};
    for (unsigned k = 0; k < CALL_OPERANDS; k++)
      operands[n++] = integer(i32, numbers[k]);
  }
  LLVMAddNamedMetadataOperand(module, MOVED, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, operands, n)));
}

void hearth_moved_calls_write(LLVMModuleRef module, const hearth_moved_calls *moved) {
  LLVMMetadataRef *operands = malloc((moved->n_calls * CALL_OPERANDS + HEAD_OPERANDS) * sizeof(LLVMMetadataRef));
  for (size_t i = 0; operands && i < moved->n_functions; i++)
    moved_call_write_function(module, moved, &moved->functions[i], operands);
  free(operands);
}

/* A number of 32 bits. */
static bool moved_call_read_number(LLVMMetadataRef node, unsigned i, uint32_t *ret) {
  uint64_t value;
  if (hearth_ir_integer(hearth_ir_operand(node, i), &value) != 32)
    return false;
  *ret = (uint32_t)value;
  return true;
}

static bool moved_call_read_call(hearth_moved_calls *moved, LLVMMetadataRef node, unsigned first) {
  if (!hearth_array_grow(&moved->calls, &moved->calls_room, moved->n_calls, sizeof *moved->calls))
    return false;
  hearth_moved_call *call = &moved->calls[moved->n_calls++];
  return moved_call_read_number(node, first, &call->line) && moved_call_read_number(node, first + 1, &call->column) &&
         moved_call_read_number(node, first + 2, &call->old_line) &&
         moved_call_read_number(node, first + 3, &call->old_column);
}

/* Where it fails, calls that no function has may be left. */
static bool moved_call_read_function(hearth_moved_calls *moved, LLVMMetadataRef node) {
  hearth_moved_function function = {.first = moved->n_calls};
  uint32_t calls;
  if (hearth_ir_integer(hearth_ir_operand(node, 0), &function.id) != 64 ||
      hearth_ir_integer(hearth_ir_operand(node, 1), &function.old_id) != 64 || !moved_call_read_number(node, 2, &calls))
    return false;
  for (; function.count < calls; function.count++)
    if (!moved_call_read_call(moved, node, HEAD_OPERANDS + (unsigned)function.count * CALL_OPERANDS))
      return false;
  if (!hearth_array_grow(&moved->functions, &moved->functions_room, moved->n_functions, sizeof *moved->functions))
    return false;
  moved->functions[moved->n_functions++] = function;
  return true;
}

static int moved_call_compare(const void *a, const void *b) {
  const hearth_moved_function *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->first > y->first) - (x->first < y->first);
}

/* A function of a header comes with several modules. */
static void leave_out_copies(hearth_moved_calls *moved) {
  size_t kept = 0;
  if (moved->n_functions)
    qsort(moved->functions, moved->n_functions, sizeof *moved->functions, moved_call_compare);
  for (size_t i = 0; i < moved->n_functions; i++)
    if (kept == 0 || moved->functions[kept - 1].id != moved->functions[i].id)
      moved->functions[kept++] = moved->functions[i];
  moved->n_functions = kept;
}

void hearth_moved_calls_read(LLVMModuleRef module, hearth_moved_calls *moved) {
  LLVMMetadataRef node;
  for (unsigned i = 0; (node = hearth_ir_named_operand(module, MOVED, i)); i++)
    moved_call_read_function(moved, node);
  leave_out_copies(moved);
}

void hearth_moved_calls_free(hearth_moved_calls *moved) {
  free(moved->functions);
  free(moved->calls);
}
