/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A table by name and signature, and string attributes on the functions that the user lists, whose tables are read
 * line by line. The type of the call counts, not that of the declaration, which in old C has no parameters, and in a
 * link may be another module's. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"

/* Allocation functions that are annotated and lowered: a row for each.
 *
 *     name       linkage name
 *     hinted     the function with the same parameters and a last one more: uint8_t hint, 0 coldest to 255 hottest
 *     signature  result and parameters: p pointer, z size_t (64 bits), i int (32 bits), v void,
 *                s {pointer, size_t}. A function of another type is not the library's and is left alone.
 *     size       positions of the parameters whose product is the block's size in bytes; "" if there are none
 *     kind       state of the new block, for LLVM: UNINITIAL, ZEROED, ALIGNED (uninitialised, too), REALLOC, OTHER: none
 *                of these, or not the result
 *     family     the function that frees the block: C free, NEW operator delete, NEW_ARRAY operator delete[]
 *
 * C++ names and their hinted forms are those of tcmalloc's malloc_extension.h; the hinted C names are Hearth's own, as
 * no allocator has any. Only 64-bit forms.
 *
 * A new one also goes into runtime/malloc/malloc_functions.c and hearth/malloc.h, runtime/heap/malloc_entry.c,
 * runtime/process/loader_entry.c, runtime/preload/attached_program.c, profile/show/common/wrappers.def. */
#define ROW(name, hinted, signature, size, kind, family)                                                               \
  {name, hinted, signature, size, HEARTH_ALLOC_##kind, HEARTH_ALLOC_FAMILY_##family}
/* clang-format off */
static const hearth_alloc_function functions[] = {
    ROW("malloc",                               "malloc_hot_cold",                                  "pz",   "0",  UNINITIAL, C),
    ROW("calloc",                               "calloc_hot_cold",                                  "pzz",  "01", ZEROED,    C),
    ROW("realloc",                              "realloc_hot_cold",                                 "ppz",  "1",  REALLOC,   C),
    ROW("reallocarray",                         "reallocarray_hot_cold",                            "ppzz", "12", REALLOC,   C),
    ROW("aligned_alloc",                        "aligned_alloc_hot_cold",                           "pzz",  "1",  ALIGNED,   C),
    ROW("memalign",                             "memalign_hot_cold",                                "pzz",  "1",  ALIGNED,   C),
    ROW("posix_memalign",                       "posix_memalign_hot_cold",                          "ipzz", "",   OTHER,     C),
    ROW("valloc",                               "valloc_hot_cold",                                  "pz",   "0",  ALIGNED,   C),
    ROW("pvalloc",                              "pvalloc_hot_cold",                                 "pz",   "",   OTHER,     C),
    ROW("strdup",                               "strdup_hot_cold",                                  "pp",   "",   OTHER,     C),
    ROW("strndup",                              "strndup_hot_cold",                                 "ppz",  "",   OTHER,     C),
    ROW("__strdup",                             "strdup_hot_cold",                                  "pp",   "",   OTHER,     C),
    ROW("__strndup",                            "strndup_hot_cold",                                 "ppz",  "",   OTHER,     C),
    ROW("_Znwm",                                "_Znwm12__hot_cold_t",                              "pz",   "0",  UNINITIAL, NEW),
    ROW("_ZnwmRKSt9nothrow_t",                  "_ZnwmRKSt9nothrow_t12__hot_cold_t",                "pzp",  "0",  UNINITIAL, NEW),
    ROW("_ZnwmSt11align_val_t",                 "_ZnwmSt11align_val_t12__hot_cold_t",               "pzz",  "0",  ALIGNED,   NEW),
    ROW("_ZnwmSt11align_val_tRKSt9nothrow_t",   "_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t", "pzzp", "0",  ALIGNED,   NEW),
    ROW("_Znam",                                "_Znam12__hot_cold_t",                              "pz",   "0",  UNINITIAL, NEW_ARRAY),
    ROW("_ZnamRKSt9nothrow_t",                  "_ZnamRKSt9nothrow_t12__hot_cold_t",                "pzp",  "0",  UNINITIAL, NEW_ARRAY),
    ROW("_ZnamSt11align_val_t",                 "_ZnamSt11align_val_t12__hot_cold_t",               "pzz",  "0",  ALIGNED,   NEW_ARRAY),
    ROW("_ZnamSt11align_val_tRKSt9nothrow_t",   "_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t", "pzzp", "0",  ALIGNED,   NEW_ARRAY),
    ROW("__size_returning_new",                 "__size_returning_new_hot_cold",                    "sz",   "",   OTHER,     NEW),
    ROW("__size_returning_new_aligned",         "__size_returning_new_aligned_hot_cold",            "szz",  "",   OTHER,     NEW),
};
/* clang-format on */

static const hearth_alloc_function listed = {.kind = HEARTH_ALLOC_OTHER, .family = HEARTH_ALLOC_FAMILY_LISTED};

#define HINTED "hearth-hinted"

static bool type_is(LLVMTypeRef type, char letter) {
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  switch (letter) {
  case 'p':
    return kind == LLVMPointerTypeKind;
  case 'z':
    return kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64;
  case 'i':
    return kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32;
  case 's': {
    LLVMTypeRef members[2];
    if (kind != LLVMStructTypeKind || LLVMCountStructElementTypes(type) != 2)
      return false;
    LLVMGetStructElementTypes(type, members);
    return type_is(members[0], 'p') && type_is(members[1], 'z');
  }
  default:
    return kind == LLVMVoidTypeKind;
  }
}

typedef bool (*fits)(LLVMTypeRef type, char letter);

static bool has_types(LLVMTypeRef type, const char *signature, fits fits) {
  LLVMTypeRef parameters[8];
  unsigned n = LLVMCountParamTypes(type);
  if (n != strlen(signature) - 1 || !type_is(LLVMGetReturnType(type), signature[0]))
    return false;
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++)
    if (!fits(parameters[i], signature[i + 1]))
      return false;
  return true;
}

