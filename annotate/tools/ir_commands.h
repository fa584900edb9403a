/* Commands of `hearth-ir`, which needs LLVM, as `hearth` does not: `hearth check` and `hearth show --metadata-stats` start
 * it. Each gets argv[0] = its own name and returns the exit code: 0 success, 1 findings or an error, 2 wrong usage. */
#ifndef HEARTH_IR_COMMANDS_H
#define HEARTH_IR_COMMANDS_H

#include <llvm-c/Core.h>

enum { HEARTH_IR_OK = 0, HEARTH_IR_ERROR = 1, HEARTH_IR_USAGE = 2 };

int hearth_ir_check(int argc, char **argv);
int hearth_ir_stats(int argc, char **argv);

/* Print "hearth: error: ..." as one line; returns HEARTH_IR_ERROR. */
int hearth_ir_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Load textual IR or bitcode ("-": standard input) without LLVM's verifier, which crashes on some of what is to be
 * checked. NULL after an error that was printed. The caller disposes of module and context. */
LLVMModuleRef hearth_ir_load(const char *path, LLVMContextRef *ret_context);

#endif
