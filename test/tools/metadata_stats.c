/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* metadata_stats PROFILE: the size that the contexts of a profile, untrimmed, would have as metadata, chained and flat. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitWriter.h>

#include "hearth/classify.h"
#include "hearth/ir_facts.h"
#include "hearth/md.h"

/* Contexts of one leaf frame: one call gets them. */
typedef struct leaf {
  uint64_t own_id;
  hearth_md_mib *mibs;
  uint64_t **stacks;
  size_t count;
} leaf;

typedef struct contexts {
  leaf *leaves;
  size_t count;
} contexts;

typedef struct source {
  hearth_profile *profile;
  hearth_classifier classifier;
} source;

/* Ids of the frames above the leaf node of a stack, the leaf's caller first. *ret is malloc'd. */
static hearth_status read_stack_ids(hearth_profile *profile, uint32_t leaf, uint64_t **ret, size_t *ret_depth,
                                    hearth_error *err) {
  uint32_t node, frame_row;
  size_t depth = 0;
  for (node = leaf; node != HEARTH_NONE; depth++)
    HEARTH_TRY(hearth_profile_get_stack(profile, node, &frame_row, &node, err));
  if (depth == 0)
    return hearth_error_set(err, HEARTH_E_CORRUPT, "a context has no frames");
  uint64_t *ids = malloc(depth * sizeof *ids);
  if (!ids)
    return hearth_error_nomem(err);
  node = leaf;
  for (size_t i = 0; i < depth; i++) {
    hearth_frame_info frame;
    hearth_status status = hearth_profile_get_stack(profile, node, &frame_row, &node, err);
    if (status == HEARTH_OK)
      status = hearth_profile_get_frame(profile, frame_row, &frame, err);
    if (status != HEARTH_OK) {
      free(ids);
      return status;
    }
    if (i > 0)
      ids[i - 1] = frame.stack_id;
  }
  *ret = ids;
  *ret_depth = depth - 1;
  return HEARTH_OK;
}

static hearth_status read_leaf(source *m, const hearth_frame_info *frame, leaf *ret, hearth_error *err) {
  ret->own_id = frame->stack_id;
  ret->mibs = calloc(frame->context_count, sizeof *ret->mibs);
  ret->stacks = calloc(frame->context_count, sizeof *ret->stacks);
  if (!ret->mibs || !ret->stacks)
    return hearth_error_nomem(err);
  for (; ret->count < frame->context_count; ret->count++) {
    hearth_md_mib *mib = &ret->mibs[ret->count];
    hearth_mib record;
    uint32_t node;
    HEARTH_TRY(
        hearth_profile_get_context(m->profile, frame->first_context + (uint32_t)ret->count, &node, &record, err));
    HEARTH_TRY(read_stack_ids(m->profile, node, &ret->stacks[ret->count], &mib->depth, err));
    mib->stack = ret->stacks[ret->count];
    mib->hotness = hearth_classify(&m->classifier, &record);
    hearth_md_mib_set_all(mib, &record);
  }
  return HEARTH_OK;
}

static hearth_status read_contexts(const char *path, source *m, contexts *ret, hearth_error *err) {
  HEARTH_TRY(hearth_profile_open_stream(path, &m->profile, err));
  HEARTH_TRY(hearth_classifier_init(&m->classifier, m->profile, NULL, err));
  uint32_t frames = hearth_profile_frame_count(m->profile);
  ret->leaves = calloc(frames + 1, sizeof *ret->leaves);
  if (!ret->leaves)
    return hearth_error_nomem(err);
  for (uint32_t row = 0; row < frames; row++) {
    hearth_frame_info frame;
    HEARTH_TRY(hearth_profile_get_frame(m->profile, row, &frame, err));
    if (frame.context_count)
      HEARTH_TRY(read_leaf(m, &frame, &ret->leaves[ret->count++], err));
  }
  return HEARTH_OK;
}

static void free_contexts(contexts *c) {
  for (size_t i = 0; i < c->count; i++) {
    for (size_t k = 0; k < c->leaves[i].count; k++)
      free(c->leaves[i].stacks[k]);
    free(c->leaves[i].stacks);
    free(c->leaves[i].mibs);
  }
  free(c->leaves);
}

