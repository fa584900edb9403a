/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The items of each function are an attribute of its declaration while the instrumentation runs, so that a call
 * costs one look. Sizes that take more than an instruction are found by the runtime: less code in the program. */

#include "instrument.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/ir_facts.h"
#include "module.h"

#define ATTRIBUTE  "hearth-accesses"
#define ITEMS_MOST 127
#define ANY        "*"
#define BLANKS     "\t\n\v\f\r "
#define WIDE_BYTES 4u /* of a wchar_t */

typedef struct library_function {
  const char *name, *signature, *items;
} library_function;

static const library_function functions[] = {
#define HEARTH_LIBRARY(name, signature, items) {name, signature, items},
#include "library_accesses.def"
};

/* --- items --- */

typedef struct library_item {
  char pointer;       /* a digit; r the result; * all pointers */
  bool is_behind;     /* counted behind the call */
  char how;           /* 0: one access */
  char first, second; /* digits, or 0 */
} library_item;

static bool take_item(const char **at, library_item *ret) {
  *at += strspn(*at, BLANKS);
  *ret = (library_item){.pointer = **at};
  if (!**at)
    return false;
  ++*at;
  if (**at == ':' || **at == '=') {
    ret->is_behind = *(*at)++ == '=';
    ret->how = **at ? *(*at)++ : '?';
  }
  if (ret->how && isdigit((unsigned char)**at))
    ret->first = *(*at)++;
  if (ret->first && isdigit((unsigned char)**at))
    ret->second = *(*at)++;
  return true;
}

static bool is_kind(LLVMTypeRef type, LLVMTypeKind kind) { return LLVMGetTypeKind(type) == kind; }

static bool has_parameter(LLVMTypeRef type, char digit, LLVMTypeKind kind) {
  LLVMTypeRef types[32];
  unsigned n = LLVMCountParamTypes(type), i = (unsigned)(digit - '0');
  if (!isdigit((unsigned char)digit) || i >= n || n > 32)
    return false;
  LLVMGetParamTypes(type, types);
  return is_kind(types[i], kind) && (kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(types[i]) <= 64);
}

/* How many digits HOW has, p: the first one is a pointer's; r: it needs a result that is a number, R: a pointer.
 * NULL: no such HOW. */
static const char *needs_of(char how) {
  static const struct {
    char how;
    const char *needs;
  } all[] = {{'n', "1+"},  {'r', "r0+"}, {'l', "r0+"}, {'p', "r0"}, {'s', "0+"}, {'P', "0+"},  {'u', "R0+"},
             {'d', "p1+"}, {'c', "p1+"}, {'b', "p2"},  {'w', "1"},  {'W', "0+"}, {'x', "p1+"}, {'v', "r1"},
             {'m', "r0"},  {'f', "0"},   {'S', "0+"},  {'D', "p1"}, {'C', "p1"}, {'F', "r1"},  {'B', "r1"}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (all[i].how == how)
      return all[i].needs;
  return NULL;
}

static bool fits_how(LLVMTypeRef type, const library_item *item) {
  const char *needs = needs_of(item->how);
  if (!needs)
    return false;
  LLVMTypeRef result = LLVMGetReturnType(type);
  bool is_number = is_kind(result, LLVMIntegerTypeKind) && LLVMGetIntTypeWidth(result) <= 64;
  if ((*needs == 'r' && !(is_number && item->is_behind)) ||
      (*needs == 'R' && !(is_kind(result, LLVMPointerTypeKind) && item->is_behind)))
    return false;
  bool is_pointer_first = *needs == 'p';
  needs += !isdigit((unsigned char)*needs);
  int digits = (item->first != 0) + (item->second != 0), least = *needs - '0';
  if (digits < least || digits > least + (needs[1] == '+'))
    return false;
  return (!item->first ||
          has_parameter(type, item->first, is_pointer_first ? LLVMPointerTypeKind : LLVMIntegerTypeKind)) &&
         (!item->second || has_parameter(type, item->second, LLVMIntegerTypeKind));
}

/* Can all items be counted for a function of this type? */
static bool fits(LLVMTypeRef type, const char *items) {
  library_item item;
  for (const char *at = items; take_item(&at, &item);) {
    if (*at && !strchr(BLANKS, *at))
      return false;
    if (!item.how && item.pointer == '*')
      continue;
    bool is_result = item.pointer == 'r' && item.is_behind && is_kind(LLVMGetReturnType(type), LLVMPointerTypeKind);
    if (!is_result && !has_parameter(type, item.pointer, LLVMPointerTypeKind))
      return false;
    if (item.how && !fits_how(type, &item))
      return false;
  }
  return true;
}

/* --- marks --- */

static void library_forget(LLVMValueRef function) {
  LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, ATTRIBUTE, (unsigned)strlen(ATTRIBUTE));
}

