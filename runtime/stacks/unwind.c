/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames are followed by frame pointers as far as these lead; where they do not, by rules. The rule for a pc comes
 * from its module's call frame information (cfi.c). Each load is checked to lie on the stack. */
#include "unwind.h"

#include "mappings.h"
#include "os.h"
#include "thread_state.h"

#include <string.h>

/* -- rules -------------------------------------------------------------------------------------------------------------- */

/* They are kept in a hash table whose rows are never given back: reading call frame information costs microseconds, and
 * looking a rule up again costs two memory accesses. Lock-free, also in signal handlers that interrupt the runtime. */

/* Calls that are on the way to an allocation. The rows of most programs lie close together, where processors' caches
 * keep them; those that find no place there may be anywhere in the rest, of which only the used part becomes memory. */
#define NEAR_ROWS ((size_t)1 << 13)
#define FAR_ROWS  ((size_t)1 << 18)
#define ROWS_EACH 8u /* of either kind that one address may be in; if all are taken, its rule is read each time */

/* Rows are taken for ever. `rule` is 0 until it is known. */
typedef struct rule_row {
  uint64_t pc; /* 0: free; atomic */
  union {
    hearth_cfi_rule rule;
    uint64_t word; /* atomic */
  };
} rule_row;

_Static_assert(sizeof(hearth_cfi_rule) == sizeof(uint64_t), "a rule is stored at once");

static rule_row *rows;

/* Once. False: there is no need of rules, or no address space. */
static bool create_rules(void) {
  if (!HEARTH_CFI_IS_USED)
    return false;
  rows = hearth_system_map_sparse((NEAR_ROWS + FAR_ROWS) * sizeof *rows);
  return rows != NULL;
}

/* Code of no module that is known may be in one that is loaded later. *ret_lasting: that cannot be. A signal handler
 * that interrupted a critical section does not wait for the lock of the mappings. */
static __attribute__((noinline)) hearth_cfi_rule read_rule(uint64_t pc, bool *ret_lasting) {
  if (!hearth_reentry_is_nested())
    hearth_mappings_cover(&pc, 1);
  const hearth_mapping *module = hearth_mappings_find(pc);

  *ret_lasting = module != NULL;
  if (!module || module->frame_header == 0)
    return (hearth_cfi_rule){.kind = HEARTH_CFI_NONE};
  hearth_cfi_tables tables = {module->frame_header, module->frame_low, module->frame_high, hearth_os_peek};
  return hearth_cfi_find(&tables, pc);
}

/* The row of `pc` among `count`, a power of two; taken if need be; NULL: all that it may be in are others'. */
static inline rule_row *row_among(rule_row *among, size_t count, uint64_t pc) {
  size_t first = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 40); /* 2^64 / golden ratio */

  for (size_t i = 0; i < ROWS_EACH; ++i) {
    rule_row *row = &among[(first + i) % count];
    uint64_t there = __atomic_load_n(&row->pc, __ATOMIC_RELAXED);
    if (there == pc)
      return row;
    if (there == 0 &&
        (__atomic_compare_exchange_n(&row->pc, &there, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || there == pc))
      return row;
  }
  return NULL;
}

static inline rule_row *rule_row_of(uint64_t pc) {
  rule_row *row = row_among(rows, NEAR_ROWS, pc);

  return row ? row : row_among(rows + NEAR_ROWS, FAR_ROWS, pc);
}

void hearth_unwind_forget_closed(void) {
  for (size_t i = 0; rows && i < NEAR_ROWS + FAR_ROWS; i++) {
    uint64_t pc = __atomic_load_n(&rows[i].pc, __ATOMIC_RELAXED);
    if (pc && !hearth_mappings_find(pc))
      __atomic_store_n(&rows[i].word, 0, __ATOMIC_RELAXED);
  }
}

/* The rule of the code at `pc`, of the module that is loaded there. HEARTH_CFI_NONE: there is none that can be used. */
static hearth_cfi_rule find_rule(uint64_t pc) {
  rule_row *row = rule_row_of(pc);
  rule_row copy = {.word = row ? __atomic_load_n(&row->word, __ATOMIC_RELAXED) : 0};
  bool lasting;

  if (__builtin_expect(copy.rule.known, true))
    return copy.rule;
  copy.rule = read_rule(pc, &lasting);
  copy.rule.known = lasting;
  if (row && lasting)
    __atomic_store_n(&row->word, copy.word, __ATOMIC_RELAXED);
  return copy.rule;
}

