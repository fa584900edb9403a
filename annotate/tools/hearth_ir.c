/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth-ir check STATISTICS LIMIT FILE...`: the part of `hearth check` that needs LLVM. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Support.h>

#include "hearth/ir_facts.h"
#include "hearth/md.h"
#include "ir_commands.h"

int main(int argc, char **argv) {
  static const char *const options[] = {"hearth-ir", "-disable-auto-upgrade-debug-info"};
  LLVMParseCommandLineOptions(2, options, NULL);
  if (argc > 4 && strcmp(argv[1], "check") == 0)
    return hearth_ir_check(*argv[2] == '1', strtoull(argv[3], NULL, 10), argv + 4);
  fputs("This is a part of hearth: use 'hearth check'.\n", stderr);
  return HEARTH_IR_USAGE;
}

/* ------------------------------------------------ load module ------------------------------------------------ */

/* Errors of the commands, and modules loaded from files: without LLVM's verifier, with its diagnostics as one line. */

int hearth_ir_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout); /* so that the two streams come out in order where they end in one place */
  fputs("hearth: error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return HEARTH_IR_ERROR;
}

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *data) { (void)info, (void)data; }

/* NULL with a message that LLVMDisposeMessage frees. */
static LLVMModuleRef hearth_ir_parse_it(const char *path, LLVMContextRef context, char **ret_message) {
  LLVMMemoryBufferRef buffer;
  *ret_message = NULL;
  LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, NULL); /* the error comes back as message */
  LLVMBool failed = strcmp(path, "-") == 0 ? LLVMCreateMemoryBufferWithSTDIN(&buffer, ret_message)
                                           : LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, ret_message);
  return failed ? NULL : hearth_ir_parse(context, buffer, ret_message);
}

/* LLVM quotes the line that it cannot read, which of other files is bytes. */
static void cut_at_bytes(char *message) {
  for (const unsigned char *c = (const unsigned char *)message; *c; c++)
    if (!isprint(*c) && !isspace(*c)) {
      message[strcspn(message, "\n")] = '\0';
      return;
    }
}

LLVMModuleRef hearth_ir_load(const char *path, LLVMContextRef *ret_context) {
  char *message, *again;
  *ret_context = LLVMContextCreate();
  LLVMModuleRef module = hearth_ir_parse_it(path, *ret_context, &message);
  if (!module && hearth_ir_llvm_major() < 15 && strcmp(path, "-") != 0) {
    /* LLVM 14 reads opaque pointers only when told before the context is made. */
    static const char *const option[] = {"hearth-ir", "-opaque-pointers"};
    static bool told;
    if (!told)
      LLVMParseCommandLineOptions(2, option, NULL);
    told = true;
    LLVMContextDispose(*ret_context);
    *ret_context = LLVMContextCreate();
    module = hearth_ir_parse_it(path, *ret_context, &again);
    LLVMDisposeMessage(again);
  }
  if (!module) {
    if (message)
      cut_at_bytes(message);
    hearth_ir_error("%s: cannot be loaded by LLVM %u: %s", path, hearth_ir_llvm_major(), message ? message : "");
    LLVMContextDispose(*ret_context);
  }
  LLVMDisposeMessage(message);
  return module;
}

/* ------------------------------------------------ check ------------------------------------------------ */

/* `hearth check`: the rules of heap-profile metadata, for a file. */

typedef struct checking {
  const char *path;
  size_t printed, limit;
} checking;

static void hearth_ir_print_finding(const hearth_md_finding *finding, void *data) {
  checking *c = data;
  char message[1024];
  if (c->limit && c->printed == c->limit) /* describing one takes time that grows with the module */
    return;
  c->printed++;
  hearth_md_describe_finding(finding, message, sizeof message);
  printf("%s: %s\n", c->path, message);
}

static void print_statistics(const char *path, const hearth_md_statistics *s) {
  size_t shared = s->stack_ids > s->stack_nodes ? s->stack_ids - s->stack_nodes : 0;
  printf("%s:\n", path);
  printf("  calls with contexts       %10zu  (cold %zu, notcold %zu, hot %zu, ambiguous %zu)\n", s->calls,
         s->hints[HEARTH_CLASS_COLD], s->hints[HEARTH_CLASS_NOTCOLD], s->hints[HEARTH_CLASS_HOT], s->hints[0]);
  printf("  calls with callsite       %10zu\n", s->callsites);
  printf("  contexts                  %10zu  (cold %zu, notcold %zu, hot %zu, unknown %zu)\n", s->contexts,
         s->classes[HEARTH_CLASS_COLD], s->classes[HEARTH_CLASS_NOTCOLD], s->classes[HEARTH_CLASS_HOT], s->classes[0]);
  printf("  contexts in the flat form %10zu\n", s->flat_contexts);
  printf("  stack ids                 %10zu  (longest stack %zu)\n", s->stack_ids, s->deepest);
  if (s->stack_nodes)
    printf("  nodes of chains           %10zu  (%.1f %% of the ids are shared)\n", s->stack_nodes,
           100.0 * (double)shared / (double)s->stack_ids);
  printf("  schemas                   %10zu\n", s->schemas);
  if (s->malformed)
    printf("  lists that are malformed  %10zu\n", s->malformed);
}

static int check_file(const char *path, size_t limit, bool with_statistics) {
  LLVMContextRef context;
  LLVMModuleRef module = hearth_ir_load(path, &context);
  if (!module)
    return HEARTH_IR_ERROR;
  checking c = {path, 0, limit};
  hearth_md_statistics statistics;
  hearth_md *md = hearth_md_create(module);
  size_t findings = md ? hearth_md_verify(md, hearth_ir_print_finding, &c) : 0;
  bool ok = md && (!with_statistics || hearth_md_collect_statistics(md, &statistics));
  if (!ok)
    hearth_ir_error("%s: out of memory", path);
  else if (with_statistics)
    print_statistics(path, &statistics);
  if (findings)
    hearth_ir_error("%s: %zu finding%s%s", path, findings, findings == 1 ? "" : "s",
                    findings > c.printed ? ", not all of them printed (--limit)" : "");
  hearth_md_destroy(md);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return ok && !findings ? HEARTH_IR_OK : HEARTH_IR_ERROR;
}

int hearth_ir_check(bool with_statistics, size_t limit, char **files) {
  int result = HEARTH_IR_OK;
  for (; *files; files++)
    if (check_file(*files, limit, with_statistics) != HEARTH_IR_OK)
      result = HEARTH_IR_ERROR;
  if (fflush(stdout) != 0)
    return hearth_ir_error("cannot write to standard output");
  return result;
}
