/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces: any events come back as they were written, and no truncated or flipped byte leads astray. */
#include "profile_fixture.h"

#include "hearth/trace.h"
#include "trace_writer.h"

enum { EVENTS = 3000, NODES = 500 };

static uint64_t random_state;

static uint64_t draw(uint64_t below) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (random_state >> 33) % below;
}

/* Mostly what programs do, and now and then anything. */
static hearth_trace_event draw_event(uint64_t *time) {
  hearth_trace_event e = {.kind = (uint8_t)draw(HEARTH_TRACE_KINDS),
                          .address = 0x7f0000000020 + 64 * draw(300),
                          .size = draw(10) * 24,
                          .stack = draw(20) ? (uint32_t)draw(NODES) : HEARTH_TRACE_NO_STACK};
  e.begin_ns = *time += draw(200);
  e.stack_ns = *time += draw(500);
  e.end_ns = *time += draw(50);
  if (draw(50) == 0)
    e = (hearth_trace_event){.kind = e.kind,
                             .address = random_state,
                             .size = random_state / 2,
                             .stack = (uint32_t)draw(NODES),
                             .begin_ns = draw(UINT64_MAX),
                             .stack_ns = draw(UINT64_MAX),
                             .end_ns = draw(UINT64_MAX)};
  return e;
}

static bytes write_trace(hearth_trace_event *events, uint32_t count) {
  hearth_trace_info info = {
      .pid = 7, .start_ns = 8, .start_unix_ns = 9, .stack_depth = 64, .command = "a\0b", .command_size = 4};
  hearth_trace_writer *w = hearth_trace_writer_create(&info);
  hearth_trace_mapping mapping = {
      .start = 1, .end = 2, .path = "/bin/x", .build_id = (const uint8_t *)"id", .build_id_size = 2};
  bytes b;
  uint64_t time = 0;
  hearth_trace_writer_add_mapping(w, &mapping);
  for (uint32_t i = 0; i < NODES; ++i)
    hearth_trace_writer_add_node(
        w, &(hearth_raw_stack_node){1000 + draw(1000), i ? (uint32_t)draw(i) : HEARTH_TRACE_NO_STACK});
  for (uint32_t i = 0; i < count; ++i)
    events[i] = draw_event(&time);
  hearth_trace_writer_add_block(w, events, count / 2, 1);
  hearth_trace_writer_add_block(w, events + count / 2, count - count / 2, 2);
  hearth_trace_writer_add_end(w, &(hearth_trace_end){.duration_ns = time});
  assert_int_equal(hearth_trace_writer_finish(w, (uint8_t **)&b.data, &b.size, NULL), HEARTH_OK);
  return b;
}

static void events_come_back(void **state) {
  (void)state;
  for (random_state = 1; random_state < 20; ++random_state) {
    uint64_t seed = random_state;
    hearth_trace_event *events = calloc(EVENTS, sizeof *events), *back = calloc(HEARTH_TRACE_EVENTS_MOST, sizeof *back);
    bytes b = write_trace(events, EVENTS);
    hearth_trace *trace;
    hearth_error err;
    assert_int_equal(hearth_trace_open_memory(b.data, b.size, "t", &trace, &err), HEARTH_OK);
    for (uint32_t block = 0; block < 2; ++block) {
      uint32_t count, thread;
      assert_int_equal(hearth_trace_read_block(trace, block, back, &count, &thread, &err), HEARTH_OK);
      assert_int_equal(thread, block + 1);
      assert_int_equal(count, EVENTS / 2);
      for (uint32_t i = 0; i < count; ++i)
        if (memcmp(&back[i], &events[block * EVENTS / 2 + i], offsetof(hearth_trace_event, kind) + 1) != 0)
          fail_msg("event %u of block %u differs, seed %llu", i, block, (unsigned long long)seed);
    }
    hearth_trace_close(trace);
    free(b.data);
    free(events);
    free(back);
    random_state = seed;
  }
}

static hearth_status pass(void *data, const hearth_trace_event *event, uint32_t thread, hearth_error *err) {
  (void)data, (void)event, (void)thread, (void)err;
  return HEARTH_OK;
}

static void walk(const void *data, size_t size, hearth_status *ret_open, hearth_trace_info *ret_info) {
  uint8_t *copy = memcpy(malloc(size + !size), data, size); /* so that a sanitizer sees reads behind it */
  hearth_trace *trace;
  hearth_error err;
  *ret_open = hearth_trace_open_memory(copy, size, "t", &trace, &err);
  if (*ret_open == HEARTH_OK) {
    hearth_trace_get_info(trace, ret_info);
    hearth_trace_visit(trace, pass, NULL, &err);
    hearth_trace_close(trace);
  }
  free(copy);
}

static void every_prefix_is_valid(void **state) {
  (void)state;
  random_state = 1;
  hearth_trace_event events[200];
  bytes b = write_trace(events, 200);
  hearth_trace_info info;
  hearth_status status;
  for (size_t size = 0; size < b.size; ++size) {
    walk(b.data, size, &status, &info);
    if (size < 56) /* the header */
      assert_int_not_equal(status, HEARTH_OK);
    else if (status != HEARTH_OK || info.damaged_blocks != 0)
      fail_msg("cut at %zu", size);
  }
  free(b.data);
}

/* A block that is flipped is passed over, the others stay. */
static void every_flip_is_seen(void **state) {
  (void)state;
  random_state = 1;
  hearth_trace_event events[200];
  bytes b = write_trace(events, 200);
  hearth_trace_info info;
  hearth_status status;
  for (size_t at = 56; at < b.size; ++at) {
    ((uint8_t *)b.data)[at] ^= 0x10;
    walk(b.data, b.size, &status, &info);
    if (status == HEARTH_OK && info.damaged_blocks == 0 && !info.truncated)
      fail_msg("flip at %zu", at);
    ((uint8_t *)b.data)[at] ^= 0x10;
  }
  free(b.data);
}

static void live_blocks_are_found(void **state) {
  (void)state;
  hearth_live_blocks live = {0};
  hearth_live_block found, reference[512] = {0};
  size_t count = 0;
  random_state = 3;
  for (int i = 0; i < 200000; ++i) {
    uint64_t address = 64 * (1 + draw(511));
    hearth_live_block *expected = &reference[address / 64];
    if (draw(2)) {
      hearth_live_block block = {.address = address, .size = draw(1000)};
      assert_true(hearth_live_blocks_add(&live, &block, &found));
      assert_int_equal(found.address, expected->address);
      count += !expected->address;
      *expected = block;
    } else {
      assert_int_equal(hearth_live_blocks_remove(&live, address, &found), expected->address != 0);
      if (expected->address)
        assert_int_equal(found.size, expected->size);
      count -= expected->address != 0;
      expected->address = 0;
    }
    assert_int_equal(live.count, count);
  }
  hearth_live_blocks_free(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(events_come_back), cmocka_unit_test(every_prefix_is_valid),
                                     cmocka_unit_test(every_flip_is_seen), cmocka_unit_test(live_blocks_are_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
