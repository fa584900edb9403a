/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Metadata of a module as a whole: line tables, the mark of its build, mdlib's unification of schemas, and what it
 * tells a link: options, the plan, and which calls have moved. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ir_facts.h"
#include "hearth/md.h"
#include "hearth/program_tables.h"
#include "module.h"
#include "passes.h"
#include "shim.h"

/* ------------------------------------------------ line tables ------------------------------------------------ */

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

/* ------------------------------------------------ build mark ------------------------------------------------ */

/* A mark of the build that a module is of, in the place where compilers sign: the section .comment of the object,
 * which is not loaded, and of all that is linked from it. hearth-cc looks for it at a link. */

static const char place[] = "llvm.ident";

/* Equal nodes are one. */
static bool has_mark(LLVMModuleRef module, LLVMMetadataRef node) {
  LLVMMetadataRef mark;
  for (unsigned i = 0; (mark = hearth_ir_named_operand(module, place, i)); i++)
    if (mark == node)
      return true;
  return false;
}

bool hearth_pass_mark(LLVMModuleRef module, const hearth_pass_options *options) {
  char mark[64] = HEARTH_MARK_INSTRUMENT;
  LLVMContextRef context = LLVMGetModuleContext(module);
  if (*options->profile)
    snprintf(mark, sizeof mark, HEARTH_MARK_USE, options->profile_id);
  if ((*options->profile && !options->profile_id) || !LLVMGetNamedMetadata(module, place, strlen(place)))
    return false; /* flags by hand; a compiler that is told not to sign */
  LLVMMetadataRef text = LLVMMDStringInContext2(context, mark, strlen(mark));
  LLVMMetadataRef node = LLVMMDNodeInContext2(context, &text, 1);
  if (has_mark(module, node))
    return false;
  LLVMAddNamedMetadataOperand(module, place, LLVMMetadataAsValue(context, node));
  return true;
}

/* ------------------------------------------------ schemas ------------------------------------------------ */

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

/* ------------------------------------------------ options of the link ------------------------------------------------ */

/* Module flags of behaviour 'append unique': the linker lists the values of all modules, and the first one holds. */

#define HINTS       "memprof.hints"
#define PLAN        "memprof.plan"
#define VALUES      6                    /* of HINTS */
#define CLANG_S_LTO "EnableSplitLTOUnit" /* on all modules that clang makes for a link, before they are optimised */

static LLVMMetadataRef integer(LLVMTypeRef type, uint64_t value) {
  return LLVMValueAsMetadata(LLVMConstInt(type, value, false));
}

static LLVMMetadataRef flag(LLVMModuleRef module, const char *name) {
  return LLVMGetModuleFlag(module, name, strlen(name));
}

/* Linking modules puts their values of a flag behind each other; equal ones are one. */
static void add_flag(LLVMModuleRef module, const char *name, LLVMMetadataRef *values, size_t n) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMMetadataRef value = LLVMMDNodeInContext2(context, values, n);
  if (!flag(module, name))
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorAppendUnique, name, strlen(name),
                      LLVMMDNodeInContext2(context, &value, 1));
}

/* LLVM plans clones for the calls that have contexts in the flat form. */
static void fit(LLVMValueRef instruction, void *data) {
  hearth_md *md = data;
  if (!hearth_ir_is_call(instruction))
    return;
  unsigned kind = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), "memprof", strlen("memprof"));
  if (!hearth_md_is_chained_only(md) && hearth_ir_attachment(instruction, kind))
    hearth_md_resolve(md, instruction, HEARTH_CLASS_UNKNOWN);
  hearth_md_fit_summary(md, instruction);
}

void hearth_lto_fit_summary(LLVMModuleRef module) {
  hearth_md *md = hearth_md_create(module);
  if (md)
    hearth_ir_for_each_instruction(module, fit, md);
  hearth_md_destroy(md);
}

static LLVMMetadataRef first_value(LLVMModuleRef module, const char *name) {
  LLVMMetadataRef values = flag(module, name);
  return hearth_ir_operand_count(values) ? hearth_ir_operand(values, 0) : NULL;
}

