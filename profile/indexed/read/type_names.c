/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the TYPES section: a binary search by id. */
#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"
#include "reader_internal.h"

uint32_t hearth_profile_type_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_TYPES)->count;
}

hearth_status hearth_profile_get_type(hearth_profile *profile, uint32_t row, uint64_t *ret_id, const char **ret_name,
                                      hearth_error *err) {
  hearth_indexed_type type;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_TYPES, row, &type, sizeof type, "type", err));
  *ret_id = type.id;
  return hearth_profile_get_string(profile, type.name, ret_name, err);
}

static hearth_status read_type_id(hearth_profile *profile, uint32_t row, uint64_t *ret, hearth_error *err) {
  const char *name;
  return hearth_profile_get_type(profile, row, ret, &name, err);
}

hearth_status hearth_profile_type_name(hearth_profile *profile, uint64_t id, const char **ret_name, hearth_error *err) {
  uint32_t count = hearth_profile_type_count(profile), row;
  uint64_t found = 0;
  HEARTH_TRY(hearth_profile_search(profile, read_type_id, 0, count, id, &row, err));
  if (row < count)
    HEARTH_TRY(hearth_profile_get_type(profile, row, &found, ret_name, err));
  if (row == count || found != id)
    *ret_name = "";
  return HEARTH_OK;
}

hearth_status hearth_profile_verify_types(hearth_profile *profile, hearth_error *err) {
  uint64_t previous = 0; /* no type's */
  for (uint32_t i = 0; i < hearth_profile_type_count(profile); i++) {
    const char *name;
    uint64_t id;
    HEARTH_TRY(hearth_profile_get_type(profile, i, &id, &name, err));
    if (id <= previous)
      return hearth_profile_corrupt(profile, err, "its types are not sorted at %u", i);
    if (id != hearth_type_id(name, strlen(name)))
      return hearth_profile_corrupt(profile, err, "the id of type %u is not that of its name", i);
    previous = id;
  }
  return HEARTH_OK;
}
