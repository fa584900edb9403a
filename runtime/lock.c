#include "lock.h"

#define PATIENCE_NS UINT64_C(1000000000)

uintptr_t hearth_forking_thread;
bool hearth_lock_others_are_gone;

bool hearth_lock_take_or_keep(hearth_lock *lock) {
  if (hearth_lock_is_mine(lock)) {
    lock->kept = true;
    return true;
  }
  for (uint64_t start_ns = 0; !hearth_lock_try(lock); hearth_os_yield()) {
    uint64_t now_ns = hearth_os_now_ns();
    start_ns = start_ns ? start_ns : now_ns;
    if (now_ns - start_ns > PATIENCE_NS) {
      lock->kept = true;
      return false;
    }
  }
  return true;
}

void hearth_lock_give_or_keep(hearth_lock *lock) {
  bool kept = lock->kept && (hearth_lock_is_mine(lock) || !hearth_lock_others_are_gone);

  lock->kept = false;
  if (!kept)
    hearth_lock_give(lock);
}
