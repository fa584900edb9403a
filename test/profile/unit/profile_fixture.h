/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles for tests: from text, back to text, and random ones from a fixed seed. */
#ifndef HEARTH_TEST_PROFILE_FIXTURE_H
#define HEARTH_TEST_PROFILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hearth/builder.h"
#include "hearth/classify.h"
#include "profile_verifier.h"

typedef struct bytes {
  void *data;
  size_t size;
} bytes;

static inline void expect_ok(hearth_status status, const hearth_error *err) {
  if (status != HEARTH_OK)
    fail_msg("status %d: %s", status, err->message);
}

static inline bytes write_bytes(hearth_builder *builder) {
  bytes b;
  hearth_error err;
  expect_ok(hearth_builder_write_memory(builder, &b.data, &b.size, &err), &err);
  return b;
}

static inline bytes bytes_from_text_with(const char *text, enum hearth_id_scheme scheme) {
  hearth_error err;
  hearth_builder *builder = hearth_builder_create(scheme);
  expect_ok(hearth_builder_read_text(builder, text, strlen(text), "text", &err), &err);
  bytes b = write_bytes(builder);
  hearth_builder_destroy(builder);
  return b;
}

static inline bytes bytes_from_text(const char *text) { return bytes_from_text_with(text, HEARTH_IDS_HEARTH); }

/* Text that is refused, and words of the message. */
typedef struct bad_text {
  const char *text, *words;
} bad_text;

static inline void expect_bad_texts(const bad_text *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hearth_error err;
    hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
    assert_int_equal(hearth_builder_read_text(builder, cases[i].text, strlen(cases[i].text), "text", &err),
                     HEARTH_E_FORMAT);
    if (!strstr(err.message, cases[i].words))
      fail_msg("%s", err.message);
    hearth_builder_destroy(builder);
  }
}

static inline hearth_profile *open_bytes(bytes b) {
  hearth_error err;
  hearth_profile *profile;
  expect_ok(hearth_profile_open_memory(b.data, b.size, "memory", &profile, &err), &err);
  return profile;
}

/* Of a profile that our writer wrote: row of the section table, beginning of the section. */
static inline hearth_indexed_section *section_of(bytes b, uint32_t id) {
  return (hearth_indexed_section *)((uint8_t *)b.data + sizeof(hearth_indexed_header)) + (id - 1);
}

static inline void *section_data(bytes b, uint32_t id) { return (uint8_t *)b.data + section_of(b, id)->offset; }

/* The text form in a string to free; NULL if the profile is damaged. */
static inline char *text_of(hearth_profile *profile) {
  char *text;
  size_t size;
  hearth_error err;
  FILE *stream = open_memstream(&text, &size);
  hearth_status status = hearth_profile_print_text(profile, stream, &err);
  fclose(stream);
  if (status == HEARTH_OK)
    return text;
  free(text);
  return NULL;
}

static inline void expect_equal_bytes(bytes a, bytes b) {
  assert_int_equal(a.size, b.size);
  assert_memory_equal(a.data, b.data, a.size);
}

static inline void add_bytes(hearth_builder *builder, bytes b) {
  hearth_error err;
  hearth_profile *profile = open_bytes(b);
  expect_ok(hearth_profile_verify(profile, &err), &err);
  expect_ok(hearth_builder_add_profile(builder, profile, &err), &err);
  hearth_profile_close(profile);
}

static inline bytes merge_bytes(const bytes *inputs, size_t count) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  for (size_t i = 0; i < count; i++)
    add_bytes(builder, inputs[i]);
  bytes merged = write_bytes(builder);
  hearth_builder_destroy(builder);
  return merged;
}

static inline bytes merge_texts(const char *const *texts, size_t count) {
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  for (size_t i = 0; i < count; i++) {
    bytes b = bytes_from_text(texts[i]);
    add_bytes(builder, b);
    free(b.data);
  }
  bytes merged = write_bytes(builder);
  hearth_builder_destroy(builder);
  return merged;
}

/* The text form has the words, and reads as the same bytes. */
static inline void expect_text_twin(bytes b, const char *words) {
  hearth_profile *profile = open_bytes(b);
  char *text = text_of(profile);
  assert_non_null(strstr(text, words));
  bytes again = bytes_from_text(text);
  expect_equal_bytes(b, again);
  hearth_profile_close(profile);
  free(text);
  free(again.data);
}

/* xorshift64*: the same numbers everywhere. */
static inline uint32_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (uint32_t)((*state * UINT64_C(0x2545f4914f6cdd1d)) >> 32);
}

static inline const char *small_profile(void) {
  return "hearth-profile-text 1\n"
         "scheme hearth\n"
         "run duration_ns=4000000000 runs=2 accesses=1 dropped_blocks=3 dropped_frames=1\n"
         "binary store 0123456789abcdef\n"
         "context\n"
         "  frame xmalloc src/util.c 10 2 9 0\n"
         "  frame load src/store.c 80 8 17 2 inlined\n"
         "  frame main src/store.c 100 30 3 0\n"
         "  AllocCount 1000\n"
         "  TotalSize 67108864\n"
         "  TotalAccessCount 1000\n"
         "  TotalLifetime 2000000000000\n"
         "  LiveAtExit 1000\n"
         "context\n"
         "  frame xmalloc src/util.c 10 2 9 0\n"
         "  frame main src/store.c 100 31 3 0\n"
         "  AllocCount 500\n"
         "  TotalSize 32000\n"
         "  TotalAccessCount 9000000\n"
         "  TotalLifetime 500000000\n";
}

#endif
