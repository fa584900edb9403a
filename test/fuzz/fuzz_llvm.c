/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fuzz target: LLVM's indexed profiles, and files with Hearth's profile behind them: read, and written into. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/llvm_profile.h"
#include "profile_verifier.h"

/* The version that profiles are written in to be compared: the first export is a normal form, which every further trip
 * through either version leaves as it is. */
enum { NORMAL = 4 };

typedef struct section {
  void *data;
  size_t size;
} section;

static hearth_profile *open_or_abort(const void *data, size_t size) {
  hearth_error err;
  hearth_profile *profile;
  if (hearth_profile_open_memory(data, size, "written", &profile, &err) != HEARTH_OK ||
      hearth_profile_verify(profile, &err) != HEARTH_OK)
    abort();
  return profile;
}

static section section_or_abort(hearth_profile *profile, uint32_t version) {
  section made;
  hearth_error err;
  hearth_llvm_output output = {.section = version};
  if (hearth_llvm_write_memory(profile, &output, &made.data, &made.size, NULL, &err) != HEARTH_OK)
    abort();
  return made;
}

static bool equal_sections(section a, section b) { return a.size == b.size && memcmp(a.data, b.data, a.size) == 0; }

/* `normal` is that of the original. */
static void check_section(hearth_profile *original, uint32_t version, section normal) {
  section first = section_or_abort(original, version);
  hearth_profile *profile = open_or_abort(first.data, first.size);
  section second = section_or_abort(profile, version), again = section_or_abort(profile, NORMAL);
  if (!equal_sections(first, second) || !equal_sections(again, normal))
    abort();
  hearth_profile_close(profile);
  free(first.data);
  free(second.data);
  free(again.data);
}

/* What is put into the container. */
static const char heap_text[] = "hearth-profile-text 1\n"
                                "run duration_ns=1000000000\n"
                                "context\n"
                                "  frame inner m.c 1 2 7 0 inlined\n"
                                "  frame outer m.c 9 1 1 3\n"
                                "  AllocCount 2\n"
                                "  TotalSize 64\n"
                                "  TotalAccessCount 5\n";

typedef struct heap {
  void *data; /* an indexed profile */
  size_t size;
  hearth_profile *profile;
  section normal;
} heap;

static heap make_heap(void) {
  heap made;
  hearth_error err;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  if (!builder || hearth_builder_read_text(builder, heap_text, sizeof heap_text - 1, "heap", &err) != HEARTH_OK ||
      hearth_builder_write_memory(builder, &made.data, &made.size, &err) != HEARTH_OK)
    abort();
  hearth_builder_destroy(builder);
  made.profile = open_or_abort(made.data, made.size);
  made.normal = section_or_abort(made.profile, NORMAL);
  return made;
}

/* What was put in is found again, and put in once more, nothing changes. */
static void check_written(const heap *heap, const hearth_llvm_output *output, const void *written, size_t size) {
  hearth_error err;
  hearth_llvm_contents contents;
  hearth_llvm_output again = *output;
  void *second;
  size_t second_size;
  if (hearth_llvm_inspect(written, size, "written", &contents, &err) != HEARTH_OK ||
      contents.trailer_size != output->trailer_size || !contents.section_offset != !output->section)
    abort();
  hearth_profile *profile = open_or_abort(written, size);
  section normal = section_or_abort(profile, NORMAL);
  again.base = written;
  again.base_size = size;
  if (!equal_sections(normal, heap->normal) ||
      hearth_llvm_write_memory(heap->profile, &again, &second, &second_size, NULL, &err) != HEARTH_OK ||
      second_size != size || memcmp(second, written, size) != 0)
    abort();
  hearth_profile_close(profile);
  free(normal.data);
  free(second);
}

/* Into a container that was accepted or not; the writer may refuse it, too. */
static void put_heap_into(const uint8_t *data, size_t size) {
  static heap heap;
  static const struct {
    uint32_t section;
    bool trailer;
  } ways[] = {{0, true}, {3, false}, {4, false}, {4, true}};
  if (!heap.data)
    heap = make_heap();
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    hearth_error err;
    hearth_llvm_output output = {.section = ways[i].section, .base = data, .base_name = "base", .base_size = size};
    if (ways[i].trailer) {
      output.trailer = heap.data;
      output.trailer_size = heap.size;
    }
    void *written;
    size_t written_size;
    if (hearth_llvm_write_memory(heap.profile, &output, &written, &written_size, NULL, &err) != HEARTH_OK)
      continue;
    check_written(&heap, &output, written, written_size);
    free(written);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hearth_error err;
  hearth_profile *profile;
  hearth_profile_summary summary;
  if (!hearth_llvm_is_container(data, size))
    return 0;
  put_heap_into(data, size);
  if (hearth_profile_open_memory(data, size, "fuzz", &profile, &err) != HEARTH_OK)
    return 0;
  if (hearth_profile_verify(profile, &err) == HEARTH_OK &&
      hearth_profile_get_summary(profile, &summary, &err) == HEARTH_OK && summary.id_scheme == HEARTH_IDS_LLVM) {
    section normal = section_or_abort(profile, NORMAL);
    check_section(profile, 3, normal);
    check_section(profile, 4, normal);
    free(normal.data);
  }
  hearth_profile_close(profile);
  return 0;
}
