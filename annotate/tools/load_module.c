/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Errors of the commands, and modules loaded from files: without LLVM's verifier, with its diagnostics as one line. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Support.h>

#include "hearth/ir_facts.h"
#include "ir_commands.h"

int hearth_ir_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout); /* so that the two streams come out in order where they end in one place */
  fputs("hearth: error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return HEARTH_IR_ERROR;
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *data) { (void)info, (void)data; }

/* NULL with a message that LLVMDisposeMessage frees. */
static LLVMModuleRef parse(const char *path, LLVMContextRef context, char **ret_message) {
  LLVMMemoryBufferRef buffer;
  *ret_message = NULL;
  LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, NULL); /* the error comes back as message */
  LLVMBool failed = strcmp(path, "-") == 0 ? LLVMCreateMemoryBufferWithSTDIN(&buffer, ret_message)
                                           : LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, ret_message);
  return failed ? NULL : hearth_ir_parse(context, buffer, ret_message);
}

/* LLVM quotes the line that it cannot read, which of other files is bytes. */
static void cut_at_bytes(char *message) {
  for (const unsigned char *c = (const unsigned char *)message; *c; c++)
    if (!isprint(*c) && !isspace(*c)) {
      message[strcspn(message, "\n")] = '\0';
      return;
    }
}

LLVMModuleRef hearth_ir_load(const char *path, LLVMContextRef *ret_context) {
  char *message, *again;
  *ret_context = LLVMContextCreate();
  LLVMModuleRef module = parse(path, *ret_context, &message);
  if (!module && hearth_ir_llvm_major() < 15 && strcmp(path, "-") != 0) {
    /* LLVM 14 reads opaque pointers only when told before the context is made. */
    static const char *const option[] = {"hearth-ir", "-opaque-pointers"};
    static bool told;
    if (!told)
      LLVMParseCommandLineOptions(2, option, NULL);
    told = true;
    LLVMContextDispose(*ret_context);
    *ret_context = LLVMContextCreate();
    module = parse(path, *ret_context, &again);
    LLVMDisposeMessage(again);
  }
  if (!module) {
    if (message)
      cut_at_bytes(message);
    hearth_ir_error("%s: cannot be loaded by LLVM %u: %s", path, hearth_ir_llvm_major(), message ? message : "");
    LLVMContextDispose(*ret_context);
  }
  LLVMDisposeMessage(message);
  return module;
}
