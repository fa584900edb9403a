#include "unwind.h"

#include "os.h"
#include "proc_maps.h"
#include "section.h"
#include "thread_state.h"

/* The main thread's stack grows; the kernel keeps at least this much below its top free of other mappings. */
#define MAIN_STACK_SPAN    ((uintptr_t)128 << 20)
#define LEAST_CODE_ADDRESS ((uintptr_t)4096)

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_threads_known;

static hearth_stack_range main_stack;
static uintptr_t main_thread;

static bool range_contains(hearth_stack_range range, uintptr_t address) {
  return address >= range.low && address < range.high;
}

/* The readable mapping that `address` lies in; empty if none is found. */
static hearth_stack_range find_mapping(uintptr_t address) {
  char buffer[512]; /* small: this may run on a thread with the least of stacks */
  hearth_stack_range found = {0, 0, false};
  hearth_maps maps;
  hearth_maps_entry entry;

  if (!hearth_maps_open(&maps, buffer, sizeof buffer))
    return found;
  while (hearth_maps_next(&maps, &entry))
    if (address >= entry.start && address < entry.end) {
      if (entry.readable)
        found = (hearth_stack_range){entry.start, entry.end, false};
      break;
    }
  hearth_maps_close(&maps);
  return found;
}

void hearth_unwind_begin(void) {
  main_stack = find_mapping((uintptr_t)HEARTH_THIS_FRAME);
  main_stack.lasting = true;
  if (main_stack.high)
    main_stack.low = main_stack.high - MAIN_STACK_SPAN;
  main_thread = hearth_os_thread_pointer();
}

/* The stack that `address` lies in. Unknown ones are looked up once for each thread. */
static hearth_stack_range stack_of(uintptr_t address) {
  hearth_stack_range *stacks = hearth_this_thread.stacks;
  bool known = !hearth_section_is_nested(); /* a signal handler may have interrupted what follows */

  for (unsigned i = 0; known && i < HEARTH_STACK_RANGES; ++i)
    if (range_contains(stacks[i], address))
      return stacks[i];
  hearth_stack_range range = range_contains(main_stack, address) ? main_stack : find_mapping(address);
  /* Neighbouring mappings may have been joined. A thread's control block lies at the top of its stack. */
  uintptr_t thread = hearth_os_thread_pointer();
  if (range_contains(range, thread)) {
    range.lasting = address < thread && thread != main_thread;
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

/* Is all of a frame on the page of a lower one, which is readable? */
static bool on_page(const hearth_frame *frame, const hearth_frame *lower) {
  return ((uintptr_t)(frame + 1) - 1) / HEARTH_OS_PAGE == ((uintptr_t)(lower + 1) - 1) / HEARTH_OS_PAGE;
}

/* Ranges are remembered, and coroutines' may have changed since. */
static bool is_readable(const hearth_frame *frame, const hearth_frame *lower, hearth_stack_range stack) {
  hearth_frame copy;

  return stack.lasting || on_page(frame, lower) || hearth_os_peek((uintptr_t)frame, &copy, sizeof copy);
}

size_t hearth_unwind(const hearth_frame *frame, uint64_t *ret_pcs, size_t most, size_t *ret_looked_at) {
  hearth_stack_range stack = {0, 0, false};
  size_t count = 0, looked_at = 0;

  while (count < most) {
    ++looked_at;
    if (frame->return_address < LEAST_CODE_ADDRESS)
      break;
    ret_pcs[count++] = frame->return_address - 1;
    const hearth_frame *caller = frame->caller;
    if (caller <= frame || (uintptr_t)caller % sizeof(void *) != 0)
      break;
    if (!stack.high)
      stack = stack_of((uintptr_t)frame);
    if ((uintptr_t)caller >= stack.high || stack.high - (uintptr_t)caller < sizeof *caller ||
        !is_readable(caller, frame, stack))
      break;
    frame = caller;
  }
  *ret_looked_at = stack.lasting && !hearth_section_is_nested() ? looked_at : 0;
  return count;
}

size_t hearth_fold_recursion(uint64_t *pcs, size_t depth) {
  size_t kept = depth; /* pcs[kept..depth) is kept of what was looked at, from the root on */

  for (size_t i = depth; i-- > 0;) {
    size_t same = kept;
    while (same < depth && pcs[same] != pcs[i])
      ++same;
    if (same < depth)
      kept = same;
    else
      pcs[--kept] = pcs[i];
  }
  for (size_t i = kept; i < depth; ++i)
    pcs[i - kept] = pcs[i];
  return depth - kept;
}