static void mark(LLVMValueRef function, const char *items) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  library_forget(function);
  LLVMAddAttributeAtIndex(
      function, LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(context, ATTRIBUTE, (unsigned)strlen(ATTRIBUTE), items, (unsigned)strlen(items)));
}

/* The items of the function that is called; false: it is not marked. */
static bool items_of(LLVMValueRef call, char ret[ITEMS_MOST + 1]) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  LLVMAttributeRef attribute =
      callee ? LLVMGetStringAttributeAtIndex(callee, LLVMAttributeFunctionIndex, ATTRIBUTE, (unsigned)strlen(ATTRIBUTE))
             : NULL;
  if (!attribute || LLVMGlobalGetValueType(callee) != LLVMGetCalledFunctionType(call))
    return false;
  unsigned length;
  const char *items = LLVMGetStringAttributeValue(attribute, &length);
  memcpy(ret, items, length);
  ret[length] = '\0';
  return true;
}

static bool is_elsewhere(LLVMValueRef function) {
  return !LLVMGetIntrinsicID(function) &&
         (LLVMIsDeclaration(function) || LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage);
}

static bool has_signature(LLVMTypeRef type, const char *signature) {
  char fixed[16];
  LLVMTypeRef types[sizeof fixed];
  size_t length = strlen(signature);
  if (length == 0 || signature[length - 1] != '.')
    return length == 0 || hearth_has_signature(type, signature);
  if (!LLVMIsFunctionVarArg(type) || LLVMCountParamTypes(type) >= sizeof fixed)
    return false;
  snprintf(fixed, sizeof fixed, "%.*s", (int)length - 1, signature);
  LLVMGetParamTypes(type, types);
  return hearth_has_signature(LLVMFunctionType(LLVMGetReturnType(type), types, LLVMCountParamTypes(type), false),
                              fixed);
}

/* Is a wide character the C library's? Other sizes are a choice of the compilation (-fshort-wchar). */
static bool has_wide_characters(LLVMModuleRef module) {
  static const char name[] = "wchar_size";
  LLVMMetadataRef flag = LLVMGetModuleFlag(module, name, sizeof name - 1);
  LLVMValueRef size = flag ? LLVMGetOperand(LLVMMetadataAsValue(LLVMGetModuleContext(module), flag), 0) : NULL;
  return !size || LLVMConstIntGetZExtValue(size) == WIDE_BYTES;
}

static bool is_wide(const char *name) { return strncmp(name, "wc", 2) == 0 || strncmp(name, "wmem", 4) == 0; }

static void mark_row(LLVMValueRef function, const library_function *row) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  if (is_elsewhere(function) && has_signature(type, row->signature) && fits(type, row->items))
    mark(function, row->items);
}

/* Further names of the same function, of those that the C library gives them to: other names are a program's own. */
typedef struct library_form {
  const char *before, *behind;
  const char *names; /* a blank before and behind each; NULL: all */
} library_form;

