/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One walk over the instructions of a function. Pointers are split into base and offset, and where blocks matter only
 * into object and place; an access that cannot be to the heap is left out. */

#include "instrument.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "module.h"
#include "shim.h"

#define MOST_ORIGINS 16 /* of a pointer, followed through selects and phis */
#define STEP         8  /* bytes of a range that count as one access, as in the runtime */
#define MOST_LOOK_AT 64 /* accesses that are compared with one */
_Static_assert(MOST_LOOK_AT < UINT8_MAX, "a counter of histogram mode takes the weights of all");
#define INLINE_BYTES 64 /* up to here the steps of an intrinsic are accesses like others */

static LLVMAttributeIndex index_of(LLVMValueRef argument) {
  LLVMAttributeIndex i = 1;
  for (LLVMValueRef a = LLVMGetFirstParam(LLVMGetParamParent(argument)); a != argument; a = LLVMGetNextParam(a))
    i++;
  return i;
}

static bool argument_has(LLVMValueRef argument, const char *attribute) {
  return hearth_has_attribute(LLVMGetParamParent(argument), index_of(argument), (const char *[]){attribute, NULL});
}

/* --- where a pointer comes from --- */

typedef struct origins {
  LLVMValueRef seen[MOST_ORIGINS];
  unsigned count;
} origins;

static bool add_origin(origins *o, LLVMValueRef pointer) {
  for (unsigned i = 0; i < o->count; i++)
    if (o->seen[i] == pointer)
      return true;
  if (o->count == MOST_ORIGINS)
    return false;
  o->seen[o->count++] = pointer;
  return true;
}

static bool is_address_of_part(LLVMValueRef pointer) {
  if (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer))
    return true;
  if (!LLVMIsAConstantExpr(pointer))
    return false;
  LLVMOpcode opcode = LLVMGetConstOpcode(pointer);
  return opcode == LLVMGetElementPtr || opcode == LLVMBitCast;
}

/* Data that isalpha, toupper and such read in glibc, at each character: pointers of the thread, which are not in
 * dynamic memory, and through them tables of the locale, which are constants or mapped files. */
static bool is_in_character_tables(LLVMValueRef origin) {
  static const char *const names[] = {"__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", NULL};
  LLVMValueRef call = LLVMIsALoadInst(origin) ? LLVMGetOperand(origin, 0) : origin;
  LLVMValueRef callee = LLVMIsACallInst(call) ? LLVMIsAFunction(LLVMGetCalledValue(call)) : NULL;
  return callee && LLVMIsDeclaration(callee) && hearth_is_named(callee, names);
}

/* The loader may take the memory of thread-local variables from malloc. */
static bool is_not_counted(LLVMValueRef origin) {
  return LLVMIsAAllocaInst(origin) || LLVMIsAFunction(origin) || LLVMIsNull(origin) || LLVMIsUndef(origin) ||
         (LLVMIsAGlobalVariable(origin) && !LLVMIsThreadLocal(origin) && !hearth_global_counts(origin)) ||
         (LLVMIsAArgument(origin) && argument_has(origin, "byval")) || is_in_character_tables(origin);
}

bool hearth_may_be_heap(LLVMValueRef pointer) {
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
    return false;
  origins found = {.seen = {pointer}, .count = 1};
  for (unsigned i = 0; i < found.count; i++) {
    LLVMValueRef at = found.seen[i];
    bool known = true;
    if (is_address_of_part(at))
      known = add_origin(&found, LLVMGetOperand(at, 0));
    else if (LLVMIsASelectInst(at))
      known = add_origin(&found, LLVMGetOperand(at, 1)) && add_origin(&found, LLVMGetOperand(at, 2));
    else if (LLVMIsAPHINode(at))
      for (unsigned k = 0, n = LLVMCountIncoming(at); known && k < n; k++)
        known = add_origin(&found, LLVMGetIncomingValue(at, k));
    else
      known = is_not_counted(at);
    if (!known)
      return true;
  }
  return false;
}

/* --- what instructions access --- */

typedef struct collection {
  hearth_accesses *accesses;
  const hearth_pass_options *options;
  uint32_t interruptions; /* in the block so far */
  bool no_memory;
} collection;

