/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frame chains: the stacks and contexts that they give are those of unwinding and folding all of each stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "known_stacks.h"
#include "machine.h"
#include "random_calls.h"
#include "thread_state.h"

#include <string.h>

#define DEPTH_MOST 40

typedef struct setting {
  size_t most;
  bool folds;
  unsigned times;
  bool no_root;
} setting;

static hearth_frame_chain chain;
static setting set;
static size_t captured, known, differing;

/* A number that stands for the stack. */
static uint32_t number_of(const uint64_t *pcs, size_t depth) {
  uint64_t number = UINT64_C(0xcbf29ce484222325);

  for (size_t i = 0; i < depth; i++)
    number = (number ^ pcs[i]) * UINT64_C(0x100000001b3);
  return (uint32_t)(number ^ number >> 32) | 1;
}

__attribute__((noinline)) static void capture(void) {
  const hearth_frame *frame = HEARTH_THIS_FRAME;
  uint64_t pcs[HEARTH_DEPTH_MOST], expected[HEARTH_DEPTH_MOST];
  hearth_trail trail;

  size_t unfolded = hearth_unwind(frame, NULL, expected, set.most, &trail);
  size_t depth = set.folds ? hearth_fold_recursion(expected, unfolded) : unfolded;
  captured++;
  uint32_t context = hearth_frame_chain_find(&chain, frame, true);
  if (context) {
    known++;
    differing += context != number_of(expected, depth);
  }
  if (!chain.complete) {
    if (trail.lasts && trail.frame_count > 0 && trail.frame_count < set.most)
      hearth_frame_chain_end(&chain, frame, trail.frame_count,
                             (hearth_chain_manner){.most = set.most, .folds = set.folds});
    return;
  }
  size_t count = hearth_frame_chain_copy(&chain, pcs);
  differing += count != depth || memcmp(pcs, expected, depth * sizeof *pcs) != 0;
  hearth_frame_chain_set_context(&chain, number_of(pcs, count));
}

static void *work(void *closure) {
  set = *(const setting *)closure;
  hearth_this_thread.root = set.no_root ? 0 : HEARTH_ROOT_OF_CALLED + sizeof(hearth_frame);
  hearth_frame_chain_forget(&chain);
  random_state = 1;
  captured = known = differing = 0;
  capture();
  for (unsigned i = 0; i < set.times; i++) {
    one(DEPTH_MOST);
    capture();
  }
  return NULL;
}

static void check(setting chosen) {
  pthread_t thread;

  assert_int_equal(pthread_create(&thread, NULL, work, &chosen), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(differing, 0);
  assert_true(captured > chosen.times && known > 100);
}

static void test_folded(void **state) {
  (void)state;
  check((setting){.most = HEARTH_DEPTH_MOST, .folds = true, .times = 5000});
}

static void test_full(void **state) {
  (void)state;
  check((setting){.most = HEARTH_DEPTH_MOST, .times = 5000});
}

static void test_deeper_than_wanted(void **state) {
  (void)state;
  check((setting){.most = 12, .folds = true, .times = 5000});
}

/* Frame pointers lead to the thread's end. */
static void test_root_not_known(void **state) {
  (void)state;
  check((setting){.most = HEARTH_DEPTH_MOST, .folds = true, .times = 1000, .no_root = true});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_folded),
      cmocka_unit_test(test_full),
      cmocka_unit_test(test_deeper_than_wanted),
      cmocka_unit_test(test_root_not_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
