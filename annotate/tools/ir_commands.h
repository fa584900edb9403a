/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Commands of `hearth-ir`, which needs LLVM, as `hearth` does not: `hearth` reads the command line, and starts it for
 *
 *   hearth-ir check STATISTICS LIMIT FILE...    hearth check
 *
 * Each returns the exit code. */
#ifndef HEARTH_IR_COMMANDS_H
#define HEARTH_IR_COMMANDS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

enum { HEARTH_IR_OK = 0, HEARTH_IR_ERROR = 1, HEARTH_IR_USAGE = 2 };

/* Findings in the modules `files` (NULL-terminated), up to `limit` of each (0: all). An error if there are any. */
int hearth_ir_check(bool with_statistics, size_t limit, char **files);

/* Print "hearth: error: ..." as one line; returns HEARTH_IR_ERROR. */
int hearth_ir_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Load textual IR or bitcode ("-": standard input) without LLVM's verifier, which crashes on some of the modules that
 * are to be checked. NULL after an error that was printed. The caller disposes of module and context. */
LLVMModuleRef hearth_ir_load(const char *path, LLVMContextRef *ret_context);

/* parse_module.cpp: takes the buffer. NULL with a message that LLVMDisposeMessage frees. */
#ifdef __cplusplus
extern "C" {
#endif
LLVMModuleRef hearth_ir_parse(LLVMContextRef context, LLVMMemoryBufferRef buffer, char **ret_message);
#ifdef __cplusplus
}
#endif

#endif
