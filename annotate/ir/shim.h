/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C face of shim.cpp and unwind_edges.cpp: the functions of LLVM that the passes need and only C++ offers, in
 * llvm-c's words. */
#ifndef HEARTH_SHIM_H
#define HEARTH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on warnings are errors, or not: -memprof-strict. */
void hearth_shim_make_strict(bool strict);

/* A warning through the compiler's own diagnostics, "FILE: MESSAGE"; the compile goes on. Where strict, it is an error.
 * Strings are borrowed. */
void hearth_shim_warn(LLVMModuleRef module, const char *file, const char *message);
/* The same, but an error always. */
void hearth_shim_refuse(LLVMModuleRef module, const char *file, const char *message);

/* An error through the compiler's own diagnostics; clang fails at its end, opt at once. */
void hearth_shim_error(LLVMModuleRef module, const char *message);

/* Whether anybody will see remarks about it; they need not be composed otherwise. */
bool hearth_shim_wants_remarks(LLVMValueRef instruction);

/* An optimisation remark about an instruction (-Rpass=hearth, -Rpass-missed=hearth, -fsave-optimization-record). */
void hearth_shim_remark(LLVMValueRef instruction, bool missed, const char *name, const char *message);

/* Tell passes that nobody reads remarks, so that they compose none, if a pattern of them asks for those of that name. */
void hearth_shim_end_remarks(LLVMModuleRef module, const char *name);

/* Give calls of one line different discriminators. True if the module changed. */
bool hearth_shim_add_discriminators(LLVMModuleRef module);

/* To be called before the block of an instruction is split there, or behind it: what only the function's first block
 * may have (variables of fixed size, llvm.localescape) goes in front of the instruction. */
void hearth_shim_before_split(LLVMValueRef instruction);

/* Put a direct call of `callee`, of the called type, before a call through a pointer: made if the pointer is that
 * function's address, as is expected, and in its place then. Returns the direct call. */
LLVMValueRef hearth_shim_promote_call(LLVMValueRef call, LLVMValueRef callee);

/* Give a declaration the attributes that LLVM knows of the library function of this name and type. */
void hearth_shim_infer_attributes(LLVMValueRef function);

/* Set up a function that only the compiler knows of: with the module's unwind tables, and not inlined,
 * which would take the attributes of an allocation from its callers' calls. */
void hearth_shim_make_support_function(LLVMValueRef function);

/* Put the callee's code in place of a call, if LLVM can. */
void hearth_shim_inline(LLVMValueRef call);

/* By LLVM's estimates: does control mostly come to the instruction, in a call of its function, or a round of its
 * innermost loop? */
bool hearth_shim_is_usual(LLVMValueRef instruction);

/* A branch whose condition is nearly always true. */
void hearth_shim_expect_true(LLVMValueRef branch);

/* Is there a runtime of ours where the module's code runs: Linux with glibc, on x86-64 or AArch64? A module that
 * names no target is for this machine. If not, one remark says so. */
bool hearth_shim_has_runtime(LLVMModuleRef module);

/* The program or its compiler chose the section that the global lies in. */
bool hearth_shim_has_own_section(LLVMValueRef global);

/* If the definition is final and the compiler may: let the global begin at a multiple of so many bytes. */
void hearth_shim_raise_alignment(LLVMValueRef global, unsigned alignment);

/* Put a global of that section into one of its own that begins with its name and `prefix`. False: it stays, as it is
 * merged with equal ones, or has a prefix. */
bool hearth_shim_set_section_prefix(LLVMValueRef global, const char *section, const char *prefix);

/* May the call write through the pointer that is this argument? As far as attributes say. */
bool hearth_shim_may_write_through(LLVMValueRef call, unsigned argument);

/* Keep a global that nothing refers to. */
void hearth_shim_keep(LLVMValueRef global);

/* Make a function's code differ from all others', so that no linker makes two of them one: 16 bytes before its
 * entry. One that has prefix data has its own already. */
void hearth_shim_forbid_folding(LLVMValueRef function);

/* ------------------------------------------------ flow ------------------------------------------------ */

/* What LLVM's analyses say of instructions and pointers. */

/* Says whether this instruction may free or make a heap block, or write the profile, or whether that may happen instead
 * of the next instruction: a call that may free, throw, or never return, or an atomic operation, as another thread may
 * wait for it to do so. Accesses are counted together only where none is in between. */
bool hearth_flow_interrupts(LLVMValueRef instruction);

/* The pointer without constant offsets, and their sum in bytes. */
LLVMValueRef hearth_flow_pointer_base(LLVMValueRef pointer, int64_t *ret_offset);

/* The pointer without offsets, the variable ones included, and the sum of the constant offsets in bytes. All that
 * the program accesses through either is in one block, as arithmetic cannot lead a pointer to another one. */
LLVMValueRef hearth_flow_pointer_object(LLVMValueRef pointer, int64_t *ret_offset);

/* ------------------------------------------------ around calls ------------------------------------------------ */

/* Where control goes around a call: ways past it, and those that it returns and unwinds to. Only C++ can change them. */

/* Have `emit` insert code at each place where control continues behind a call or invoke that returns or unwinds. A
 * call through which an exception could leave the function becomes an invoke, whose landing pad goes on unwinding;
 * *pad is that block, one for all calls of a function, NULL before the first. In functions whose exceptions are
 * tokens or go through funclets there is none, and no code where such calls unwind. Not for musttail calls. */
void hearth_after_call(LLVMValueRef call, LLVMBasicBlockRef *pad, void (*emit)(LLVMBuilderRef builder, void *data),
                       void *data);

/* May the code generator make the call a jump, for which the caller's frame goes? It may where the call comes last,
 * and what it returns is handed on. musttail calls are such, too. */
bool hearth_may_jump(LLVMValueRef call);

/* Divide the way to a call that may become a jump: where `condition`, which comes before it, holds, a copy of the
 * call is made that still may; otherwise the call itself, which then is none. False, and nothing done, if other code
 * needs the call's value. */
bool hearth_jump_if(LLVMValueRef call, LLVMValueRef condition);

#ifdef __cplusplus
}
#endif
#endif
