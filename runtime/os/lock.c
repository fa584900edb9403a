/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waiting with patience, for a thread that takes all locks. */
#include "lock.h"

#define PATIENCE_NS UINT64_C(1000000000)

uintptr_t hearth_forking_thread;
bool hearth_lock_others_are_gone;

bool hearth_patience_left(hearth_patience *patience) {
  uint64_t now_ns = hearth_os_now_ns();

  if (!patience->start_ns)
    patience->start_ns = now_ns;
  hearth_os_yield();
  return now_ns - patience->start_ns <= PATIENCE_NS;
}

bool hearth_lock_take_or_keep(hearth_lock *lock) {
  if (hearth_lock_is_mine(lock)) {
    lock->kept = true;
    return true;
  }
  hearth_patience patience = {0};
  while (!hearth_lock_try(lock))
    if (!hearth_patience_left(&patience)) {
      lock->kept = true;
      return false;
    }
  return true;
}

void hearth_lock_give_or_keep(hearth_lock *lock) {
  bool kept = lock->kept && (hearth_lock_is_mine(lock) || !hearth_lock_others_are_gone);

  lock->kept = false;
  if (!kept)
    hearth_lock_give(lock);
}