static int64_t line_in_block(int64_t offset) {
  return (offset < 0 ? offset - (HEARTH_LINE - 1) : offset) / HEARTH_LINE;
}

static void access_add(collection *c, LLVMValueRef instruction, LLVMValueRef pointer, int64_t displacement,
                       uint32_t alignment) {
  hearth_accesses *all = c->accesses;
  if (!hearth_may_be_heap(pointer))
    return;
  if (!hearth_array_grow(&all->items, &all->capacity, all->count, sizeof *all->items)) {
    c->no_memory = true;
    return;
  }
  hearth_access *access = &all->items[all->count++];
  *access = (hearth_access){.instruction = instruction,
                            .block = LLVMGetInstructionParent(instruction),
                            .pointer = pointer,
                            .displacement = displacement,
                            .weight = 1,
                            .alignment = alignment,
                            .interruptions = c->interruptions};
  int64_t offset;
  access->base = hearth_flow_pointer_base(pointer, &access->offset);
  access->offset += displacement;
  access->object = access->base;
  access->place = access->offset;
  if (c->options->coalesce == HEARTH_COALESCE_BLOCK) {
    access->object = hearth_flow_pointer_object(pointer, &offset);
    access->place = line_in_block(offset + displacement);
  }
}

static void access_add_call(collection *c, LLVMValueRef call) {
  hearth_accesses *all = c->accesses;
  if (!hearth_array_grow(&all->calls, &all->calls_capacity, all->n_calls, sizeof *all->calls)) {
    c->no_memory = true;
    return;
  }
  all->calls[all->n_calls++] = call;
}

static void add_steps(collection *c, LLVMValueRef call, unsigned operand, uint64_t size) {
  for (uint64_t at = 0; at < size; at += STEP)
    access_add(c, call, LLVMGetArgOperand(call, operand), (int64_t)at, 1);
}

/* Memory intrinsics of a small constant size do not change. All are accesses of as many counts as bytes/8. */
static void collect_range(collection *c, LLVMValueRef call, bool two_ranges) {
  LLVMValueRef size = LLVMIsAConstantInt(LLVMGetArgOperand(call, 2));
  if (!size || c->options->coalesce == HEARTH_COALESCE_OFF || LLVMConstIntGetZExtValue(size) > INLINE_BYTES) {
    access_add_call(c, call);
    return;
  }
  if (two_ranges)
    add_steps(c, call, 1, LLVMConstIntGetZExtValue(size));
  add_steps(c, call, 0, LLVMConstIntGetZExtValue(size));
}

static void add_pointer(void *closure, LLVMValueRef call, LLVMValueRef pointer) {
  access_add(closure, call, pointer, 0, 1);
}

static void collect_call(collection *c, LLVMValueRef call) {
  /* Followed by the mangled types: ".inline" and ".element" are others, which must not change. */
  static const char *const copies[] = {"llvm.memcpy.p", "llvm.memmove.p", NULL},
                           *const sets[] = {"llvm.memset.p0", NULL},
                           *const masked_loads[] = {"llvm.masked.load.", "llvm.masked.expandload.", NULL},
                           *const masked_stores[] = {"llvm.masked.store.", "llvm.masked.compressstore.", NULL};
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee)
    return;
  if (!LLVMGetIntrinsicID(callee)) {
    if (hearth_library_visit_pointers(call, add_pointer, c))
      access_add_call(c, call);
  } else if (hearth_is_named_like(callee, copies)) {
    collect_range(c, call, true);
  } else if (hearth_is_named_like(callee, sets)) {
    collect_range(c, call, false);
  } else if (hearth_is_named_like(callee, masked_loads)) {
    access_add(c, call, LLVMGetArgOperand(call, 0), 0, 1);
  } else if (hearth_is_named_like(callee, masked_stores)) {
    access_add(c, call, LLVMGetArgOperand(call, 1), 0, 1);
  }
}

/* A swifterror pointer may only be loaded, stored and passed on: taking its address as a number is invalid IR. */
static bool is_swifterror(LLVMValueRef pointer) {
  return LLVMIsAArgument(pointer) && argument_has(pointer, "swifterror");
}

