#include "linked_start.h"

#include "heap.h"
#include "message.h"
#include "runtime.h"

#include <stdlib.h>

/* Asking the loader for malloc's address would not do: of a program that is not position-independent and has taken it, that is
 * an entry of its own. */
static bool is_malloc_ours(void) {
  void *block = malloc(1);
  hearth_block *unused;
  bool ours = hearth_heap_find(block, &unused) != HEARTH_POINTER_FOREIGN;
  free(block);
  return ours;
}

bool hearth_linked_is_to_record(void) {
  if (is_malloc_ours())
    return true;
  hearth_start_without_blocks();
  hearth_message(
      "nothing is recorded: another malloc comes before that of libhearth_rt.so; link the program with 'hearth "
      "flags instrument --link', or preload the library (LD_PRELOAD=$(hearth flags instrument --preload))");
  return false;
}