bool hearth_has_signature(LLVMTypeRef type, const char *signature) {
  return !LLVMIsFunctionVarArg(type) && has_types(type, signature, type_is);
}

/* Is it the parameter's type, or a size that can be extended to it? */
static bool extends_to(LLVMTypeRef type, char letter) {
  bool is_narrow = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 64;
  return type_is(type, letter) || (letter == 'z' && is_narrow);
}

static const hearth_alloc_function *row_named(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return &functions[i];
  return NULL;
}

bool hearth_alloc_is_known(const char *name) { return row_named(name, strlen(name)) != NULL; }

const char *hearth_alloc_hinted_form(LLVMValueRef function, size_t *ret_length) {
  unsigned length = 0;
  LLVMAttributeRef attribute =
      LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, HINTED, strlen(HINTED));
  const char *hinted = attribute ? LLVMGetStringAttributeValue(attribute, &length) : NULL;
  *ret_length = length;
  return length && length <= HEARTH_ALLOC_NAME_MAX + strlen("_hot_cold") ? hinted : NULL;
}

void hearth_alloc_set_hinted_form(LLVMValueRef function, const char *hinted) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context, HINTED, (unsigned)strlen(HINTED), hinted, (unsigned)strlen(hinted)));
}

void hearth_alloc_forget_hinted_form(LLVMValueRef function) {
  LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, HINTED, strlen(HINTED));
}

static bool is_passed_in_memory(LLVMValueRef function, unsigned parameter) {
  static const char *const attributes[] = {"byval", "sret", "inalloca", "preallocated", "byref"};
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    if (LLVMGetEnumAttributeAtIndex(function, parameter + 1,
                                    LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]))))
      return true;
  return false;
}

bool hearth_can_take_hint(LLVMValueRef function) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  unsigned n = LLVMCountParamTypes(type);
  for (unsigned i = 0; i < n && i < HEARTH_HINTED_PARAMETERS_MAX; i++)
    if (is_passed_in_memory(function, i))
      return false;
  return n <= HEARTH_HINTED_PARAMETERS_MAX && !LLVMIsFunctionVarArg(type);
}