/* -- stacks ------------------------------------------------------------------------------------------------------------- */

/* The main thread's stack grows; the kernel keeps at least this much below its top free of other mappings. */
#define MAIN_STACK_ROOM    ((uintptr_t)128 << 20)
#define LEAST_CODE_ADDRESS ((uintptr_t)4096)

static hearth_stack_range main_stack;
static uintptr_t main_thread; /* 0: not known, since another one began */
static bool uses_rules;       /* else all code is taken to have frame pointers */

static bool range_contains(hearth_stack_range range, uintptr_t address) {
  return address >= range.low && address < range.high;
}

static bool is_main_stack(const hearth_maps_entry *entry) {
  static const char name[] = "[stack]";

  return entry->path_size == sizeof name - 1 && memcmp(entry->path, name, sizeof name - 1) == 0;
}

/* The readable mapping that `address` lies in, for 0 the main thread's stack; empty if none is found. */
static hearth_stack_range find_stack_mapping(uintptr_t address) {
  char buffer[512]; /* small: this may run on a thread with the least of stacks */
  hearth_stack_range found = {0, 0, false};
  hearth_maps maps;
  hearth_maps_entry entry;

  if (!hearth_maps_open(&maps, buffer, sizeof buffer))
    return found;
  while (hearth_maps_next(&maps, &entry))
    if (address ? address >= entry.start && address < entry.end : is_main_stack(&entry)) {
      if (entry.readable)
        found = (hearth_stack_range){entry.start, entry.end, false};
      break;
    }
  hearth_maps_close(&maps);
  return found;
}

void hearth_unwind_begin(bool frame_pointers_only) {
  bool is_main = hearth_os_is_main_thread();

  uses_rules = !frame_pointers_only && create_rules();
  main_stack = find_stack_mapping(0);
  if (!main_stack.high && is_main)
    main_stack = find_stack_mapping((uintptr_t)HEARTH_THIS_FRAME);
  main_stack.lasting = true;
  if (main_stack.high)
    main_stack.low = main_stack.high - MAIN_STACK_ROOM;
  main_thread = is_main ? hearth_os_thread_pointer() : 0;
}

static bool is_main_thread(uintptr_t thread) {
  return main_thread ? thread == main_thread : hearth_os_is_main_thread();
}

/* The stack that `address` lies in. Unknown ones are looked up once for each thread. */
static hearth_stack_range stack_of(uintptr_t address) {
  hearth_stack_range *stacks = hearth_this_thread.stacks;
  bool known = !hearth_reentry_is_nested(); /* a signal handler may have interrupted the code below */

  for (unsigned i = 0; known && i < HEARTH_STACK_RANGES; ++i)
    if (range_contains(stacks[i], address))
      return stacks[i];
  hearth_stack_range range = range_contains(main_stack, address) ? main_stack : find_stack_mapping(address);
  /* Neighbouring mappings may have been joined. A thread's control block lies at the top of its stack. */
  uintptr_t thread = hearth_os_thread_pointer();
  if (range_contains(range, thread)) {
    range.lasting = address < thread && !is_main_thread(thread);
    if (address < thread)
      range.high = thread;
    else
      range.low = thread;
  }
  if (!known)
    return range;
  for (unsigned i = HEARTH_STACK_RANGES - 1; i > 0; --i)
    stacks[i] = stacks[i - 1];
  stacks[0] = range;
  return range;
}

hearth_stack_range hearth_unwind_stack(const hearth_frame *frame) { return stack_of((uintptr_t)(frame + 1) - 1); }

/* The registers at the return of a call, and how they were found. */
typedef struct walk {
  uintptr_t pc, sp, bp;
  uintptr_t bp_at;          /* where bp was saved; 0: that is in the trail */
  hearth_stack_range stack; /* empty: not looked up yet */
  const hearth_frame *first;
  bool chained; /* frame pointers alone led here; then nothing is in the trail yet */
  hearth_trail *trail;
} walk;