static const library_form forms[] = {
    {"", "", NULL},
    {"", "64",
     " fopen open openat fseeko pread pwrite preadv pwritev readdir stat lstat fstat fstatat fstatfs getrlimit "
     "setrlimit "},
    {"", "_unlocked", " fputs fgets fread fwrite fgetc getc fputc putc fflush fileno feof ferror "},
    {"__isoc99_", "", " scanf fscanf sscanf "},
    {"__isoc23_", "", " scanf fscanf sscanf strtol strtoul strtoll strtoull strtoimax strtoumax "},
};

static bool has_form(const library_function *row, const library_form *form) {
  char word[256];
  snprintf(word, sizeof word, " %s ", row->name);
  return !form->names || strstr(form->names, word);
}

static void mark_known(LLVMModuleRef module) {
  bool wide = has_wide_characters(module);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    for (size_t k = 0; k < sizeof forms / sizeof forms[0] && (wide || !is_wide(functions[i].name)); k++) {
      char name[256];
      snprintf(name, sizeof name, "%s%s%s", forms[k].before, functions[i].name, forms[k].behind);
      LLVMValueRef function = has_form(&functions[i], &forms[k]) ? LLVMGetNamedFunction(module, name) : NULL;
      if (function)
        mark_row(function, &functions[i]);
    }
}

/* Those of namespace std, also by the names that mangling has for its streams and old strings. A program's own
 * specialisation of a template may be among them; it then counts one access more. */
static void mark_standard(LLVMModuleRef module) {
  static const char *const prefixes[] = {"_ZSt",  "_ZNSt",  "_ZNKSt", "_ZNSo",  "_ZNKSo",
                                         "_ZNSi", "_ZNKSi", "_ZNSs",  "_ZNKSs", NULL};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_elsewhere(f) && hearth_is_named_like(f, prefixes))
      mark(f, ANY);
}

/* --- the user's table --- */

typedef struct library_table {
  LLVMModuleRef module;
  const char *path;
  unsigned line; /* from 1 on */
  hearth_error *err;
} library_table;

static hearth_status mark_listed(const library_table *table, const char *name, LLVMValueRef function,
                                 const char *items) {
  if (!function || !is_elsewhere(function))
    return HEARTH_OK;
  if (!fits(LLVMGlobalGetValueType(function), items))
    return hearth_error_set(
        table->err, HEARTH_E_FORMAT,
        "%s:%u: the function %.100s has no accesses '%.100s'; name parameters that are pointers, and "
        "numbers for their sizes",
        table->path, table->line, name, items);
  mark(function, items);
  return HEARTH_OK;
}

static hearth_status mark_all(const library_table *table, const char *prefix, size_t length, const char *items) {
  for (LLVMValueRef f = LLVMGetFirstFunction(table->module); f; f = LLVMGetNextFunction(f)) {
    size_t name_length;
    const char *name = LLVMGetValueName2(f, &name_length);
    if (name_length >= length && memcmp(name, prefix, length) == 0)
      HEARTH_TRY(mark_listed(table, name, f, items));
  }
  return HEARTH_OK;
}

/* '#' begins a comment. */
static hearth_status library_read_line(const library_table *table, char *line) {
  line[strcspn(line, "#")] = '\0';
  char *end = line + strlen(line), *rest;
  while (end > line && strchr(BLANKS, end[-1]))
    end--;
  *end = '\0';
  const char *name = strtok_r(line, BLANKS, &rest);
  if (!name)
    return HEARTH_OK;
  const char *items = rest ? rest + strspn(rest, BLANKS) : "";
  size_t length = strlen(name);
  if (strlen(items) > ITEMS_MOST)
    return hearth_error_set(table->err, HEARTH_E_FORMAT, "%s:%u: too many accesses; at most %d characters fit",
                            table->path, table->line, ITEMS_MOST);
  if (!*items)
    items = ANY;
  return name[length - 1] == '*' ? mark_all(table, name, length - 1, items)
                                 : mark_listed(table, name, LLVMGetNamedFunction(table->module, name), items);
}

