/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Identity of functions and frames: hashes of debug information, so that they are stable across builds, machines and
 * merges (the IR metadata RFC's clarification of 2021-11-01 allows exactly this). Both the symboliser and the compiler
 * plugin come here. */
#ifndef HEARTH_IDS_H
#define HEARTH_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length of `name` without the suffixes that compilers append to copies of a function (.llvm.N, .part.N, .memprof.N,
 * .cold, .isra.N, .constprop.N, .lto_priv.N, .resume, .destroy, .cleanup, .__uniq.N ... stays). Never 0 for a
 * non-empty name. */
size_t hearth_function_name_length(const char *name, size_t length);

/* Kinds of frames whose name is no function's: it is the program's name for a scope that it was in, or for a heap of
 * its own. As its place is unknown (line HEARTH_LINE_UNKNOWN, column 0), such a frame matches nothing in a program. */
#define HEARTH_SCOPE_FILE "(scope)"
#define HEARTH_HEAP_FILE  "(heap)"

/* Is `path` one of these? */
bool hearth_is_name_file(const char *path);

/* hearth_function_name_length of the name that `path` declares: names of scopes and heaps have no suffixes. */
size_t hearth_declared_name_length(const char *name, size_t length, const char *path);

/* XXH3-64 of: linkage name without suffixes, a NUL, base name of the declaring file. `path` may have directories. */
uint64_t hearth_function_id(const char *linkage_name, size_t name_length, const char *path);

/* The id in profiles imported from LLVM (HEARTH_IDS_LLVM): low 64 bits of the MD5 of the name without suffixes. */
uint64_t hearth_llvm_function_id(const char *linkage_name, size_t name_length);

/* What stands for a name in a stripped profile (`hearth strip`): this and the 16 hexadecimal digits of the name's
 * hearth_llvm_function_id. No linkage name is like that. */
#define HEARTH_STRIPPED_NAME '#'

bool hearth_is_stripped_name(const char *name);

/* hearth_llvm_function_id of a profile's function by its name, stripped or not; 0 if it has none. */
uint64_t hearth_llvm_id_of_name(const char *name);
/* Does `known`, the name of a profile's function, mean this name? Suffixes do not count. */
bool hearth_is_name_of(const char *known, const char *name, size_t length);

/* XXH3-64 of the little-endian encoding of function id (u64), line offset (u32), column (u32). Line offset: line minus
 * the function's first line. Column 0 means unknown. */
uint64_t hearth_stack_id(uint64_t function_id, uint32_t line_offset, uint32_t column);

/* XXH3-64 of a type's name; never one of the two values that mean something else: 0 and HEARTH_MIB_MIXED. */
uint64_t hearth_type_id(const char *name, size_t length);

/* The base discriminator in LLVM's encoding: unrolling and vectorising put factors into the higher parts. */
uint32_t hearth_base_discriminator(uint32_t discriminator);

#ifdef __cplusplus
}
#endif
#endif