bool hearth_lto_read_options(LLVMModuleRef module, hearth_pass_options *ret) {
  LLVMMetadataRef node = first_value(module, HINTS);
  uint64_t values[VALUES];
  if (hearth_ir_operand_count(node) != VALUES)
    return false;
  if (hearth_ir_operand_count(flag(module, HINTS)) > 1)
    hearth_shim_warn(
        module, "hearth",
        "modules of the link were compiled with different hints, -memprof-classify or treatment of calls that are no "
        "builtins; those of the first hold for all");
  for (unsigned i = 0; i < VALUES; i++)
    if (hearth_ir_integer(hearth_ir_operand(node, i), &values[i]) != (i < 4 ? 8 : 32))
      return false;
  for (unsigned i = 0; i < 4; i++)
    ret->hints[i] = (uint8_t)values[i];
  ret->nobuiltin = values[4] != 0;
  ret->by_plan = values[5] != 0;
  return true;
}

void hearth_lto_write_options(LLVMModuleRef module, const hearth_pass_options *options) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i8 = LLVMInt8TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
  LLVMMetadataRef values[VALUES];
  for (unsigned i = 0; i < 4; i++)
    values[i] = integer(i8, options->hints[i]);
  values[4] = integer(i32, options->nobuiltin);
  values[5] = integer(i32, options->by_plan);
  add_flag(module, HINTS, values, VALUES);
}

void hearth_lto_write_plan(LLVMModuleRef module, const char *profile, uint64_t plan) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  char *absolute = realpath(profile, NULL);
  const char *path = absolute ? absolute : profile;
  LLVMMetadataRef values[] = {
      LLVMMDStringInContext2(context, path, strlen(path)),
      integer(LLVMInt64TypeInContext(context), plan),
  };
  add_flag(module, PLAN, values, 2);
  free(absolute);
}

/* Borrowed, not NUL-terminated. */
static const char *lto_phase_read_plan(LLVMMetadataRef node, size_t *ret_length, uint64_t *ret_plan) {
  if (hearth_ir_operand_count(node) != 2 || hearth_ir_integer(hearth_ir_operand(node, 1), ret_plan) != 64)
    return NULL;
  return hearth_ir_string(hearth_ir_operand(node, 0), ret_length);
}

/* Profiles of other names may have one plan. */
static void warn_of_other_plan(LLVMModuleRef module, const char *profile, uint64_t plan) {
  LLVMMetadataRef values = flag(module, PLAN);
  char message[512];
  for (unsigned i = 1, n = hearth_ir_operand_count(values); i < n; i++) {
    size_t length;
    uint64_t other_plan;
    const char *other = lto_phase_read_plan(hearth_ir_operand(values, i), &length, &other_plan);
    if (!other || other_plan == plan)
      continue;
    snprintf(
        message, sizeof message,
        "modules of the link were compiled with this profile and with %.*s: contexts are told apart by the plan of the "
        "first alone; compile all with one ('hearth merge' makes one of several)",
        (int)(length < 200 ? length : 200), other);
    hearth_shim_warn(module, profile, message);
    return;
  }
}

bool hearth_lto_read_plan(LLVMModuleRef module, char **ret_profile, uint64_t *ret_plan) {
  size_t length;
  const char *path = lto_phase_read_plan(first_value(module, PLAN), &length, ret_plan);
  if (!path)
    return false;
  *ret_profile = strndup(path, length);
  if (*ret_profile)
    warn_of_other_plan(module, *ret_profile, *ret_plan);
  return true;
}

hearth_lto_phase hearth_lto_phase_of(LLVMModuleRef module) {
  if (flag(module, HINTS))
    return HEARTH_LTO_POSTLINK;
  bool link_takes_plugins = hearth_ir_llvm_major() >= 19; /* else no later step does the rest */
  return link_takes_plugins && flag(module, CLANG_S_LTO) ? HEARTH_LTO_PRELINK : HEARTH_LTO_NONE;
}

/* ------------------------------------------------ moved calls ------------------------------------------------ */

/* A node of named metadata for each changed function, written before the link. Reading sorts the functions of all
 * linked modules by id and keeps the first of equal ones. */

#define MOVED "memprof.moved"