/* Stops at the first error. */
static hearth_status read_access_table(LLVMModuleRef module, const char *path, hearth_error *err) {
  library_table table = {.module = module, .path = path, .err = err};
  hearth_status status = HEARTH_OK;
  char *line = NULL;
  size_t capacity = 0;
  FILE *file = fopen(path, "r");
  if (!file)
    return hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  for (ssize_t length; status == HEARTH_OK && (length = getline(&line, &capacity, file)) >= 0;) {
    table.line++;
    status =
        strlen(line) == (size_t)length
            ? library_read_line(&table, line)
            : hearth_error_set(err, HEARTH_E_FORMAT, "%s:%u: a NUL byte: not the table of accesses", path, table.line);
  }
  if (status == HEARTH_OK && ferror(file))
    status = hearth_error_set(err, HEARTH_E_IO, "%s: %s", path, strerror(errno));
  free(line);
  fclose(file);
  return status;
}

hearth_status hearth_library_mark(LLVMModuleRef module, const char *path, hearth_error *err) {
  mark_standard(module);
  mark_known(module);
  return *path ? read_access_table(module, path, err) : HEARTH_OK;
}

void hearth_library_forget(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    library_forget(f);
}

/* --- calls --- */

bool hearth_library_knows(LLVMValueRef call) {
  char items[ITEMS_MOST + 1];
  return items_of(call, items);
}

bool hearth_library_visit_pointers(LLVMValueRef call, hearth_library_visit *visit, void *closure) {
  char items[ITEMS_MOST + 1];
  library_item item;
  bool has_ranges = false;
  if (!items_of(call, items))
    return false;
  for (const char *at = items; take_item(&at, &item);) {
    has_ranges |= item.how != 0;
    if (item.how)
      continue;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++) {
      LLVMValueRef argument = LLVMGetArgOperand(call, i);
      if (item.pointer == '*' ? is_kind(LLVMTypeOf(argument), LLVMPointerTypeKind)
                              : i == (unsigned)(item.pointer - '0'))
        visit(closure, call, argument);
    }
  }
  return has_ranges;
}

/* Where code behind the call goes; NULL if there is no place of its own. */
static LLVMValueRef place_behind(LLVMValueRef call) {
  if (LLVMIsACallInst(call))
    return hearth_ir_call_is_musttail(call) ? NULL : LLVMGetNextInstruction(call);
  LLVMBasicBlockRef next = LLVMGetNormalDest(call);
  LLVMValueRef first = LLVMGetFirstInstruction(next);
  LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(next));
  return LLVMIsAPHINode(first) || LLVMGetNextUse(use) ? NULL : first; /* reached from elsewhere, too */
}

static LLVMValueRef library_constant(hearth_counters *c, uint64_t value) { return LLVMConstInt(c->i64, value, false); }

static LLVMValueRef as_number(hearth_counters *c, LLVMValueRef value) {
  return LLVMBuildIntCast2(c->builder, value, c->i64, true, "");
}

static LLVMValueRef argument_of(LLVMValueRef call, char digit) {
  return LLVMGetArgOperand(call, (unsigned)(digit - '0'));
}

/* The number that is passed, or the greatest one. */
static LLVMValueRef limit(hearth_counters *c, LLVMValueRef call, char digit) {
  return digit ? as_number(c, argument_of(call, digit)) : library_constant(c, UINT64_MAX);
}

#define ASK(name, ...)                                                                                                 \
  hearth_counters_call(c, name, (LLVMValueRef[]){__VA_ARGS__},                                                         \
                       sizeof((LLVMValueRef[]){__VA_ARGS__}) / sizeof(LLVMValueRef))

/* As many bytes as the result says and `more`; none if it is negative. */
static LLVMValueRef result_bytes(hearth_counters *c, LLVMValueRef call, uint64_t more) {
  LLVMValueRef result = as_number(c, call), zero = library_constant(c, 0);
  LLVMValueRef some = LLVMBuildICmp(c->builder, LLVMIntSGE, result, zero, "");
  LLVMValueRef size = more ? LLVMBuildAdd(c->builder, result, library_constant(c, more), "") : result;
  return LLVMBuildSelect(c->builder, some, size, zero, "");
}

