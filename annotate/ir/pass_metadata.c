/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Passes over the metadata of a module: line tables, the mark of its build, mdlib's unification. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "hearth/md.h"
#include "hearth/program_tables.h"
#include "passes.h"
#include "shim.h"

/* The flags ask for remarks of this name, which no pass has: then clang tracks locations. But then, too, all passes
 * compose all that they could remark, a fifteenth of the time from IR to object. */
#define LOCATIONS "hearth-locations"

/* Does an argument of the compiler ask for other remarks, or may one in a file? */
static bool argument_asks(const char *argument) {
  const char *remarks = strstr(argument, "-R"), *own = "-Rpass-analysis=" LOCATIONS;
  return argument[0] == '@' || strncmp(argument, "--config", 8) == 0 || (remarks && strcmp(remarks, own) != 0);
}

/* True, too, if the arguments are not known. */
static bool user_wants_remarks(void) {
  char *argument = NULL;
  size_t room = 0;
  FILE *arguments = getenv("CCC_OVERRIDE_OPTIONS") ? NULL : fopen("/proc/self/cmdline", "re");
  bool wants = !arguments;
  while (!wants && getdelim(&argument, &room, '\0', arguments) > 0)
    wants = argument_asks(argument);
  free(argument);
  if (arguments)
    fclose(arguments);
  return wants;
}

/* Sets the emission kind of compile units that have locations only for the compiler's own use. */
bool hearth_pass_line_tables(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  if (!user_wants_remarks())
    hearth_shim_end_remarks(module, LOCATIONS);
  return hearth_ir_emit_line_tables(module);
}

/* ------------------------------------------------ pass mark ------------------------------------------------ */

/* A mark of the build that a module is of, in the place where compilers sign: the section .comment of the object,
 * which is not loaded, and of all that is linked from it. hearth-cc looks for it at a link. */

static const char place[] = "llvm.ident";

/* Equal nodes are one. */
static bool metadata_has(LLVMModuleRef module, LLVMValueRef node) {
  unsigned count = LLVMGetNamedMetadataNumOperands(module, place);
  LLVMValueRef *nodes = malloc((count + 1) * sizeof *nodes);
  bool found = !nodes; /* out of memory: no mark */
  if (nodes)
    LLVMGetNamedMetadataOperands(module, place, nodes);
  for (unsigned i = 0; i < count && !found; i++)
    found = nodes[i] == node;
  free(nodes);
  return found;
}

bool hearth_pass_mark(LLVMModuleRef module, const hearth_pass_options *options) {
  char mark[64] = HEARTH_MARK_INSTRUMENT;
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (*options->profile)
    snprintf(mark, sizeof mark, HEARTH_MARK_USE, options->profile_id);
  if ((*options->profile && !options->profile_id) || !LLVMGetNamedMetadata(module, place, strlen(place)))
    return false; /* flags by hand; a compiler that is told not to sign */
  LLVMMetadataRef text = LLVMMDStringInContext2(context, mark, strlen(mark));
  LLVMValueRef node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &text, 1));
  if (metadata_has(module, node))
    return false;
  LLVMAddNamedMetadataOperand(module, place, node);
  return true;
}

/* ------------------------------------------------ pass unify ------------------------------------------------ */

/* mdlib's unification; a warning if it would have to guess. */

bool hearth_pass_unify(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  bool changed = false;
  hearth_md *md = hearth_md_create(module);
  size_t unclear = md ? hearth_md_unify(md, &changed) : 0;
  hearth_md_destroy(md);
  if (unclear) {
    char message[160];
    snprintf(message, sizeof message,
             "schemas not unified: %zu schemas or lists of contexts are malformed, or it cannot be told which schema "
             "they follow",
             unclear);
    hearth_shim_warn(module, "hearth-unify", message);
  }
  return changed;
}
