/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that llvm-c lacks, in the style of llvm-c: plain C over LLVM's C++ API. What differs between LLVM's
 * releases is here and in the plugin's C++ files, nowhere else. Metadata and values that are returned belong to
 * their context, as everywhere in llvm-c; strings are borrowed, not NUL-terminated, and live as long as the metadata
 * they come from. */
#ifndef HEARTH_IR_FACTS_H
#define HEARTH_IR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Major version of the LLVM this library was built against. */
unsigned hearth_ir_llvm_major(void);
/* Does its inliner tell hot from notcold? LLVM 15's and 16's take list and ids off calls whose contexts agree, and
 * say notcold. */
bool hearth_ir_flat_mibs_know_hot(void);
/* May flat MIBs end with pairs of (full stack id, bytes)? LLVM 19 and older take strings there only. */
bool hearth_ir_flat_mibs_have_pairs(void);

/* --- debug information: parents of scopes, linkage names and discriminators are missing in llvm-c --- */

/* The subprogram that a scope lies in (the scope itself if it is one), or NULL. */
LLVMMetadataRef hearth_ir_scope_subprogram(LLVMMetadataRef scope);
/* Linkage name, else name, of a subprogram; length 0 if it has neither. */
const char *hearth_ir_subprogram_name(LLVMMetadataRef subprogram, size_t *ret_length);
/* Name of the file that declares a subprogram, as written in the debug information; length 0 if unknown. */
const char *hearth_ir_subprogram_file(LLVMMetadataRef subprogram, size_t *ret_length);
unsigned hearth_ir_subprogram_line(LLVMMetadataRef subprogram);
/* Location of an instruction, or NULL. (llvm-c has it, but aborts on other values than instructions.) */
LLVMMetadataRef hearth_ir_instruction_location(LLVMValueRef instruction);
/* Base discriminator: factors of unrolling and duplication are stripped. */
unsigned hearth_ir_location_discriminator(LLVMMetadataRef location);

/* --- types: names without "struct" and the like, with namespaces; each function writes one to `buffer`, NUL-terminated, and
 * returns whether there is one that fits --- */

/* The type of the debug information that `metadata` describes, without qualifiers and typedefs. */
bool hearth_ir_debug_type_name(LLVMMetadataRef metadata, char *buffer, size_t size);
/* A named struct type of a module. Template arguments are not in such names. */
bool hearth_ir_struct_name(LLVMTypeRef type, char *buffer, size_t size);
/* The class of a constructor, by its linkage name. */
bool hearth_ir_constructed_class(const char *linkage_name, char *buffer, size_t size);
/* The class that a function is a member of, by its linkage name. */
bool hearth_ir_member_class(const char *linkage_name, char *buffer, size_t size);
/* The type that the pointer of a load or store points to, if the front end says it (clang 20 and newer, optimising). */
bool hearth_ir_accessed_pointee(LLVMValueRef access, char *buffer, size_t size);
/* The type that a typed pointer points to; NULL for opaque ones. */
LLVMTypeRef hearth_ir_pointee(LLVMTypeRef pointer);

/* --- metadata: llvm-c shows nodes as values, takes a node of one constant for that constant, and copies all operands to
 * show one. Any module may hold anything, so each of these accepts any metadata, and NULL. --- */

/* The attachment of this kind, or NULL. */
LLVMMetadataRef hearth_ir_attachment(LLVMValueRef instruction, unsigned kind);
/* Operand `index` of a named metadata node of the module, NULL behind the last. */
LLVMMetadataRef hearth_ir_named_operand(LLVMModuleRef module, const char *name, unsigned index);
bool hearth_ir_is_node(LLVMMetadataRef metadata);
/* 0 if it is no node. */
unsigned hearth_ir_operand_count(LLVMMetadataRef node);
/* NULL if it is no node, has no such operand, or a null one. */
LLVMMetadataRef hearth_ir_operand(LLVMMetadataRef node, unsigned index);
/* Width of the integer constant that the metadata holds, and its value, zero-extended. 0 if it holds none, or one of
 * more than 64 bits. */
unsigned hearth_ir_integer(LLVMMetadataRef metadata, uint64_t *ret);
/* The string that it is, or NULL. */
const char *hearth_ir_string(LLVMMetadataRef metadata, size_t *ret_length);

/* --- instructions and calls --- */

typedef void (*hearth_ir_visit)(LLVMValueRef instruction, void *data);
/* All instructions of all functions; the visitor may replace or remove the one it is given. */
void hearth_ir_for_each_instruction(LLVMModuleRef module, hearth_ir_visit visit, void *data);
/* The function that an instruction is in. */
LLVMValueRef hearth_ir_function_of(LLVMValueRef instruction);
/* call, invoke or callbr */
bool hearth_ir_is_call(LLVMValueRef instruction);
/* One that can be a caller in a stack: of no intrinsic, but for those that resume, destroy or await coroutines,
 * which LLVM makes calls later on. */
bool hearth_ir_is_caller(LLVMValueRef instruction);
bool hearth_ir_call_is_nobuiltin(LLVMValueRef call);
bool hearth_ir_call_is_musttail(LLVMValueRef call);
/* Have the code generator make no jump of a call that is not musttail. */
void hearth_ir_call_forbid_jump(LLVMValueRef call);
/* Have a call or invoke call another function of the same type. */
void hearth_ir_call_set_callee(LLVMValueRef call, LLVMValueRef callee);
/* Replace a call or invoke by one of `callee` with `extra` as one more, last, argument of zero-extended integer type.
 * Arguments that are narrower integers than the callee's are extended: with their sign if the call says so, else with
 * zeros. Everything else is carried over: attributes, calling convention, tail kind, operand bundles, metadata, debug
 * location, name, uses. Returns the new instruction; the old one is gone. */
LLVMValueRef hearth_ir_call_append_argument(LLVMValueRef call, LLVMValueRef callee, LLVMValueRef extra);
/* Declaration of `name` of function type `type` and one more i8 parameter (zeroext), with the attributes of the
 * function `plain` as far as types agree, but without "alloc-variant-zeroed", which names a function that takes no
 * hint. The existing one if there is one of that type; NULL if the name is taken by something else. */
LLVMValueRef hearth_ir_declare_with_hint(LLVMValueRef plain, LLVMTypeRef type, const char *name);

/* --- module --- */

/* Remove all operands of a named metadata node; the node stays. */
void hearth_ir_clear_named_metadata(LLVMModuleRef module, const char *name);
/* Have line tables written of compile units that only track locations (clang's, without -g but with -Rpass:
 * emissionKind NoDebug). The call does not change units for which clang writes more debug information. Returns
 * whether it changed any. */
bool hearth_ir_emit_line_tables(LLVMModuleRef module);
/* Keep a global in the linked program though nothing refers to it. */
void hearth_ir_keep(LLVMModuleRef module, LLVMValueRef global);
/* Add `function` (of type void()) to llvm.global_ctors; of one with a comdat, the linker keeps one entry. */
void hearth_ir_append_constructor(LLVMModuleRef module, LLVMValueRef function, unsigned priority);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
