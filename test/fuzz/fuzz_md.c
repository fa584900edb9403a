/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: metadata in textual IR. What LLVM can parse is read, verified and, each on a copy of its own, pruned,
 * unified and concatenated; what mdlib promises of each is checked. mutate_md.c makes the inputs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>

#include "hearth/md.h"
#include "metadata_verifier.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CALLS_MAX 32
#define POOL_MAX  256

/* A module under test: the parsed one, or a copy. */
typedef struct subject {
  LLVMModuleRef module;
  hearth_md *md;
  LLVMValueRef calls[CALLS_MAX];
  size_t count;
} subject;

/* What all trials of an input share. */
typedef struct trial {
  const subject *parsed;
  bool clean;              /* the verifier finds nothing in it */
  uint64_t pool[POOL_MAX]; /* ids that it holds */
  size_t pool_count;
  uint64_t seed;
} trial;

/* -------------------------------------------------- modules -------------------------------------------------- */

static void find_calls(subject *s) {
  for (LLVMValueRef f = LLVMGetFirstFunction(s->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if ((LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) && s->count < CALLS_MAX)
          s->calls[s->count++] = i;
}

static subject open_subject(LLVMModuleRef module) {
  subject s = {.module = module, .md = hearth_md_create(module)};
  find_calls(&s);
  return s;
}

static subject copy(const trial *t) { return open_subject(LLVMCloneModule(t->parsed->module)); }

static void close_subject(subject *s) {
  hearth_md_destroy(s->md);
  LLVMDisposeModule(s->module);
}

static void print_finding(const hearth_md_finding *finding, void *data) {
  char line[512];
  (void)data;
  hearth_md_describe_finding(finding, line, sizeof line);
  fprintf(stderr, "  %s\n", line);
}

static void require(bool holds, const char *promise, const trial *t, const subject *s) {
  if (holds)
    return;
  char *before = LLVMPrintModuleToString(t->parsed->module), *after = LLVMPrintModuleToString(s->module);
  fprintf(stderr, "broken promise: %s\n---- before ----\n%s\n---- after ----\n%s\n", promise, before, after);
  hearth_md_verify(s->md, print_finding, NULL);
  abort();
}

static void require_clean(const char *promise, const trial *t, const subject *s) {
  require(hearth_md_verify(s->md, NULL, NULL) == 0, promise, t, s);
}

/* Takes `before`, the module's text, and asks for the same. */
static void require_text(char *before, const char *promise, const trial *t, const subject *s) {
  char *now = LLVMPrintModuleToString(s->module);
  require(strcmp(before, now) == 0, promise, t, s);
  LLVMDisposeMessage(before);
  LLVMDisposeMessage(now);
}

/* -------------------------------------------------- ids -------------------------------------------------- */

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static void add_to_pool(trial *t, const uint64_t *ids, size_t n) {
  for (size_t i = 0; i < n && t->pool_count < POOL_MAX; i++)
    t->pool[t->pool_count++] = ids[i];
}

/* Mostly ids of the module, as others agree with nothing. Writes up to `n`, returns how many. */
static size_t pick_ids(const trial *t, uint64_t *state, uint64_t *ids, size_t n) {
  n = next_random(state) % (n + 1);
  for (size_t i = 0; i < n; i++) {
    uint64_t r = next_random(state);
    ids[i] = r % 8 && t->pool_count ? t->pool[(r >> 8) % t->pool_count] : r >> 8 & 1;
  }
  return n;
}

/* -------------------------------------------------- reading -------------------------------------------------- */

static void count_finding(const hearth_md_finding *finding, void *data) {
  char line[64];
  hearth_md_describe_finding(finding, line, 1 + strlen(finding->detail) % sizeof line);
  ++*(size_t *)data;
}

static void try_reading(trial *t, const subject *s) {
  size_t reported = 0, contexts = 0, findings = hearth_md_verify(s->md, count_finding, &reported);
  t->clean = findings == 0;
  require(findings == reported, "the verifier reports what it counts", t, s);
  for (size_t i = 0; i < s->count; i++) {
    hearth_md_mibs all;
    uint64_t ids[8];
    size_t n = hearth_md_get_callsite(s->md, s->calls[i], ids, 8);
    add_to_pool(t, ids, n < 8 ? n : 8);
    require(hearth_md_get_mibs(s->md, s->calls[i], &all) == (all.count > 0), "no contexts, or an empty list", t, s);
    contexts += all.count;
    for (size_t k = 0; k < all.count; k++)
      add_to_pool(t, all.mibs[k].stack, all.mibs[k].depth < 8 ? all.mibs[k].depth : 8);
    hearth_md_mibs_free(&all);
  }
}

/* -------------------------------------------------- changing -------------------------------------------------- */

/* By the input's `!callsite`, or (random) by its first id, which stays a call's own, and others. */
static void prune_calls(const trial *t, subject *s, bool random) {
  uint64_t state = t->seed;
  char *text = LLVMPrintModuleToString(s->module);
  bool any = false;
  for (size_t i = 0; i < s->count; i++) {
    uint64_t ids[8];
    size_t n = hearth_md_get_callsite(t->parsed->md, t->parsed->calls[i], ids, 8);
    n = n < 8 ? n : 8;
    if (random)
      n = n ? 1 + pick_ids(t, &state, ids + 1, 4) : pick_ids(t, &state, ids, 4);
    any |= hearth_md_prune(s->md, s->calls[i], ids, n);
  }
  if (any)
    LLVMDisposeMessage(text);
  else
    require_text(text, "pruning leaves calls without contexts alone", t, s);
}

static void try_prune(const trial *t, bool random) {
  subject s = copy(t);
  prune_calls(t, &s, random);
  if (t->clean)
    require_clean("what was correct is so after pruning", t, &s);
  char *once = LLVMPrintModuleToString(s.module);
  prune_calls(t, &s, random);
  require_text(once, "pruning is idempotent", t, &s);
  close_subject(&s);
}

static void try_unify(const trial *t) {
  subject s = copy(t);
  bool changed, again;
  char *text = LLVMPrintModuleToString(s.module);
  size_t unclear = hearth_md_unify(s.md, &changed);
  require(unclear == 0 ? !hearth_md_get_schema(s.md, 1) : !changed, "one schema, or nothing changed", t, &s);
  if (t->clean)
    require(!changed, "one schema is left alone", t, &s);
  if (changed)
    LLVMDisposeMessage(text);
  else
    require_text(text, "unifying says when it changes something", t, &s);
  require(hearth_md_unify(s.md, &again) == unclear && !again, "unifying is idempotent", t, &s);
  close_subject(&s);
}

static void try_concatenate(const trial *t) {
  subject s = copy(t);
  for (size_t i = 0; i + 1 < s.count; i++) {
    char *text = LLVMPrintModuleToString(s.module);
    if (hearth_md_concatenate_callsites(s.md, s.calls[i], s.calls[i + 1]))
      LLVMDisposeMessage(text);
    else
      require_text(text, "what cannot be concatenated is left alone", t, &s);
  }
  if (t->clean)
    require_clean("what was correct is so after concatenating", t, &s);
  close_subject(&s);
}

static bool fit_calls(const trial *t, subject *s) {
  char *text = LLVMPrintModuleToString(s->module);
  bool changed = false;
  for (size_t i = 0; i < s->count; i++)
    changed |= hearth_md_fit_summary(s->md, s->calls[i]);
  if (changed)
    LLVMDisposeMessage(text);
  else
    require_text(text, "fitting says when it changes something", t, s);
  return changed;
}

static void try_fit_summary(const trial *t) {
  subject s = copy(t);
  fit_calls(t, &s);
  if (t->clean)
    require_clean("what was correct fits and is so", t, &s);
  require(!fit_calls(t, &s), "what fits stays as it is", t, &s);
  close_subject(&s);
}

static void try_module(LLVMModuleRef module, uint64_t seed) {
  subject parsed = open_subject(module);
  trial t = {.parsed = &parsed, .seed = seed};
  char *text = LLVMPrintModuleToString(module);
  try_reading(&t, &parsed);
  try_prune(&t, false);
  try_prune(&t, true);
  try_unify(&t);
  try_concatenate(&t);
  try_fit_summary(&t);
  require_text(text, "reading changes nothing, and copies are copies", &t, &parsed);
  close_subject(&parsed);
}

/* -------------------------------------------------- input -------------------------------------------------- */

static void ignore_diagnostic(LLVMDiagnosticInfoRef info, void *data) { (void)info, (void)data; }

/* Where there is debug info, LLVM's loader runs LLVM's verifier, which crashes on some of what ours is to report. */
static void keep_verifier_away(void) {
  static bool done;
  const char *const arguments[] = {"fuzz_md", "-disable-auto-upgrade-debug-info"};
  if (!done)
    LLVMParseCommandLineOptions(2, arguments, NULL);
  done = true;
}

static uint64_t hash(const uint8_t *data, size_t size) { /* FNV-1a */
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++)
    h = (h ^ data[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* -1, "not for the corpus", where LLVM cannot parse it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  LLVMModuleRef module = NULL;
  char *message = NULL;
  keep_verifier_away();
  LLVMContextRef context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(context, ignore_diagnostic, NULL);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)data, size, "input");
  bool parsed = !LLVMParseIRInContext(context, buffer, &module, &message);
  LLVMDisposeMessage(message);
  if (parsed)
    try_module(module, hash(data, size));
  LLVMContextDispose(context);
  return parsed ? 0 : -1;
}
