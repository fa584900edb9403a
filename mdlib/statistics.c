/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts of the metadata in a module. */
#include <string.h>

#include "md_internal.h"
#include "node_set.h"

typedef struct counting {
  hearth_md *md;
  hearth_md_statistics *s;
  hearth_node_set nodes;
} counting;

/* Nodes of a well-formed chain, up to the first that was seen: the nodes behind it were seen with it. */
static void count_nodes(counting *c, LLVMMetadataRef node) {
  while (hearth_ir_operand_count(node) && hearth_node_set_add(&c->nodes, node))
    node = hearth_ir_operand(node, 1);
}

static void count_call(counting *c, LLVMValueRef call) {
  hearth_md_mibs all;
  hearth_md_statistics *s = c->s;
  LLVMMetadataRef memprof = hearth_ir_attachment(call, c->md->kind_memprof);
  LLVMMetadataRef mib = c->md->chained_only ? NULL : hearth_ir_attachment(call, c->md->kind_mib);
  if (!memprof && !mib)
    return;
  s->calls++;
  s->hints[hearth_md_get_hint(call, NULL)]++;
  s->flat_contexts += c->md->chained_only ? 0 : hearth_ir_operand_count(memprof);
  s->malformed += !hearth_md_get_mibs(c->md, call, &all);
  s->contexts += all.count;
  for (size_t i = 0; i < all.count; i++) {
    s->classes[all.mibs[i].hotness]++;
    s->stack_ids += all.mibs[i].depth;
    s->deepest = all.mibs[i].depth > s->deepest ? all.mibs[i].depth : s->deepest;
    if (all.encoding == HEARTH_MD_CHAINED)
      count_nodes(c, hearth_ir_operand(all.nodes[i + 1], 0));
  }
  hearth_md_mibs_free(&all);
}

static void statistics_visit(LLVMValueRef instruction, void *data) {
  counting *c = data;
  if (!hearth_ir_is_call(instruction))
    return;
  c->s->callsites += hearth_ir_attachment(instruction, c->md->kind_callsite) != NULL;
  count_call(c, instruction);
}

bool hearth_md_collect_statistics(hearth_md *md, hearth_md_statistics *ret) {
  counting c = {.md = md, .s = ret};
  memset(ret, 0, sizeof *ret);
  while (hearth_md_get_schema(md, (unsigned)ret->schemas))
    ret->schemas++;
  hearth_ir_for_each_instruction(md->module, statistics_visit, &c);
  ret->stack_nodes = c.nodes.used;
  bool ok = !c.nodes.out_of_memory;
  hearth_node_set_free(&c.nodes);
  return ok;
}