enum { HEAD_OPERANDS = 3, CALL_OPERANDS = 4 };

static void moved_call_write_function(LLVMModuleRef module, const hearth_moved_calls *moved,
                                      const hearth_moved_function *function, LLVMMetadataRef *operands) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
  size_t n = 0;
  operands[n++] = integer(i64, function->id);
  operands[n++] = integer(i64, function->old_id);
  operands[n++] = integer(i32, function->count);
  for (size_t i = function->first; i < function->first + function->count; i++) {
    const hearth_moved_call *call = &moved->calls[i];
    const uint32_t numbers[CALL_OPERANDS] = {call->line, call->column, call->old_line, call->old_column};
    for (unsigned k = 0; k < CALL_OPERANDS; k++)
      operands[n++] = integer(i32, numbers[k]);
  }
  LLVMAddNamedMetadataOperand(module, MOVED, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, operands, n)));
}

void hearth_moved_calls_write(LLVMModuleRef module, const hearth_moved_calls *moved) {
  LLVMMetadataRef *operands = malloc((moved->n_calls * CALL_OPERANDS + HEAD_OPERANDS) * sizeof(LLVMMetadataRef));
  for (size_t i = 0; operands && i < moved->n_functions; i++)
    moved_call_write_function(module, moved, &moved->functions[i], operands);
  free(operands);
}

/* A number of 32 bits. */
static bool moved_call_read_number(LLVMMetadataRef node, unsigned i, uint32_t *ret) {
  uint64_t value;
  if (hearth_ir_integer(hearth_ir_operand(node, i), &value) != 32)
    return false;
  *ret = (uint32_t)value;
  return true;
}

static bool moved_call_read_call(hearth_moved_calls *moved, LLVMMetadataRef node, unsigned first) {
  if (!hearth_array_grow(&moved->calls, &moved->calls_room, moved->n_calls, sizeof *moved->calls))
    return false;
  hearth_moved_call *call = &moved->calls[moved->n_calls++];
  return moved_call_read_number(node, first, &call->line) && moved_call_read_number(node, first + 1, &call->column) &&
         moved_call_read_number(node, first + 2, &call->old_line) &&
         moved_call_read_number(node, first + 3, &call->old_column);
}

/* Where it fails, calls that no function has may be left. */
static bool moved_call_read_function(hearth_moved_calls *moved, LLVMMetadataRef node) {
  hearth_moved_function function = {.first = moved->n_calls};
  uint32_t calls;
  if (hearth_ir_integer(hearth_ir_operand(node, 0), &function.id) != 64 ||
      hearth_ir_integer(hearth_ir_operand(node, 1), &function.old_id) != 64 || !moved_call_read_number(node, 2, &calls))
    return false;
  for (; function.count < calls; function.count++)
    if (!moved_call_read_call(moved, node, HEAD_OPERANDS + (unsigned)function.count * CALL_OPERANDS))
      return false;
  if (!hearth_array_grow(&moved->functions, &moved->functions_room, moved->n_functions, sizeof *moved->functions))
    return false;
  moved->functions[moved->n_functions++] = function;
  return true;
}

static int moved_call_compare(const void *a, const void *b) {
  const hearth_moved_function *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->first > y->first) - (x->first < y->first);
}

/* A function of a header comes with several modules. */
static void leave_out_copies(hearth_moved_calls *moved) {
  size_t kept = 0;
  if (moved->n_functions)
    qsort(moved->functions, moved->n_functions, sizeof *moved->functions, moved_call_compare);
  for (size_t i = 0; i < moved->n_functions; i++)
    if (kept == 0 || moved->functions[kept - 1].id != moved->functions[i].id)
      moved->functions[kept++] = moved->functions[i];
  moved->n_functions = kept;
}

void hearth_moved_calls_read(LLVMModuleRef module, hearth_moved_calls *moved) {
  LLVMMetadataRef node;
  for (unsigned i = 0; (node = hearth_ir_named_operand(module, MOVED, i)); i++)
    moved_call_read_function(moved, node);
  leave_out_copies(moved);
}

void hearth_moved_calls_free(hearth_moved_calls *moved) {
  free(moved->functions);
  free(moved->calls);
}
