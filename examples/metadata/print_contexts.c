/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prints the heap-profile contexts of a module: print_contexts FILE, textual IR or bitcode.
 *
 * Shows, in this order: hearth_md_create, hearth_md_get_schema and hearth_md_schema_read (which fields a module has),
 * hearth_md_get_mibs (the contexts of a call), hearth_md_mib_get (a value, if it is recorded). */
#include <inttypes.h>
#include <stdio.h>

#include <llvm-c/IRReader.h>

#include <hearth/md.h>

static const char *const classes[] = {"unknown", "cold", "notcold", "hot"};

static void print_context(const hearth_md_mib *mib, const hearth_md_schema *schema) {
  printf("  %s, called from", classes[mib->hotness]);
  for (size_t i = 0; i < mib->depth; i++)
    printf(" %016" PRIx64, mib->stack[i]);
  printf(mib->depth ? "\n" : " anywhere\n");
  for (size_t i = 0; i < schema->count; i++) {
    uint64_t value;
    if (schema->tags[i] != HEARTH_TAG_Hotness && hearth_md_mib_get(mib, schema->tags[i], &value))
      printf("    %-26s %" PRIu64 "\n", hearth_md_field_name(schema->tags[i]), value);
  }
}

static void print_call(hearth_md *md, LLVMValueRef call, const char *function) {
  hearth_md_mibs contexts;
  hearth_md_schema schema;
  if (!hearth_md_get_mibs(md, call, &contexts))
    return;
  printf("%s: %zu context%s\n", function, contexts.count, contexts.count == 1 ? "" : "s");
  hearth_md_schema_read(contexts.nodes[0], &schema); /* empty for clang's own form, which has no values */
  for (size_t i = 0; i < contexts.count; i++)
    print_context(&contexts.mibs[i], &schema);
  hearth_md_mibs_free(&contexts);
}

int main(int argc, char **argv) {
  LLVMMemoryBufferRef buffer;
  LLVMModuleRef module;
  char *message = NULL;
  if (argc != 2) {
    fprintf(stderr, "usage: print_contexts FILE\n");
    return 2;
  }
  LLVMContextRef context = LLVMContextCreate();
  if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &buffer, &message) ||
      LLVMParseIRInContext(context, buffer, &module, &message)) {
    fprintf(stderr, "%s: %s\n", argv[1], message);
    return 1;
  }
  hearth_md *md = hearth_md_create(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        size_t length;
        if (LLVMGetInstructionOpcode(i) == LLVMCall || LLVMGetInstructionOpcode(i) == LLVMInvoke)
          print_call(md, i, LLVMGetValueName2(f, &length));
      }
  hearth_md_destroy(md);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return 0;
}
