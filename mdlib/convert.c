/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One encoding in place of the other. Data that the target cannot hold is counted, not dropped in silence. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

static size_t recorded_values(const hearth_md_mib *mib) {
  size_t n = 0;
  for (uint64_t rest = mib->recorded & ~(UINT64_C(1) << HEARTH_TAG_Hotness); rest; rest &= rest - 1)
    n++;
  return n;
}

/* False, and nothing changed, when out of memory. */
static bool replace_by_flat(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n, hearth_md_mibs *all,
                            hearth_md_losses *losses) {
  /* LLVM's inliner keeps the flat form up to date, but not ours. */
  if (!hearth_md_keep_possible(all, callsite, n, HEARTH_CLASS_UNKNOWN)) {
    hearth_md_clear(md, call);
    return true;
  }
  if (!hearth_md_attach_flat(md, call, callsite[0], all->mibs, all->count))
    return false;
  for (size_t i = 0; i < all->count; i++) {
    losses->values += recorded_values(&all->mibs[i]);
    losses->classes += all->mibs[i].hotness == HEARTH_CLASS_UNKNOWN;
  }
  hearth_md_set(md, call, md->kind_mib, NULL);
  hearth_md_set_hint(md, call, hearth_md_common_flat_class(all->mibs, all->count));
  return true;
}

bool hearth_md_to_flat(hearth_md *md, LLVMValueRef call, hearth_md_losses *losses) {
  hearth_md_mibs all;
  size_t n;
  if (!hearth_ir_is_call(call) || !hearth_ir_attachment(call, md->chained_only ? md->kind_memprof : md->kind_mib))
    return false;
  uint64_t *callsite = hearth_md_callsite_ids(md, call, &n);
  bool readable = n && !md->chained_only && hearth_md_get_mibs(md, call, &all);
  bool converted = readable && replace_by_flat(md, call, callsite, n, &all, losses);
  losses->calls += !converted;
  if (readable)
    hearth_md_mibs_free(&all);
  free(callsite);
  return converted;
}

/* The module's, else the fields that the flat form can fill, as a new one. */
static LLVMMetadataRef target_schema(hearth_md *md, hearth_md_schema *ret) {
  LLVMMetadataRef node = hearth_md_only_schema(md);
  if (hearth_md_schema_is_valid(md, node, ret))
    return node;
  *ret = (hearth_md_schema){2, {HEARTH_TAG_TotalSize, HEARTH_TAG_Hotness}};
  return hearth_md_enter_schema(md, hearth_md_schema_create(md, ret));
}

static bool has_field(const hearth_md_schema *schema, unsigned tag) {
  return memchr(schema->tags, (int)tag, schema->count) != NULL;
}

/* The chained form has no place for the call's own id: that of `!callsite` must be the same. */
static bool own_ids_agree(hearth_md *md, LLVMValueRef call, const hearth_md_mibs *all) {
  uint64_t own_id;
  bool agree = hearth_md_get_callsite(md, call, &own_id, 1) > 0;
  for (size_t i = 0; agree && i < all->count; i++)
    agree = all->mibs[i].stack[-1] == own_id;
  return agree;
}

static void write_chained(hearth_md *md, LLVMValueRef call, hearth_md_mibs *all, hearth_md_losses *losses) {
  hearth_md_schema schema;
  all->nodes[0] = target_schema(md, &schema);
  for (size_t i = 0; i < all->count; i++) {
    unsigned pairs = hearth_ir_operand_count(all->nodes[i + 1]) - 2;
    losses->classes += !has_field(&schema, HEARTH_TAG_Hotness);
    losses->values += pairs ? pairs + !has_field(&schema, HEARTH_TAG_TotalSize) : 0;
    all->nodes[i + 1] = hearth_md_chained_mib(md, &schema, &all->mibs[i]);
  }
  hearth_md_set(md, call, md->kind_mib, hearth_md_node(md, all->nodes, all->count + 1));
}

bool hearth_md_to_chained(hearth_md *md, LLVMValueRef call, hearth_md_losses *losses) {
  hearth_md_mibs all;
  if (!hearth_ir_is_call(call) || md->chained_only || !hearth_ir_attachment(call, md->kind_memprof))
    return false;
  bool readable = hearth_md_get_mibs(md, call, &all);
  bool from_flat = readable && all.encoding == HEARTH_MD_FLAT;
  bool converted = readable && (!from_flat || own_ids_agree(md, call, &all));
  if (converted && from_flat)
    write_chained(md, call, &all, losses);
  if (converted) /* beside a chained one, the flat one said nothing more */
    hearth_md_set(md, call, md->kind_memprof, NULL);
  else
    losses->calls++;
  hearth_md_mibs_free(&all);
  return converted;
}
