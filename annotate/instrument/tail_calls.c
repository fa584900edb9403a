/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Edges of the graph are calls that may become jumps. A call through a table of functions leads to the table's type,
 * and that to all functions of the type whose addresses the module takes. Edges that nothing leads to, or from, go
 * until none is left. What is in a cycle stays, and what is between two. */

#include "instrument.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ir_facts.h"
#include "module.h"
#include "shim.h"

#define FORBIDDEN "disable-tail-calls"
#define ALLOWED   "hearth-tail-calls" /* for the optimiser */

static bool function_has(LLVMValueRef function, const char *name) {
  return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name)) != NULL;
}

/* One of them takes the place of the other. */
static void swap(LLVMValueRef function, const char *old, const char *new) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, old, (unsigned)strlen(old));
  LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                          LLVMCreateStringAttribute(context, new, (unsigned)strlen(new), "true", 4));
}

bool hearth_pass_tail_calls(LLVMModuleRef module, const hearth_pass_options *options) {
  (void)options;
  bool changed = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && function_has(f, FORBIDDEN)) {
      swap(f, FORBIDDEN, ALLOWED);
      changed = true;
    }
  return changed;
}

/* Nodes are functions, and types of functions. */
typedef struct edge {
  const void *from, *to;
  LLVMValueRef call; /* NULL: from a type */
} edge;

typedef struct node {
  const void *id;
  size_t in, out;
} node;

typedef struct graph {
  edge *edges;
  size_t count, room;
  bool failed;
} graph;

static void add_edge(graph *g, const void *from, const void *to, LLVMValueRef call) {
  g->failed = g->failed || !hearth_array_grow(&g->edges, &g->room, g->count, sizeof *g->edges);
  if (!g->failed)
    g->edges[g->count++] = (edge){from, to, call};
}

/* Of the states of a machine: an entry of a global array. */
static bool is_from_table(LLVMValueRef callee) {
  if (!LLVMIsALoadInst(callee))
    return false;
  LLVMValueRef place = LLVMGetOperand(callee, 0);
  for (int i = 0; i < 4 && !LLVMIsAGlobalVariable(place); i++)
    if (LLVMIsAGetElementPtrInst(place) || LLVMIsACastInst(place) || LLVMIsAConstantExpr(place))
      place = LLVMGetOperand(place, 0);
  return LLVMIsAGlobalVariable(place) != NULL;
}

static void visit_call(LLVMValueRef instruction, void *data) {
  graph *g = data;
  if (!hearth_may_jump(instruction) || hearth_ir_call_is_musttail(instruction))
    return;
  LLVMValueRef from = hearth_ir_function_of(instruction), callee = LLVMGetCalledValue(instruction);
  if (LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee))
    add_edge(g, from, callee, instruction);
  else if (is_from_table(callee))
    add_edge(g, from, LLVMGetCalledFunctionType(instruction), instruction);
}

static bool is_address_taken(LLVMValueRef function) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAInstruction(user) || !hearth_ir_is_call(user) || LLVMGetCalledValue(user) != function)
      return true;
  }
  return false;
}

static int compare_ids(const void *a, const void *b) {
  const void *x = ((const node *)a)->id, *y = ((const node *)b)->id;
  return ((uintptr_t)x > (uintptr_t)y) - ((uintptr_t)x < (uintptr_t)y);
}

/* Sorted; one at least has room. */
static node *list_nodes(const graph *g, size_t *ret_count) {
  size_t n = 0;
  node *nodes = calloc(2 * g->count + 1, sizeof *nodes);
  for (size_t i = 0; nodes && i < g->count; i++) {
    nodes[2 * i].id = g->edges[i].from;
    nodes[2 * i + 1].id = g->edges[i].to;
  }
  if (nodes)
    qsort(nodes, 2 * g->count, sizeof *nodes, compare_ids);
  for (size_t i = 0; nodes && i < 2 * g->count; i++)
    if (n == 0 || nodes[n - 1].id != nodes[i].id)
      nodes[n++].id = nodes[i].id;
  *ret_count = n;
  return nodes;
}

static node *call_node_of(node *nodes, size_t count, const void *id) {
  node key = {.id = id};
  return bsearch(&key, nodes, count, sizeof *nodes, compare_ids);
}

