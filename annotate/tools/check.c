/* `hearth check`: the rules of heap-profile metadata, for a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/md.h"
#include "ir_commands.h"

static const char usage[] =
    "Usage: hearth check [--stats] [--limit=N] FILE...\n"
    "Check the heap-profile metadata of modules, textual IR or bitcode ('-': standard input), against the rules\n"
    "(docs/ir-metadata.md), among them those that LLVM's own verifier does not know or crashes on.\n"
    "\n"
    "  --stats    print what each module holds, too\n"
    "  --limit=N  findings that are printed of each module (default 100; 0: all)\n"
    "Exit code: 0 no findings, 1 findings or an error, 2 wrong usage.\n";

typedef struct checking {
  const char *path;
  size_t printed, limit;
} checking;

static void report(const hearth_md_finding *finding, void *data) {
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
  size_t findings = md ? hearth_md_verify(md, report, &c) : 0;
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

static int usage_error(const char *problem, const char *argument) {
  fprintf(stderr, "hearth: error: %s%s\nSee 'hearth check --help'.\n", problem, argument);
  return HEARTH_IR_USAGE;
}

int hearth_ir_check(int argc, char **argv) {
  size_t limit = 100;
  bool with_statistics = false;
  int files = 0, result = HEARTH_IR_OK;
  for (int i = 1; i < argc; i++) {
    char *end = "";
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
      return fputs(usage, stdout) < 0 ? HEARTH_IR_ERROR : HEARTH_IR_OK;
    if (strcmp(argv[i], "--stats") == 0)
      with_statistics = true;
    else if (strncmp(argv[i], "--limit=", 8) == 0 && argv[i][8] >= '0' && argv[i][8] <= '9')
      limit = strtoul(argv[i] + 8, &end, 10);
    else if (argv[i][0] == '-' && argv[i][1])
      return usage_error("unknown option ", argv[i]);
    else
      argv[++files] = argv[i];
    if (*end)
      return usage_error("this is no number: ", argv[i]);
  }
  if (files == 0)
    return usage_error("no file given", "");
  for (int i = 1; i <= files; i++)
    if (check_file(argv[i], limit, with_statistics) != HEARTH_IR_OK)
      result = HEARTH_IR_ERROR;
  if (fflush(stdout) != 0)
    return hearth_ir_error("cannot write to standard output");
  return result;
}
