/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's indexed heap profiles: read, write, put into a profile of -fprofile-use (docs/formats/llvm.md). Words:
 *
 *   container  a file of llvm-profdata's: .profdata, .memprofdata; holds function counters, a MemProf section, or both
 *   section    the MemProf section of a container, version 3 or 4: LLVM's own heap profile
 *   trailer    a whole indexed profile of Hearth behind a container, where LLVM does not see it
 *   GUID       function id of HEARTH_IDS_LLVM
 *
 * `name` is that of the input, for messages. Common errors: E_FORMAT, E_VERSION (names both versions), E_TRUNCATED,
 * E_CORRUPT, E_NOMEM. */
#ifndef HEARTH_LLVM_PROFILE_H
#define HEARTH_LLVM_PROFILE_H

#include "hearth/builder.h"

HEARTH_C_BEGIN

typedef struct hearth_llvm_contents {
  uint32_t container_version;
  bool has_functions;                    /* counters of -fprofile-use */
  uint64_t section_offset;               /* of the MemProf section; 0: none */
  uint64_t trailer_offset, trailer_size; /* of the indexed profile behind the container; both 0: none */
} hearth_llvm_contents;

/* The contents of a container. E_TRUNCATED, too, if a profile of Hearth begins in it and no trailer at the file's end
 * leads there. */
hearth_status hearth_llvm_inspect(const void *data, size_t size, const char *name, hearth_llvm_contents *ret,
                                  hearth_error *err);

/* Data of an input that a profile of Hearth cannot hold; the caller reports it. */
typedef struct hearth_llvm_skipped {
  bool data_accesses; /* of its profile of static data, literals, or all if that is compressed */
  bool columns;       /* none of its allocations has one */
} hearth_llvm_skipped;

/* zlib's decompression: `size` bytes, exactly so many. False: they are damaged. */
typedef bool hearth_llvm_inflate(const void *from, size_t from_size, void *to, size_t size);

/* Add the MemProf section of a container to a builder of HEARTH_IDS_LLVM. Functions have no names, blocks no
 * discriminators; the input counts as one run, at least as long as the longest time it mentions. After an error a
 * part may have been added. `inflate`: for names of static data; NULL: those are skipped. More errors: E_NOT_FOUND
 * (no section), E_FULL. */
hearth_status hearth_llvm_read(const void *data, size_t size, const char *name, hearth_llvm_inflate *inflate,
                               hearth_builder *into, hearth_llvm_skipped *ret, hearth_error *err);

/* Data of a profile that an output cannot hold. */
typedef struct hearth_llvm_losses {
  uint64_t columns;        /* a bit for each column of hearth_mib that says something and has no field */
  uint64_t summed;         /* contexts that only a discriminator or the file of a static function told apart */
  uint64_t cut;            /* values greater than their field: stored as its greatest */
  bool histograms;         /* there are some, which are left out */
  bool partial;            /* accesses that are known of some runs, and not of others, are left out */
  uint64_t taken_for_cold; /* contexts that LLVM will call cold because nothing is known of their accesses */
} hearth_llvm_losses;

/* One line, NUL-terminated, cut to fit `size`; false if there is nothing to tell. */
bool hearth_llvm_describe_losses(const hearth_llvm_losses *losses, char *buffer, size_t size);

#define HEARTH_LLVM_DEFAULT_SECTION 4u

/* A container as bytes that the caller frees.
 *   section  version of the MemProf section that `profile` is written to: 3 or 4; 0: none
 *   base     container that the result begins with, function counters and all, but for a heap profile that it has:
 *            section and trailer are left out; NULL: one with nothing else in it. E_VERSION if it cannot have a section
 *   trailer  an indexed profile of Hearth to follow; NULL: none
 *   ret_losses  may be NULL
 * The section's functions are the profile's by GUID, whatever its own ids: E_MISMATCH if one has Hearth's id and no
 * name. Equal contents are equal bytes. */
typedef struct hearth_llvm_output {
  uint32_t section;
  const void *base, *trailer;
  const char *base_name; /* for messages */
  size_t base_size, trailer_size;
} hearth_llvm_output;
hearth_status hearth_llvm_write_memory(hearth_profile *profile, const hearth_llvm_output *output, void **ret_data,
                                       size_t *ret_size, hearth_llvm_losses *ret_losses, hearth_error *err);

HEARTH_C_END
#endif