static LLVMValueRef least(hearth_counters *c, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildSelect(c->builder, LLVMBuildICmp(c->builder, LLVMIntULT, a, b, ""), a, b, "");
}

static LLVMValueRef size_of(hearth_counters *c, LLVMValueRef call, const library_item *item) {
  LLVMValueRef first = item->first ? as_number(c, argument_of(call, item->first)) : NULL;
  switch (item->how) {
  case 'n':
    return item->second ? LLVMBuildMul(c->builder, first, as_number(c, argument_of(call, item->second)), "") : first;
  case 'w':
    return LLVMBuildMul(c->builder, first, library_constant(c, WIDE_BYTES), "");
  case 'r':
    return first ? LLVMBuildMul(c->builder, result_bytes(c, call, 0), first, "") : result_bytes(c, call, 0);
  default: /* l */
    return first ? least(c, result_bytes(c, call, 1), first) : result_bytes(c, call, 1);
  }
}

static void count_pointed_to(hearth_counters *c, LLVMValueRef call, LLVMValueRef pointer) {
  LLVMValueRef place = LLVMBuildPointerCast(c->builder, pointer, LLVMPointerType(c->pointer, 0), "");
  hearth_counters_add_range(c, LLVMBuildLoad2(c->builder, c->pointer, place, ""), result_bytes(c, call, 1));
}

/* --- formats --- */

/* The text of a constant string; NULL if it is none. */
static const char *text_of(LLVMValueRef value, size_t *ret_length) {
  while (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr) {
    for (int i = 1; i < LLVMGetNumOperands(value); i++)
      if (!LLVMIsNull(LLVMGetOperand(value, (unsigned)i)))
        return NULL;
    value = LLVMGetOperand(value, 0);
  }
  if (!LLVMIsAGlobalVariable(value) || !LLVMIsGlobalConstant(value))
    return NULL;
  LLVMValueRef content = hearth_is_local(value) ? LLVMGetInitializer(value) : NULL;
  return content && LLVMIsAConstantDataSequential(content) && LLVMIsConstantString(content)
             ? LLVMGetAsString(content, ret_length)
             : NULL;
}

typedef struct format_arguments {
  LLVMValueRef call;
  unsigned next, count;
} format_arguments;

static LLVMValueRef format_take_argument(format_arguments *arguments) {
  return arguments->next < arguments->count ? LLVMGetArgOperand(arguments->call, arguments->next++) : NULL;
}

static const char *format_skip(const char *at, const char *end, const char *letters) {
  while (at < end && *at && strchr(letters, *at))
    at++;
  return at;
}

/* A width or precision: digits, or an argument, which is then *ret. */
static const char *take_size(const char *at, const char *end, format_arguments *arguments, hearth_counters *c,
                             LLVMValueRef *ret) {
  uint64_t number = 0;
  if (at < end && *at == '*') {
    *ret = format_take_argument(arguments);
    return at + 1;
  }
  for (; at < end && isdigit((unsigned char)*at) && number < UINT32_MAX; at++)
    number = number * 10 + (uint64_t)(*at - '0');
  *ret = library_constant(c, number);
  return at;
}

/* Arguments by position ($) end it: they are rare. */
static void count_format(hearth_counters *c, LLVMValueRef call, LLVMValueRef format) {
  size_t length;
  const char *at = text_of(format, &length), *end = at ? at + length : NULL;
  format_arguments arguments = {
      .call = call, .next = LLVMCountParamTypes(LLVMGetCalledFunctionType(call)), .count = LLVMGetNumArgOperands(call)};
  while (at && (at = memchr(at, '%', (size_t)(end - at)))) {
    LLVMValueRef width, most = NULL;
    at = format_skip(at + 1, end, "-+ #0'I");
    at = take_size(at, end, &arguments, c, &width);
    if (at < end && *at == '.')
      at = take_size(at + 1, end, &arguments, c, &most);
    const char *conversion = format_skip(at, end, "hlLqjzt");
    if (conversion >= end || *conversion == '$')
      return;
    LLVMValueRef argument = *conversion == '%' || *conversion == 'm' ? NULL : format_take_argument(&arguments);
    if (*conversion == 's' && conversion == at && argument && is_kind(LLVMTypeOf(argument), LLVMPointerTypeKind) &&
        hearth_may_be_heap(argument))
      ASK("__hearth_count_printed", argument, most ? as_number(c, most) : library_constant(c, UINT64_MAX));
    at = conversion + 1;
  }
}

