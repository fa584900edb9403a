/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attaches contexts to allocation calls, as annotation does: in all encodings, sorted, with common callers. Arguments:
 * contexts, depth of their stacks, contexts a call. */
#include <stdio.h>
#include <stdlib.h>

#include "hearth/md.h"

static LLVMValueRef first_call(LLVMModuleRef module, LLVMContextRef context, size_t calls) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
  LLVMTypeRef malloc_type = LLVMFunctionType(pointer, &i64, 1, 0);
  LLVMValueRef callee = LLVMAddFunction(module, "malloc", malloc_type), size = LLVMConstInt(i64, 8, 0);
  LLVMValueRef function = LLVMAddFunction(module, "f", LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
  while (calls-- > 0)
    LLVMBuildCall2(builder, malloc_type, callee, &size, 1, "");
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  return LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(function));
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  size_t contexts = strtoul(argv[1], NULL, 10), depth = strtoul(argv[2], NULL, 10), batch = strtoul(argv[3], NULL, 10);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("bench", context);
  LLVMValueRef call = first_call(module, context, (contexts + batch - 1) / batch);
  hearth_md *md = hearth_md_create(module);
  hearth_md_mib *mibs = calloc(batch, sizeof *mibs);
  uint64_t *stacks = malloc(batch * depth * sizeof *stacks);
  hearth_mib record = {.AllocCount = 1};
  for (size_t done = 0, n; done < contexts; done += n, call = LLVMGetNextInstruction(call)) {
    uint64_t own_id = done + 1;
    n = contexts - done < batch ? contexts - done : batch;
    for (size_t i = 0; i < n; i++) {
      /* The digits of the number to the base 3 choose the callers: neighbours differ near the leaf. */
      uint64_t number = done + i;
      for (size_t k = 0; k < depth; k++, number /= 3)
        stacks[i * depth + k] = UINT64_C(0x9e3779b97f4a7c15) * (3 * k + number % 3 + 1);
      record.TotalSize = done + i + 1;
      mibs[i] = (hearth_md_mib){.stack = stacks + i * depth, .depth = depth, .hotness = HEARTH_CLASS_COLD + i % 3};
      hearth_md_mib_set_all(&mibs[i], &record);
    }
    hearth_md_attach(md, call, &own_id, 1, mibs, n);
  }
  bool ok = hearth_md_verify(md, NULL, NULL) == 0;
  free(stacks);
  free(mibs);
  hearth_md_destroy(md);
  return !ok; /* module and context are left to the process's end, as clang does */
}