static void collect_instruction(collection *c, LLVMValueRef i) {
  if (LLVMIsALoadInst(i)) {
    LLVMValueRef pointer = LLVMGetOperand(i, 0);
    if (!is_swifterror(pointer))
      access_add(c, i, pointer, 0, LLVMGetAlignment(i));
  } else if (LLVMIsAStoreInst(i)) {
    LLVMValueRef pointer = LLVMGetOperand(i, 1);
    if (!is_swifterror(pointer))
      access_add(c, i, pointer, 0, LLVMGetAlignment(i));
  } else if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
    access_add(c, i, LLVMGetOperand(i, 0), 0, 1);
  } else if (LLVMIsACallInst(i) || LLVMIsAInvokeInst(i)) {
    collect_call(c, i);
  }
}

static void collect_block(collection *c, LLVMBasicBlockRef block, unsigned nosanitize) {
  c->interruptions = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !c->no_memory; i = LLVMGetNextInstruction(i)) {
    if (!LLVMGetMetadata(i, nosanitize))
      collect_instruction(c, i);
    c->interruptions += hearth_flow_interrupts(i);
  }
}

bool hearth_accesses_collect(LLVMValueRef function, const hearth_pass_options *options, hearth_accesses *ret) {
  LLVMModuleRef module = LLVMGetGlobalParent(function);
  unsigned nosanitize =
      LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "nosanitize", (unsigned)strlen("nosanitize"));
  collection c = {.accesses = ret, .options = options};
  *ret = (hearth_accesses){.items = NULL};
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && !c.no_memory; b = LLVMGetNextBasicBlock(b))
    collect_block(&c, b, nosanitize);
  return !c.no_memory;
}

void hearth_accesses_free(hearth_accesses *accesses) {
  free(accesses->items);
  free(accesses->calls);
}

/* --- neighbours --- */

/* Accesses are sorted by object; each absorbs those behind it, at most MOST_LOOK_AT, that share its counter, basic
 * block and stretch between interruptions. */

/* By pointer, then by where they are in the function. */
static int compare_accesses(const void *left, const void *right) {
  const hearth_access *a = *(hearth_access *const *)left, *b = *(hearth_access *const *)right;
  if (a->object != b->object)
    return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* For sure in one granule: within as many bytes as the lower one's address is a multiple of. */
static bool is_within_alignment(const hearth_access *a, const hearth_access *b, unsigned granule) {
  if (a->base != b->base)
    return false;
  const hearth_access *low = a->offset <= b->offset ? a : b, *high = low == a ? b : a;
  uint64_t alignment = low->alignment < granule ? low->alignment : granule;
  return high->offset == low->offset || (uint64_t)(high->offset - low->offset) < alignment;
}

/* Block totals are the same whichever of its granules an access is counted in. */
static bool share_counter(const hearth_access *a, const hearth_access *b, unsigned granule) {
  return a->place == b->place || is_within_alignment(a, b, granule);
}

/* With nothing between them that could change whose they are, or that only one of them happens. */
static bool happen_together(const hearth_access *first, const hearth_access *second) {
  return first->block == second->block && first->interruptions == second->interruptions;
}

static void absorb_neighbours(hearth_access *const *order, size_t at, size_t count, unsigned granule) {
  hearth_access *first = order[at];
  for (size_t k = at + 1; k < count && k <= at + MOST_LOOK_AT && order[k]->object == first->object; k++)
    if (order[k]->weight && share_counter(first, order[k], granule) && happen_together(first, order[k])) {
      first->weight += order[k]->weight;
      order[k]->weight = 0;
    }
}

void hearth_coalesce_neighbours(hearth_accesses *accesses, unsigned granule) {
  hearth_access **order = malloc((accesses->count + 1) * sizeof *order);
  if (!order)
    return;
  for (size_t i = 0; i < accesses->count; i++)
    order[i] = &accesses->items[i];
  qsort(order, accesses->count, sizeof *order, compare_accesses);
  for (size_t i = 0; i < accesses->count; i++)
    if (order[i]->weight)
      absorb_neighbours(order, i, accesses->count, granule);
  free(order);
}