static const hearth_alloc_function *alloc_function_row_of(LLVMValueRef call, LLVMValueRef callee) {
  size_t length;
  LLVMTypeRef type = LLVMGetCalledFunctionType(call);
  bool as_declared = LLVMGlobalGetValueType(callee) == type;
  if (hearth_alloc_hinted_form(callee, &length))
    return as_declared && hearth_can_take_hint(callee) ? &listed : NULL;
  const char *name = LLVMGetValueName2(callee, &length);
  const hearth_alloc_function *row = row_named(name, length);
  return row && has_types(type, row->signature, extends_to) ? row : NULL;
}

LLVMValueRef hearth_alloc_callee(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  while (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
    callee = LLVMGetOperand(callee, 0);
  return LLVMIsAFunction(callee);
}

LLVMTypeRef hearth_alloc_type(LLVMValueRef call, const hearth_alloc_function *row) {
  LLVMTypeRef type = LLVMGetCalledFunctionType(call), parameters[HEARTH_HINTED_PARAMETERS_MAX];
  unsigned n = LLVMCountParamTypes(type);
  if (row->family == HEARTH_ALLOC_FAMILY_LISTED)
    return type;
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < n; i++)
    if (row->signature[i + 1] == 'z')
      parameters[i] = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
  return LLVMFunctionType(LLVMGetReturnType(type), parameters, n, false);
}

bool hearth_is_dispatch(LLVMValueRef function) {
  size_t length, prefix = strlen(HEARTH_OWN_PREFIX);
  const char *name = LLVMGetValueName2(function, &length);
  return length > prefix && strncmp(name, HEARTH_OWN_PREFIX, prefix) == 0;
}

const hearth_alloc_function *hearth_alloc_function_of(LLVMValueRef instruction) {
  if (!hearth_ir_is_call(instruction))
    return NULL;
  LLVMValueRef callee = hearth_alloc_callee(instruction);
  if (!callee || !LLVMIsDeclaration(callee) || LLVMGetIntrinsicID(callee) != 0)
    return NULL;
  const hearth_alloc_function *row = alloc_function_row_of(instruction, callee);
  return row && !hearth_is_dispatch(hearth_ir_function_of(instruction)) ? row : NULL;
}

bool hearth_alloc_is_misdeclared(LLVMValueRef instruction) {
  size_t length;
  LLVMValueRef callee = hearth_ir_is_call(instruction) ? hearth_alloc_callee(instruction) : NULL;
  if (!callee || !LLVMIsDeclaration(callee))
    return false;
  const char *name = LLVMGetValueName2(callee, &length);
  return row_named(name, length) && !alloc_function_row_of(instruction, callee);
}

static void mark_call(LLVMValueRef call, const char *name) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(context, name, (unsigned)strlen(name), "", 0));
}

static bool is_marked(LLVMValueRef call, const char *name) {
  return LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name)) != NULL;
}

#define FREQUENT "hearth-frequent"

void hearth_alloc_note_frequent(LLVMValueRef call, bool is_frequent) {
  if (is_frequent)
    mark_call(call, FREQUENT);
  else
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, FREQUENT, strlen(FREQUENT));
}

bool hearth_alloc_is_frequent(LLVMValueRef call) { return is_marked(call, FREQUENT); }

#define DORMANT "hearth-dormant"

void hearth_alloc_note_dormant(LLVMValueRef call) { mark_call(call, DORMANT); }

bool hearth_alloc_is_dormant(LLVMValueRef call) { return is_marked(call, DORMANT); }

#define FRAME "hearth-coroutine-frame"

/* The size is known only when the coroutine is split. */
static bool allocates_frame(LLVMValueRef call) {
  static const char size[] = "llvm.coro.size.";
  LLVMValueRef bytes = LLVMGetNumArgOperands(call) > 0 ? LLVMIsACallInst(LLVMGetOperand(call, 0)) : NULL;
  LLVMValueRef callee = bytes ? LLVMIsAFunction(LLVMGetCalledValue(bytes)) : NULL;
  size_t length;
  return callee && strncmp(LLVMGetValueName2(callee, &length), size, strlen(size)) == 0;
}

void hearth_alloc_note_frame(LLVMValueRef call) {
  if (allocates_frame(call))
    mark_call(call, FRAME);
}

