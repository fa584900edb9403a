/* The C face of plugin.cpp: what the passes need from LLVM that only C++ offers, in llvm-c's words. */
#ifndef HEARTH_SHIM_H
#define HEARTH_SHIM_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A warning through the compiler's own diagnostics, "FILE: MESSAGE"; the compile goes on. Strings are borrowed. */
void hearth_shim_warn(LLVMModuleRef module, const char *file, const char *message);

/* An error through the compiler's own diagnostics; clang fails at its end, opt at once. */
void hearth_shim_error(LLVMModuleRef module, const char *message);

/* An optimisation remark about an instruction (-Rpass=hearth, -Rpass-missed=hearth, -fsave-optimization-record). */
void hearth_shim_remark(LLVMValueRef instruction, bool missed, const char *name, const char *message);

#ifdef __cplusplus
}
#endif
#endif