/* --- ranges --- */

static void count_compared(hearth_counters *c, LLVMValueRef call, const library_item *item, LLVMValueRef pointer) {
  LLVMValueRef other = argument_of(call, item->first);
  uint64_t manner = item->how == 'b' ? 0 : item->how == 'd' ? 1 : item->how == 'c' ? 2 : 3; /* as in the runtime */
  if (hearth_may_be_heap(pointer) || hearth_may_be_heap(other))
    ASK("__hearth_count_compared", pointer, other, limit(c, call, item->second), library_constant(c, manner));
}

/* The content of a std::string may be on the heap wherever the string is. */
static bool count_std_string(hearth_counters *c, LLVMValueRef call, const library_item *item, LLVMValueRef pointer) {
  LLVMBuilderRef b = c->builder;
  switch (item->how) {
  case 'S':
    ASK("__hearth_count_std_string", pointer, limit(c, call, item->first));
    return true;
  case 'D':
  case 'C':
    ASK("__hearth_count_std_compared", pointer, argument_of(call, item->first), library_constant(c, item->how == 'D'));
    return true;
  case 'F':
    ASK("__hearth_count_std_part", pointer, as_number(c, argument_of(call, item->first)), as_number(c, call));
    return true;
  case 'B': /* npos + 1 is the first one */
    ASK("__hearth_count_std_part", pointer, LLVMBuildAdd(b, as_number(c, call), library_constant(c, 1), ""),
        as_number(c, argument_of(call, item->first)));
    return true;
  default:
    return false;
  }
}

static void count_item(hearth_counters *c, LLVMValueRef call, const library_item *item) {
  LLVMValueRef pointer = item->pointer == 'r' ? call : argument_of(call, item->pointer);
  if (count_std_string(c, call, item, pointer))
    return;
  switch (item->how) {
  case 'b':
  case 'c':
  case 'd':
  case 'x':
    count_compared(c, call, item, pointer);
    return;
  case 'f':
    count_format(c, call, pointer);
    return;
  case 'p':
    count_pointed_to(c, call, pointer);
    return;
  case 'v':
    ASK("__hearth_count_vectors", pointer, as_number(c, argument_of(call, item->first)), result_bytes(c, call, 0));
    return;
  case 'm':
    ASK("__hearth_count_message", pointer, result_bytes(c, call, 0));
    return;
  }
  if (!hearth_may_be_heap(pointer))
    return;
  switch (item->how) {
  case 's':
    ASK("__hearth_count_string", pointer, limit(c, call, item->first));
    return;
  case 'P':
    ASK("__hearth_count_printed", pointer, limit(c, call, item->first));
    return;
  case 'W':
    ASK("__hearth_count_wide_string", pointer, limit(c, call, item->first));
    return;
  case 'u':
    ASK("__hearth_count_until", pointer, call, limit(c, call, item->first));
    return;
  default:
    hearth_counters_add_range(c, pointer, size_of(c, call, item));
  }
}

void hearth_library_count(hearth_counters *counters, LLVMValueRef call) {
  char items[ITEMS_MOST + 1];
  library_item item;
  LLVMValueRef behind = place_behind(call);
  if (!items_of(call, items))
    return;
  for (const char *at = items; take_item(&at, &item);) {
    LLVMValueRef place = item.is_behind ? behind : call;
    if (!item.how || !place)
      continue;
    LLVMPositionBuilderBefore(counters->builder, place);
    count_item(counters, call, &item);
  }
}