/* Leaves the edges of cycles. */
static void drop_ends(graph *g) {
  size_t node_count, before;
  node *nodes = list_nodes(g, &node_count);
  g->failed |= !nodes;
  do {
    before = g->count;
    g->count = 0;
    for (size_t i = 0; nodes && i < node_count; i++)
      nodes[i].in = nodes[i].out = 0;
    for (size_t i = 0; nodes && i < before; i++) {
      call_node_of(nodes, node_count, g->edges[i].from)->out++;
      call_node_of(nodes, node_count, g->edges[i].to)->in++;
    }
    for (size_t i = 0; nodes && i < before; i++)
      if (call_node_of(nodes, node_count, g->edges[i].from)->in && call_node_of(nodes, node_count, g->edges[i].to)->out)
        g->edges[g->count++] = g->edges[i];
  } while (g->count < before);
  free(nodes);
}

/* Cycles by the order of their calls, which is the module's. */
typedef struct cycles {
  const graph *g;
  size_t next;
} cycles;

static bool is_next(const cycles *c, LLVMValueRef function) {
  return c->next < c->g->count && c->g->edges[c->next].from == function;
}

static void limit_call(LLVMValueRef instruction, void *data) {
  cycles *c = data;
  if (!LLVMIsACallInst(instruction) || !LLVMIsTailCall(instruction) || hearth_ir_call_is_musttail(instruction))
    return;
  LLVMValueRef function = hearth_ir_function_of(instruction);
  bool stays = !function_has(function, ALLOWED);
  if (is_next(c, function) && c->g->edges[c->next].call == instruction) {
    c->next++;
    stays = true;
  }
  if (!stays || hearth_alloc_function_of(instruction))
    hearth_ir_call_forbid_jump(instruction);
}

static void limit_function(LLVMValueRef function, cycles *c) {
  bool jumps = is_next(c, function);
  while (is_next(c, function))
    c->next++;
  if (function_has(function, ALLOWED) && jumps)
    LLVMRemoveStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, ALLOWED, (unsigned)strlen(ALLOWED));
  else if (function_has(function, ALLOWED))
    swap(function, ALLOWED, FORBIDDEN);
}

typedef struct flag {
  LLVMValueRef address, value;
} flag;

static void store_flag(LLVMBuilderRef builder, void *data) {
  const flag *f = data;
  LLVMBuildStore(builder, f->value, f->address);
}

/* One that is in progress, by its flag, is a jump. */
static void keep_first_frame(LLVMBuilderRef builder, LLVMValueRef call, LLVMValueRef address) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetModuleContext(LLVMGetGlobalParent(hearth_ir_function_of(call))));
  LLVMBasicBlockRef pad = NULL;
  flag set = {address, LLVMConstInt(i8, 1, false)}, clear = {address, LLVMConstNull(i8)};
  LLVMPositionBuilderBefore(builder, call);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef is_set = LLVMBuildIsNotNull(builder, LLVMBuildLoad2(builder, i8, address, ""), "");
  if (!hearth_jump_if(call, is_set))
    return;
  LLVMPositionBuilderBefore(builder, call);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  store_flag(builder, &set);
  hearth_after_call(call, &pad, store_flag, &clear);
}

static void keep_first_frames(LLVMModuleRef module, const graph *cycles) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMTypeRef i64 = LLVMInt64TypeInContext(context), array;
  unsigned n = 0;
  while (n < cycles->count && cycles->edges[n].call)
    n++;
  if (n == 0)
    return;
  array = LLVMArrayType(LLVMInt8TypeInContext(context), n);
  LLVMValueRef flags = LLVMAddGlobal(module, array, "__hearth_tail_calls");
  LLVMSetLinkage(flags, LLVMInternalLinkage);
  LLVMSetInitializer(flags, LLVMConstNull(array));
  LLVMSetThreadLocal(flags, true);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  for (unsigned i = 0; i < n; i++) {
    LLVMValueRef indices[] = {LLVMConstNull(i64), LLVMConstInt(i64, i, false)};
    keep_first_frame(builder, cycles->edges[i].call, LLVMConstInBoundsGEP2(array, flags, indices, 2));
  }
  LLVMDisposeBuilder(builder);
}

bool hearth_tail_calls_limit(LLVMModuleRef module) {
  graph g = {0};
  hearth_ir_for_each_instruction(module, visit_call, &g);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && is_address_taken(f))
      add_edge(&g, LLVMGlobalGetValueType(f), f, NULL);
  drop_ends(&g);
  g.count = g.failed ? 0 : g.count;
  cycles of_calls = {.g = &g}, of_functions = {.g = &g};
  hearth_ir_for_each_instruction(module, limit_call, &of_calls);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    limit_function(f, &of_functions);
  keep_first_frames(module, &g);
  free(g.edges);
  return !g.failed;
}
