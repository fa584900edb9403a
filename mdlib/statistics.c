/* Counts of what a module holds. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* Set of nodes. Open addressing, power of two, at most half full. */
typedef struct node_set {
  LLVMMetadataRef *slots;
  size_t capacity, used;
} node_set;

typedef struct counting {
  hearth_md *md;
  hearth_md_statistics *s;
  node_set nodes;
  bool out_of_memory;
} counting;

static LLVMMetadataRef *slot_of(const node_set *set, LLVMMetadataRef node) {
  size_t i = (size_t)((uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (set->capacity - 1);
  while (set->slots[i] && set->slots[i] != node)
    i = (i + 1) & (set->capacity - 1);
  return &set->slots[i];
}

static bool grow(node_set *set) {
  node_set larger = {calloc(set->capacity ? set->capacity * 2 : 64, sizeof *larger.slots),
                     set->capacity ? set->capacity * 2 : 64, set->used};
  if (!larger.slots)
    return false;
  for (size_t i = 0; i < set->capacity; i++)
    if (set->slots[i])
      *slot_of(&larger, set->slots[i]) = set->slots[i];
  free(set->slots);
  *set = larger;
  return true;
}

/* Nodes of a well-formed chain, up to the first that was seen: what it leads to was seen with it. */
static void count_nodes(counting *c, LLVMMetadataRef node) {
  for (; hearth_ir_operand_count(node) && !c->out_of_memory; node = hearth_ir_operand(node, 1)) {
    if (c->nodes.used * 2 >= c->nodes.capacity && !grow(&c->nodes)) {
      c->out_of_memory = true;
      return;
    }
    LLVMMetadataRef *slot = slot_of(&c->nodes, node);
    if (*slot)
      return;
    *slot = node;
    c->nodes.used++;
  }
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

static void visit(LLVMValueRef instruction, void *data) {
  counting *c = data;
  if (!hearth_md_is_call(instruction))
    return;
  c->s->callsites += hearth_ir_attachment(instruction, c->md->kind_callsite) != NULL;
  count_call(c, instruction);
}

bool hearth_md_collect_statistics(hearth_md *md, hearth_md_statistics *ret) {
  counting c = {.md = md, .s = ret};
  memset(ret, 0, sizeof *ret);
  while (hearth_md_get_schema(md, (unsigned)ret->schemas))
    ret->schemas++;
  hearth_md_for_each_instruction(md, visit, &c);
  ret->stack_nodes = c.nodes.used;
  free(c.nodes.slots);
  return !c.out_of_memory;
}