/* A function that calls malloc once for each leaf. */
static LLVMModuleRef make_module(LLVMContextRef context, size_t calls) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("stats", context);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), pointer = LLVMPointerType(LLVMInt8TypeInContext(context), 0);
  LLVMTypeRef malloc_type = LLVMFunctionType(pointer, &i64, 1, false);
  LLVMValueRef callee = LLVMAddFunction(module, "malloc", malloc_type);
  LLVMValueRef function =
      LLVMAddFunction(module, "f", LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false));
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
  LLVMValueRef size = LLVMConstInt(i64, 8, false);
  while (calls-- > 0)
    LLVMBuildCall2(builder, malloc_type, callee, &size, 1, "");
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  return module;
}

static size_t bitcode_size(LLVMModuleRef module) {
  LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(module);
  size_t size = LLVMGetBufferSize(buffer);
  LLVMDisposeMemoryBuffer(buffer);
  return size;
}

enum { NOTHING, FLAT, CHAINED_CLASS, CHAINED_ALL, FORMS };

/* Attaches everything in one form; statistics are of the module. Returns the module's size as bitcode, 0 when out of memory. */
static size_t measure(const contexts *c, int form, hearth_md_statistics *statistics) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = make_module(context, c->count);
  hearth_md *md = hearth_md_create(module);
  hearth_md_losses losses = {0};
  if (md)
    hearth_md_use_encodings(md, true, false);
  if (md && form != CHAINED_ALL)
    hearth_md_use_schema(md, &(hearth_md_schema){1, {HEARTH_TAG_Hotness}});
  LLVMValueRef call = LLVMGetFirstInstruction(LLVMGetFirstBasicBlock(LLVMGetNamedFunction(module, "f")));
  for (size_t i = 0; md && form != NOTHING && i < c->count; i++, call = LLVMGetNextInstruction(call)) {
    const leaf *l = &c->leaves[i];
    hearth_md_attach(md, call, &l->own_id, 1, l->mibs, l->count);
    if (form == FLAT)
      hearth_md_to_flat(md, call, &losses);
  }
  size_t size = md && hearth_md_collect_statistics(md, statistics) ? bitcode_size(module) : 0;
  hearth_md_destroy(md);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return size;
}

static int print(const char *path, const contexts *c, bool has_flat) {
  hearth_md_statistics s[FORMS];
  size_t sizes[FORMS];
  for (int form = 0; form < FORMS; form++)
    if ((has_flat || form != FLAT) && (sizes[form] = measure(c, form, &s[form])) == 0)
      return fprintf(stderr, "%s: out of memory\n", path), 1;
  const hearth_md_statistics *chained = &s[CHAINED_ALL];
  printf("metadata of all contexts, untrimmed\n");
  printf("  places that allocate            %12zu\n", c->count);
  printf("  contexts                        %12zu\n", chained->contexts);
  printf("  ids of their stacks             %12zu  (longest stack %zu)\n", chained->stack_ids, chained->deepest);
  printf("  nodes when chained              %12zu\n", chained->stack_nodes);
  printf("  ids removed by chaining         %11.1f%%\n",
         chained->stack_ids ? 100.0 - 100.0 * (double)chained->stack_nodes / (double)chained->stack_ids : 0.0);
  if (has_flat)
    printf("  bitcode, flat: stack and class  %12zu bytes\n", sizes[FLAT] - sizes[NOTHING]);
  printf("  bitcode, chained: the same      %12zu bytes\n", sizes[CHAINED_CLASS] - sizes[NOTHING]);
  printf("  bitcode, chained: all values    %12zu bytes\n", sizes[CHAINED_ALL] - sizes[NOTHING]);
  if (!has_flat)
    printf("  (this LLVM has no flat form)\n");
  return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  source source = {0};
  contexts all = {0};
  hearth_error err;
  if (argc != 2)
    return fputs("usage: metadata_stats PROFILE\n", stderr), 2;
  bool is_read = read_contexts(argv[1], &source, &all, &err) == HEARTH_OK;
  int result = is_read ? print(argv[1], &all, hearth_ir_knows_flat_mibs()) : 1;
  if (!is_read)
    fprintf(stderr, "metadata_stats: %s\n", err.message);
  free_contexts(&all);
  hearth_profile_close(source.profile);
  return result;
}