/* Copy words of the callers' frames. Ranges are remembered, and coroutines' may have changed since: only the page of
 * the return address that was used last, just below sp, is readable for certain. */
static inline bool load_words(walk *walk, uintptr_t address, uintptr_t *ret_words, size_t count) {
  size_t size = count * sizeof *ret_words;

  if (!walk->stack.high)
    walk->stack = stack_of(walk->sp - 1);
  if (address < walk->sp || address % sizeof *ret_words != 0 || address >= walk->stack.high ||
      walk->stack.high - address < size)
    return false;
  if (!walk->stack.lasting && (address + size - 1) / HEARTH_PAGE_BYTES != (walk->sp - 1) / HEARTH_PAGE_BYTES)
    return hearth_os_peek(address, ret_words, size);
  for (size_t i = 0; i < count; ++i)
    ret_words[i] = ((const uintptr_t *)address)[i];
  return true;
}

static void note_word(walk *walk, uintptr_t at, uintptr_t value) {
  hearth_trail *trail = walk->trail;

  if (trail->word_count < HEARTH_TRAIL_MOST)
    trail->own[trail->word_count] = (hearth_stack_word){(const uintptr_t *)at, value};
  ++trail->word_count;
}

/* Where things lie from here on depends on bp. */
static void note_bp(walk *walk) {
  if (walk->bp_at)
    note_word(walk, walk->bp_at, walk->bp);
  walk->bp_at = 0;
}

/* The address number `index` of those written is the word noted last. */
static inline void note_return(const walk *walk, size_t index, uintptr_t bp_at) {
  hearth_trail *trail = walk->trail;

  if (trail->word_count <= HEARTH_TRAIL_MOST)
    trail->return_words[index] = (uint8_t)((trail->word_count - 1) | (bp_at ? 0 : HEARTH_TRAIL_BLIND));
}

/* From the first frame to the last one, whose bp is where it is now. */
static void note_chain(walk *walk) {
  const hearth_frame *frame = walk->first;

  if (!walk->stack.lasting)
    return;
  for (size_t index = 0;; ++index, frame = frame->caller) {
    note_word(walk, (uintptr_t)&frame->return_address, frame->return_address);
    note_return(walk, index, (uintptr_t)&frame->caller);
    if ((uintptr_t)frame == walk->bp_at)
      break;
    note_word(walk, (uintptr_t)&frame->caller, (uintptr_t)frame->caller);
  }
}

/* Does the start code's frame begin there? Nothing of interest lies behind it. */
static inline bool is_root(walk *walk, uintptr_t sp) {
  uintptr_t root = hearth_this_thread.root;

  if (__builtin_expect(!root || sp < root, true))
    return false;
  if (!walk->stack.high)
    walk->stack = stack_of(walk->sp - 1);
  return walk->stack.lasting;
}

static inline bool follow_frame_pointer(walk *walk) {
  uintptr_t words[2], at = walk->bp;

  if (!walk->chained)
    note_bp(walk);
  if (!load_words(walk, at, words, 2) || is_root(walk, hearth_frame_callers_part(at, words[0])))
    return false;
  walk->bp = words[0];
  walk->bp_at = at;
  walk->pc = hearth_code_address(words[1]);
  walk->sp = at + sizeof words;
  if (!walk->chained)
    note_word(walk, at + sizeof words[0], words[1]);
  return true;
}

/* Load the CFA, and the caller's bp from where bp points to. */
static bool load_aligned(walk *walk, uintptr_t *cfa) {
  uintptr_t at = *cfa, bp_at = walk->bp;

  if (!load_words(walk, at, cfa, 1) || !load_words(walk, bp_at, &walk->bp, 1))
    return false;
  note_word(walk, at, *cfa);
  walk->bp_at = bp_at;
  return true;
}

static bool load_bp(walk *walk, uintptr_t at) {
  walk->bp_at = at;
  return load_words(walk, at, &walk->bp, 1);
}

