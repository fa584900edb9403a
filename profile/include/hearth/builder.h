/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Build an indexed profile: add contexts in any order, from any number of runs; equal contexts are summed. Memory is
 * bounded by the output. The bytes written depend on the content alone, not on the order in which it was added. */
#ifndef HEARTH_BUILDER_H
#define HEARTH_BUILDER_H

#include "hearth/profile.h"

HEARTH_C_BEGIN

typedef struct hearth_builder hearth_builder;

typedef struct hearth_builder_frame {
  uint32_t function;      /* from hearth_builder_function */
  uint32_t line;          /* offset from the function's first line, modulo 2^32; or HEARTH_LINE_UNKNOWN */
  uint32_t column;        /* 0 unknown */
  uint32_t discriminator; /* any; stored as base discriminator */
  bool inlined;
} hearth_builder_frame;

/* NULL when out of memory. Destroy accepts NULL. */
hearth_builder *hearth_builder_create(enum hearth_id_scheme scheme);
void hearth_builder_destroy(hearth_builder *builder);

/* From now on count each addition `weight` times (at least 1), as if the caller repeated it so often. */
void hearth_builder_set_weight(hearth_builder *builder, uint64_t weight);
/* From now on keep each cycle of a recursion once: where a frame occurs again further from the root, the frames between
 * are left out. Contexts that become equal are summed, so that totals stay. */
void hearth_builder_fold_recursion(hearth_builder *builder, bool fold);

/* From now on leave these fields (1 << enum hearth_mib_column, or-ed) out of each addition: they are 0, unknown, and
 * take no room. AllocCount stays. Without TotalAccessCount accesses count as not counted. */
void hearth_builder_leave_unrecorded(hearth_builder *builder, uint64_t fields);

/* Number of the function with this linkage name and declaring file; equal functions get equal numbers. Strings are
 * copied. Start lines that differ between builds: the greatest is kept (it is for display only). */
hearth_status hearth_builder_function(hearth_builder *builder, const char *linkage_name, const char *path,
                                      uint32_t start_line, uint32_t *ret_function, hearth_error *err);
/* The function with this id, which need not follow from its name: for profiles whose functions have no names. Where two
 * descriptions of a function differ, the choice between them does not depend on their order. `name` is without
 * suffixes, `path` without slashes at its end; either may be "" for unknown; copied. */
hearth_status hearth_builder_function_by_id(hearth_builder *builder, uint64_t id, const char *name, const char *path,
                                            uint32_t start_line, uint32_t *ret_function, hearth_error *err);
/* Add to the context of these frames (leaf first, n >= 1; copied). */
hearth_status hearth_builder_add(hearth_builder *builder, const hearth_builder_frame *frames, size_t n,
                                 const hearth_mib *mib, hearth_error *err);
/* Account for runs: only runs, duration_ns, dropped_blocks, dropped_frames, accesses_counted, accesses_estimated and
 * densities_only are used. */
hearth_status hearth_builder_add_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err);
/* Additions between these two are of one run: at the end each of its contexts is observed for its variance
 * (hearth/classify.h), if `run` says that it is a single one with counted accesses. A run without an end is not
 * observed. */
void hearth_builder_begin_run(hearth_builder *builder);
hearth_status hearth_builder_end_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err);
hearth_status hearth_builder_add_binary(hearth_builder *builder, const char *name, const uint8_t *build_id,
                                        uint32_t build_id_size, hearth_error *err);
/* Add a whole profile. Into a builder of LLVM's scheme, functions of the other one go by their names. E_MISMATCH
 * when that cannot be: names and files do not follow from LLVM's ids, or a function is known by its id only. */
hearth_status hearth_builder_add_profile(hearth_builder *builder, hearth_profile *profile, hearth_error *err);

size_t hearth_builder_context_count(const hearth_builder *builder);

/* The profile, in memory that the caller frees with free(). The builder stays usable. E_FULL when a table outgrows
 * 2^32-2 rows. */
hearth_status hearth_builder_write_memory(hearth_builder *builder, void **ret_data, size_t *ret_size,
                                          hearth_error *err);

/* The scheme of function ids in a text twin; HEARTH_IDS_HEARTH unless it says otherwise. */
enum hearth_id_scheme hearth_text_profile_scheme(const char *text, size_t size);
/* Text twin of the indexed profile (docs/formats/indexed.md, "Text"). Reading names the line of an error; the lines
 * before that one may have been added. Errors: E_FORMAT, E_VERSION, E_MISMATCH (other function ids), E_FULL,
 * E_NOMEM. */
hearth_status hearth_builder_read_text(hearth_builder *builder, const char *text, size_t size, const char *name,
                                       hearth_error *err);

HEARTH_C_END
#endif
