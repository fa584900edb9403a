/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Facts that a module knows about functions that no code outside can call. Kept as string attributes of the IR while
 * the instrumentation runs. */
#ifndef HEARTH_MODULE_FACTS_H
#define HEARTH_MODULE_FACTS_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* On an argument: whatever calls the function gives it a pointer to something whose accesses do not count. */
#define HEARTH_FACT_OUTSIDE "hearth-outside-heap"
/* On a function: nothing in it interrupts (flow.h), nor in its callees. */
#define HEARTH_FACT_QUIET "hearth-quiet"

/* Find all, before the module is changed. */
void hearth_module_facts_note(LLVMModuleRef module);
/* Take the attributes away. */
void hearth_module_facts_forget(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif
#endif