static bool follow_rule(walk *walk, hearth_cfi_rule rule) {
  uintptr_t cfa = (rule.kind == HEARTH_CFI_RSP ? walk->sp : walk->bp) + (uintptr_t)(intptr_t)rule.cfa, pc;

  if (!walk->stack.high)
    walk->stack = stack_of(walk->sp - 1);
  if (rule.kind == HEARTH_CFI_RSP && is_root(walk, cfa))
    return false;
  if (walk->chained)
    note_chain(walk);
  walk->chained = false;
  if (rule.kind != HEARTH_CFI_RSP)
    note_bp(walk);
  if ((rule.kind == HEARTH_CFI_LOADED && !load_aligned(walk, &cfa)) || is_root(walk, cfa) ||
      !load_words(walk, cfa - sizeof pc, &pc, 1) || (rule.rbp && !load_bp(walk, cfa + (uintptr_t)(intptr_t)rule.rbp)))
    return false;
  note_word(walk, cfa - sizeof pc, pc);
  walk->pc = pc;
  walk->sp = cfa;
  return true;
}

static bool is_frame_pointers(hearth_cfi_rule rule) {
  return rule.kind == HEARTH_CFI_NONE || (rule.kind == HEARTH_CFI_RBP && rule.cfa == 16 && rule.rbp == -16);
}

bool hearth_unwind_is_linked(uint64_t pc) {
  if (!uses_rules)
    return pc >= LEAST_CODE_ADDRESS;
  hearth_cfi_rule rule = find_rule(pc);
  return rule.known && is_frame_pointers(rule);
}

/* Walk on to the caller. False: there is none. */
static bool follow_caller(walk *walk, hearth_cfi_rule rule) {
  if (is_frame_pointers(rule))
    return follow_frame_pointer(walk);
  return rule.kind != HEARTH_CFI_ROOT && follow_rule(walk, rule);
}

static inline bool is_at_place(const walk *walk, const hearth_trail_place *place) {
  return walk->sp == place->sp && walk->pc == place->pc &&
         (!place->bp_at || (walk->bp_at == place->bp_at && walk->bp == place->bp));
}

/* Has the walk come to the known part? Places that it has passed are dropped from `known`. */
static inline bool is_on_known_part(const walk *walk, hearth_known_stack *known) {
  if (walk->chained)
    return false;
  while (known->places < known->end && known->places->sp < walk->sp)
    ++known->places;
  return known->places < known->end && is_at_place(walk, known->places);
}

size_t hearth_unwind(const hearth_frame *frame, const hearth_known_stack *known, uint64_t *ret_pcs, size_t most,
                     hearth_trail *ret_trail) {
  walk walk = {.pc = hearth_code_address(frame->return_address),
               .sp = (uintptr_t)(frame + 1),
               .bp = (uintptr_t)frame->caller,
               .bp_at = (uintptr_t)&frame->caller,
               .first = frame,
               .chained = true,
               .trail = ret_trail};
  hearth_known_stack left = known ? *known : (hearth_known_stack){NULL, NULL};
  size_t count = 0, looked_at = 0;
  bool found =
      most > 0 && !is_root(&walk, hearth_frame_callers_part(
                                      (uintptr_t)frame,
                                      walk.bp)); /* where main jumped to `free`, say, nothing of the program is left */

  ret_trail->word_count = 0;
  ret_trail->words = ret_trail->own;
  ret_trail->ends_at = NULL;
  while (found) {
    if (is_on_known_part(&walk, &left)) {
      ret_trail->ends_at = left.places;
      break;
    }
    ++looked_at;
    if (walk.pc < LEAST_CODE_ADDRESS)
      break;
    hearth_cfi_rule rule = {.kind = HEARTH_CFI_NONE};
    if (uses_rules)
      rule = find_rule(walk.pc - 1);
    if (rule.kind == HEARTH_CFI_ROOT && !walk.chained) {
      if (walk.stack.lasting && !hearth_reentry_is_nested())
        hearth_this_thread.root = walk.sp;
      break;
    }
    if (!walk.chained)
      note_return(&walk, count, walk.bp_at);
    ret_pcs[count++] = walk.pc - 1;
    found = count < most && follow_caller(&walk, rule);
  }
  ret_trail->lasts = walk.stack.lasting && !hearth_reentry_is_nested();
  ret_trail->frame_count = walk.chained ? looked_at : 0;
  return count;
}