bool hearth_alloc_is_by_name(LLVMValueRef call) {
  return hearth_ir_call_is_nobuiltin(call) && !allocates_frame(call) && !is_marked(call, FRAME);
}

/* ------------------------------------------------ the user's tables ------------------------------------------------ */

/* Line by line, so that a table may be of any length. */

hearth_status hearth_user_table_read(LLVMModuleRef module, const char *path, const char *what,
                                     hearth_user_table_line *read_line, hearth_error *err) {
  hearth_user_table table = {.module = module, .path = path, .err = err};
  hearth_status status = HEARTH_OK;
  char *line = NULL;
  size_t capacity = 0;
  FILE *file = fopen(path, "r");
  if (!file)
    return hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  for (ssize_t length; status == HEARTH_OK && (length = getline(&line, &capacity, file)) >= 0;) {
    table.line++;
    if (strlen(line) != (size_t)length) {
      status = hearth_error_set(err, HEARTH_E_FORMAT, "%s:%u: a NUL byte: not %s", path, table.line, what);
    } else {
      line[strcspn(line, "#")] = '\0';
      status = read_line(&table, line);
    }
  }
  if (status == HEARTH_OK && ferror(file))
    status = hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  free(line);
  fclose(file);
  return status;
}

/* ------------------------------------------------ alloc table ------------------------------------------------ */

/* Reads the user's table line by line; each name that the module declares is marked with an attribute. */

static hearth_status reject(const hearth_user_table *table, const char *name, const char *why) {
  return hearth_error_set(table->err, HEARTH_E_FORMAT, "%s:%u: '%.100s' %s", table->path, table->line, name, why);
}

static hearth_status check_name(const hearth_user_table *table, const char *name) {
  if (strlen(name) > HEARTH_ALLOC_NAME_MAX)
    return reject(table, name, "is too long; names of at most 255 characters can be listed");
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < 0x21 || *c == ',' || *c == '(' || *c == '=')
      return reject(table, name, "is not the name of a function; write NAME, or NAME HINTED, as they are linked");
  return HEARTH_OK;
}

static hearth_status user_table_mark(const hearth_user_table *table, const char *name, const char *hinted) {
  LLVMValueRef function = LLVMGetNamedFunction(table->module, name);
  if (!function || !LLVMIsDeclaration(function))
    return HEARTH_OK;
  if (!hearth_can_take_hint(function))
    return reject(
        table, name,
        "cannot be given one more parameter: it has a variable number, more than 8, or structures; remove it");
  size_t length;
  const char *other = hearth_alloc_hinted_form(function, &length);
  if (other && (length != strlen(hinted) || memcmp(other, hinted, length) != 0))
    return reject(table, name, "has another hinted form in a line before; remove one of them");
  hearth_alloc_set_hinted_form(function, hinted);
  return HEARTH_OK;
}

/* Cuts `line` into its names. */
static hearth_status alloc_table_read_line(const hearth_user_table *table, char *line) {
  char by_default[HEARTH_ALLOC_NAME_MAX + sizeof "_hot_cold"], *rest;
  const char *name = strtok_r(line, HEARTH_TABLE_SPACE, &rest),
             *hinted = name ? strtok_r(NULL, HEARTH_TABLE_SPACE, &rest) : NULL;
  const char *more = hinted ? strtok_r(NULL, HEARTH_TABLE_SPACE, &rest) : NULL;
  if (!name)
    return HEARTH_OK;
  if (more)
    return reject(table, more, "is too much in this line; write NAME, or NAME HINTED");
  HEARTH_TRY(check_name(table, name));
  if (hinted)
    HEARTH_TRY(check_name(table, hinted));
  if (hearth_alloc_is_known(name))
    return reject(table, name, "is lowered without being listed; remove it");
  if (hinted && strcmp(name, hinted) == 0)
    return reject(table, name, "cannot be its own hinted form; name the function that takes the hint");
  snprintf(by_default, sizeof by_default, "%s_hot_cold", name);
  return user_table_mark(table, name, hinted ? hinted : by_default);
}

hearth_status hearth_alloc_table_mark(LLVMModuleRef module, const char *path, hearth_error *err) {
  return hearth_user_table_read(module, path, "the table of allocation functions", alloc_table_read_line, err);
}
